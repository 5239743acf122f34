package train

import (
	"context"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// If the topic is truncated or recreated while a trainer runs, the sums of the partition restart
// from its first offset, and the sums of the others stay.
func TestTrainerRereadsRecreatedFeatures(t *testing.T) {
	for name, c := range map[string]struct {
		kept  int   // remaining messages of partition 0
		again int64 // rows that partition 0 then gets
	}{
		"recreated, with fewer rows":     {0, 100},
		"recreated, with as many rows":   {0, 400},
		"recreated, and empty":           {0, 0},
		"the last messages are lost":     {12, 0},
		"the last messages are replaced": {12, 100},
	} {
		t.Run(name, func(t *testing.T) {
			k := newFlow(t, 2)
			core, logs := observer.New(zapcore.WarnLevel)
			k.logger = zap.New(core)
			r := k.runner(k.Broker)
			k.sendRows(0, 0, 400)
			k.sendRows(1, 0, 200)
			before := k.fit(r)
			k.LoseEnd(k.topics.Features, 0, int64(c.kept))
			k.sendFeatures(0, 5000, 5000+c.again, 100) // of later events
			got := k.fit(r)
			want := int64(200) + int64(c.kept)*rowsPerEvent + c.again
			if rangeRows(got.Model) != want || got.ID == before.ID ||
				logs.FilterMessageSnippet("summing the partition from its first").Len() != 1 {
				t.Errorf("model %s of %d rows %+v, want %d; logged %v", got.ID, rangeRows(got.Model), got.Ranges, want, logs.All())
			}
			fresh := k.runner(k.Broker)
			if again := k.fit(fresh); again.ID != got.ID {
				t.Errorf("a new trainer finds %s of %d rows", again.ID, rangeRows(again.Model))
			}
			for _, status := range k.meter.Partitions(stagestest.Noon) {
				if status.LagMessages() != 0 || status.EndOffset != int64(len(k.Records(k.topics.Features, status.Partition))) {
					t.Errorf("position %+v", status)
				}
			}
		})
	}
}

// A restart frees the memory of the rows of the logistic loss.
func TestResetReleasesRowMemory(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Binary, 100, 50, stagestest.Faults{})
	set := featureSet(t, stagestest.Binary, stagestest.Events(t, stagestest.Binary, 400, 51, stagestest.Faults{}))
	config := logisticConfig()
	config.RowMemory = 100 * (4*int64(set.Set.Features.Len()+1) + 1)
	messages := featureMessages(t, set, []arrow.Record{rows}, whole)
	trainer := train(t, set, config, messages)
	want := solve(t, trainer)
	trainer.Partition(2).lane.reset()
	if trainer.Rows() != 0 || trainer.keptBytes() != 0 {
		t.Errorf("%d rows in %d bytes", trainer.Rows(), trainer.keptBytes())
	}
	if err := trainer.Partition(2).Add(messages[0]); err != nil {
		t.Fatal(err)
	}
	if got := solve(t, trainer); got.ID != want.ID || trainer.Counts().Rows != 200 {
		t.Errorf("model %s, before %s; counts %+v", got.ID, want.ID, trainer.Counts())
	}
}

// Skipped messages of features are logged as errors, and the rest is read.
func TestGapsInFeaturesAreSkipped(t *testing.T) {
	k := newFlow(t, 1)
	core, logs := observer.New(zapcore.ErrorLevel)
	k.logger = zap.New(core)
	k.sendRows(0, 0, 400)
	k.Oversize(k.topics.Features, 0, 3, 5)
	if m := k.fit(k.runner(k.Broker)); rangeRows(m.Model) != 400-2*rowsPerEvent ||
		logs.FilterMessage("features topic has a gap; skipping it").Len() != 1 {
		t.Errorf("%d rows, logged %v", rangeRows(m.Model), logs.All())
	}
	if c := k.meter.Totals().Train; c.Duplicate != 0 || c.Rows != 360 {
		t.Errorf("%+v", c)
	}
}

// After a failed read, reading continues after the rows that were added.
func TestReadingResumesAfterAFailure(t *testing.T) {
	k := newFlow(t, 1)
	k.sendRows(0, 0, 4000) // several fetches
	log := &pipelinetest.Between{Broker: k.Broker}
	fetches := 0
	log.OnFetch = func(_ context.Context, topic string, _ int, _ int64) error {
		fetches++
		if topic == k.topics.Features && fetches == 2 {
			return errFault
		}
		return nil
	}
	r := k.runner(log)
	if _, err := r.Fit(t.Context()); err == nil {
		t.Fatal("no error")
	}
	if m := k.fit(r); rangeRows(m.Model) != 4000 {
		t.Errorf("%d rows", rangeRows(m.Model))
	}
	if c := k.meter.Totals().Train; c.Duplicate != 0 || c.Rows != 4000 {
		t.Errorf("%+v", c)
	}
	if statuses := k.meter.Partitions(stagestest.Noon.Add(time.Hour)); len(statuses) != 1 ||
		statuses[0].Stage != meter.StageTrain || statuses[0].Rows != 4000 {
		t.Errorf("%+v", statuses)
	}
}
