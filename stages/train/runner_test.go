package train

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/state"
)

// A model is trained at every interval in which rows arrived. The report of the stage ends with the
// stage.
func TestRunTrainsAtEveryInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newFlow(t, 2)
		r := k.runner(k.Broker)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		made := func() int { // waits for work in progress
			synctest.Wait()
			return len(k.models().Entries())
		}
		if n := made(); n != 0 {
			t.Errorf("%d models without rows", n)
		}
		k.sendRows(0, 0, 200)
		k.sendRows(1, 200, 400)
		if n := made(); n != 0 {
			t.Errorf("%d models before the interval has passed", n)
		}
		for _, want := range []int{1, 1} { // no rows arrive for the second
			time.Sleep(r.Config.Interval)
			if n := made(); n != want {
				t.Errorf("%d models, want %d", n, want)
			}
		}
		k.sendRows(0, 400, 600)
		time.Sleep(r.Config.Interval)
		if n := made(); n != 2 {
			t.Errorf("%d models after more rows", n)
		}
		if now := k.meter.Activity(); now.Model == nil || now.Model.ID != k.inUse().ID ||
			len(k.meter.Partitions(stagestest.Noon)) != 2 {
			t.Errorf("activity %+v", now)
		}
		stop()
		if err := <-done; err != nil || k.meter.Activity().Model != nil || len(k.meter.Partitions(stagestest.Noon)) != 0 {
			t.Errorf("%v, activity %+v", err, k.meter.Activity())
		}
	})
}

// While a model is wrong, the next ones are trained sooner, but later less often.
func TestPauseWhileTheModelIsWrong(t *testing.T) {
	c := Default()
	now := stagestest.Noon
	if got := c.Pause(live.Report{State: live.Well}); got != c.Interval {
		t.Errorf("%v while all is well", got)
	}
	for since, want := range map[time.Duration]time.Duration{
		0: 10 * time.Second, time.Minute: 10 * time.Second, 5 * time.Minute: 30 * time.Second, 24 * time.Hour: time.Minute,
	} {
		r := live.Report{State: live.Wrong, WrongSince: now.Add(-since), Short: &live.Figures{To: now}}
		if got := c.Pause(r); got != want {
			t.Errorf("%v after %v", got, since)
		}
	}
}

// A permanent error ends the stage.
func TestRunEndsWithAPermanentError(t *testing.T) {
	k := newFlow(t, 1)
	k.config.Loss = "logistic" // of a regression
	if err := k.runner(k.Broker).Run(t.Context()); !pipeline.IsPermanent(err) {
		t.Errorf("error %v", err)
	}
}

// A new set needs new sums. The old model stays current until they have enough rows.
func TestFitFollowsTheCurrentSet(t *testing.T) {
	k := newFlow(t, 2)
	k.config.MinRows = 300
	k.sendRows(0, 0, 400)
	k.sendRows(1, 400, 800)
	old := k.fit(k.runner(k.Broker))
	if rangeRows(old.Model) != 800 || len(old.Ranges) != 2 || old.Ranges[1].NextOffset != 20 || !old.Current {
		t.Errorf("model of %d rows from %+v", rangeRows(old.Model), old.Ranges)
	}
	k.use(2, 5)
	k.sendRows(0, 800, 900)
	r := k.runner(k.Broker)
	if _, err := r.Fit(t.Context()); !errors.Is(err, ErrTooFewRows) || k.meter.Totals().Train.Rows != 100 ||
		k.inUse().ID != old.ID {
		t.Errorf("fit to %d rows: %v; in use %+v", k.meter.Totals().Train.Rows, err, k.inUse())
	}
	k.sendRows(1, 900, 1200)
	model := k.fit(r)
	if model.FeatureSetID != k.set.ID() || model.FeatureSetID == old.FeatureSetID || rangeRows(model.Model) != 400 ||
		k.inUse().ID != model.ID {
		t.Errorf("model %s of set %s with %d rows", model.ID, model.FeatureSetID, rangeRows(model.Model))
	}
	if j := model.Judgement; j.IncumbentSet != old.FeatureSetID || j.Verdict != wire.VerdictNewSet || j.Compared() {
		t.Errorf("%+v", j)
	}
	if c := k.meter.Totals().Train; c.Rows != 400 || c.OtherSet != 40 || c.Duplicate != 0 || c.Undecodable != 0 {
		t.Errorf("%+v", c)
	}

	// After a crash the sums have the same bits.
	again := k.runner(k.Broker)
	if same := k.fit(again); same.ID != model.ID || !same.Unchanged {
		t.Errorf("from the topic %s, before %s", same.ID, model.ID)
	}
	if _, err := again.Fit(t.Context()); !errors.Is(err, ErrNoNewRows) {
		t.Errorf("trained again on the same rows: %v", err)
	}
}

// An unusable message becomes a dead letter with its original contents. The log has one line for
// all.
func TestFitSendsUnusableMessagesToDeadLetters(t *testing.T) {
	k := newFlow(t, 1)
	k.sendRows(0, 0, 600)
	topic := k.topics.Features
	all := k.Records(topic, 0)
	broken := all[len(all)-1]
	broken.Value = broken.Value[:len(broken.Value)/2]
	at := k.produce(topic, 0, broken, pipeline.Record{Value: []byte("what?")})
	k.sendRows(0, 600, 620)
	core, logs := observer.New(zap.ErrorLevel)
	k.logger = zap.New(core)
	if m := k.fit(k.runner(k.Broker)); rangeRows(m.Model) != 620 {
		t.Errorf("model of %d rows", rangeRows(m.Model))
	}
	if lines := logs.All(); len(lines) != 1 || lines[0].ContextMap()["messages"] != int64(2) ||
		lines[0].ContextMap()["first_error"] == "" {
		t.Errorf("logged %v", lines)
	}
	if c := k.meter.Totals().Train; c.Undecodable != 2 || c.Rows != 620 {
		t.Errorf("%+v", c)
	}
	deadLetters := k.Records(k.topics.DeadLetters, 0)
	if len(deadLetters) != 2 || !slices.Equal(deadLetters[0].Value, broken.Value) {
		t.Fatalf("%d dead letters", len(deadLetters))
	}
	for i, reason := range []string{"truncated", "bad_headers"} {
		deadLetter, err := wire.ParseDeadLetterHeaders(deadLetters[i].Headers)
		if err != nil || deadLetter.Offset != at+int64(i) || deadLetter.Topic != topic || deadLetter.Reason != reason ||
			deadLetter.Stage != string(meter.StageTrain) {
			t.Errorf("%+v, %v", deadLetter, err)
		}
	}
	if n := k.meter.Activity().DeadLetters[meter.Cause{Stage: meter.StageTrain, Reason: "truncated"}]; n != 1 {
		t.Errorf("%d counted", n)
	}
}

// A set of more outputs than a process has memory for is refused before its features are read.
func TestSetOfTooManyOutputsIsRefused(t *testing.T) {
	set := featureSet(t, stagestest.Classes, stagestest.Events(t, stagestest.Classes, 400, 41, stagestest.Faults{}))
	r := &Runner{MaxOutputs: set.Encoder.Outputs() - 1}
	err := r.catchUp(t.Context(), &state.Set{ID: set.ID(), Set: set})
	if err == nil || !strings.Contains(err.Error(), "events.max_classes") {
		t.Error(err)
	}
}
