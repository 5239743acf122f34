package stages

import (
	"context"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/training"
)

// acrossKit has a model of a feature set that was in use before, and a trainer with the rows of the one in use now.
type acrossKit struct {
	*pipelinetest.Broker
	settings   Settings
	runtime    *Runtime
	before     *wire.FeatureSet
	incumbent  *wire.Model
	trainer    *Trainer
	challenger *wire.Model
	batches    []arrow.Record // of partition 2 of events
}

func newAcrossKit(t *testing.T, task string, f faults) *acrossKit {
	t.Helper()
	k := &acrossKit{Broker: pipelinetest.NewBroker(), settings: testSettings(task)}
	s := k.settings
	k.before = explore(t, s, []arrow.Record{events(t, task, 400, 81, faults{})}).Set
	old := events(t, task, 500, 82, faults{})
	k.incumbent = solve(t, train(t, k.before, trainConfig(), featureMessages(t, k.before, []arrow.Record{old}, 1<<20)))

	s.Exploration.Seed, s.Exploration.Features = 9, 7
	slices.Reverse(s.Events.Classes) // classes have other numbers now
	now := explore(t, s, []arrow.Record{events(t, task, 400, 83, faults{})}).Set
	k.batches = cut(t, events(t, task, 900, 84, f), every(30))
	k.AddTopic(s.Topics.Events, 3)
	for _, batch := range k.batches {
		if _, err := k.Produce(t.Context(), s.Topics.Events, 2, []pipeline.Record{{Value: message(t, batch)}}); err != nil {
			t.Fatal(err)
		}
	}
	k.trainer = train(t, now, trainConfig(), featureMessages(t, now, k.batches, 1<<20))
	k.challenger = solve(t, k.trainer)
	k.runtime = NewRuntime(k.Broker, s, zap.NewNop())
	return k
}

func (k *acrossKit) contest(t *testing.T, most int) (*otherSet, wire.Judgement) {
	t.Helper()
	other, err := newOtherSet(k.runtime, k.trainer, k.incumbent, k.before, k.settings.Limits.decoder())
	if err != nil {
		t.Fatal(err)
	}
	var j wire.Judgement
	if err := k.trainer.contest(&j, k.challenger, k.incumbent, other.rival(t.Context()), most); err != nil {
		t.Fatal(err)
	}
	return other, j
}

// heldOutEvents are the events of the held-out rows that are not skipped, labelled ones alone.
func (k *acrossKit) heldOutEvents(t *testing.T, skip int64) []arrow.Record {
	t.Helper()
	var kept []arrow.Record
	for offset, batch := range k.batches {
		var rows []int32
		for row := range int32(batch.NumRows()) {
			if int64(offset) >= skip && training.HeldOut(1, 2, int64(offset), row, 0.2) {
				rows = append(rows, row)
			}
		}
		part, err := TakeRows(batch, rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(part.Release)
		kept = append(kept, part)
	}
	return kept
}

// The model of the set before is measured on the events that the held-out rows came from, through its own features.
func TestContestAcrossSets(t *testing.T) {
	for _, task := range tasks {
		for _, gone := range []int64{0, 11} {
			k := newAcrossKit(t, task, faults{badFeature: 0.05, noLabel: 0.1})
			k.Expire(k.settings.Topics.Events, 2, gone)
			_, j := k.contest(t, 0)
			judged := *k.incumbent
			judged.Model = k.incumbent.Judged
			want, err := Evaluate(k.before, &judged, k.heldOutEvents(t, gone))
			if err != nil {
				t.Fatal(err)
			}
			if j.Rows != want.Rows || j.Rows < 80 {
				t.Errorf("%s: %d rows, want %d", task, j.Rows, want.Rows)
			}
			near(t, task+": error of the incumbent", *j.IncumbentError, want.Error(), 1e-2)
			ours := *k.challenger
			ours.Model = k.challenger.Judged
			if want, err = Evaluate(k.trainer.set, &ours, k.heldOutEvents(t, gone)); err != nil {
				t.Fatal(err)
			}
			near(t, task+": error of the challenger", *j.ChallengerError, want.Error(), 1e-2)
		}
	}
}

// A second comparison reads nothing that it knows, and at most so many rows are compared.
func TestContestAcrossSetsReadsOnce(t *testing.T) {
	k := newAcrossKit(t, taskRegression, faults{})
	other, j := k.contest(t, 25)
	if j.Rows != 25 {
		t.Errorf("%d rows, want 25", j.Rows)
	}
	read := k.Fetches()
	var again wire.Judgement
	if err := k.trainer.contest(&again, k.challenger, k.incumbent, other.rival(t.Context()), 25); err != nil {
		t.Fatal(err)
	}
	if k.Fetches() != read || *again.IncumbentError != *j.IncumbentError {
		t.Errorf("%d fetches more, error %v and %v", k.Fetches()-read, *again.IncumbentError, *j.IncumbentError)
	}
}

// What the set before refuses, and what is gone, is left out; nothing left is no comparison.
func TestContestAcrossSetsWithoutEvents(t *testing.T) {
	k := newAcrossKit(t, taskRegression, faults{})
	k.Expire(k.settings.Topics.Events, 2, int64(len(k.batches)))
	if _, j := k.contest(t, 0); j.Compared() || j.NotCompared == "" {
		t.Errorf("%+v", j)
	}
}

func TestModelsOfOtherLabelsAreNotComparable(t *testing.T) {
	k := newAcrossKit(t, taskRegression, faults{})
	classes := explore(t, testSettings(taskBinary), []arrow.Record{events(t, taskBinary, 400, 85, faults{})}).Set
	if _, err := newOtherSet(k.runtime, k.trainer, k.incumbent, classes, k.settings.Limits.decoder()); err == nil {
		t.Error("a regression is compared with a classification")
	}
	early := *k.incumbent
	early.Judged = nil
	if _, err := newOtherSet(k.runtime, k.trainer, &early, k.before, k.settings.Limits.decoder()); err == nil {
		t.Error("weights that saw the rows are compared")
	}
}

func TestContestAcrossSetsEndsWithItsContext(t *testing.T) {
	k := newAcrossKit(t, taskRegression, faults{})
	other, err := newOtherSet(k.runtime, k.trainer, k.incumbent, k.before, k.settings.Limits.decoder())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var j wire.Judgement
	if err := k.trainer.contest(&j, k.challenger, k.incumbent, other.rival(ctx), 0); err == nil {
		t.Error("no error")
	}
}
