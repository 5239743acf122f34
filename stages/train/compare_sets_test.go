package train

import (
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/topics"
	"github.com/eerf-stream/eerf/training"
)

// acrossKit has a model of the previous feature set, and a trainer with rows of the current one.
type acrossKit struct {
	*pipelinetest.Broker
	before     *wire.FeatureSet
	incumbent  *wire.Model
	trainer    *Trainer
	challenger *wire.Model
	batches    []arrow.Record // of partition 2 of events
}

func newAcrossKit(t *testing.T, task string, f stagestest.Faults) *acrossKit {
	t.Helper()
	k := &acrossKit{Broker: pipelinetest.NewBroker()}
	k.before = featureSet(t, task, stagestest.Events(t, task, 400, 81, stagestest.Faults{}))
	old := stagestest.Events(t, task, 500, 82, stagestest.Faults{})
	k.incumbent = solve(t, train(t, k.before, trainConfig(), featureMessages(t, k.before, []arrow.Record{old}, whole)))

	columns, exploration := explored.Events(task), explored.Exploration()
	exploration.Seed, exploration.Features = 9, 7
	slices.Reverse(columns.Classes) // classes have other numbers now
	now := explored.FeatureSet(t, columns, exploration, stagestest.Events(t, task, 400, 83, stagestest.Faults{}))
	k.batches = stagestest.Cut(t, stagestest.Events(t, task, 900, 84, f), stagestest.Every(30))
	k.AddTopic("events", 3)
	for _, batch := range k.batches {
		if _, err := k.Produce(t.Context(), "events", 2, []pipeline.Record{{Value: stagestest.Message(t, batch)}}); err != nil {
			t.Fatal(err)
		}
	}
	k.trainer = train(t, now, trainConfig(), featureMessages(t, now, k.batches, whole))
	k.challenger = solve(t, k.trainer)
	return k
}

// opponent is what predicts with a model of a set.
func (k *acrossKit) opponent(model *wire.Model, set *wire.FeatureSet) (opponent, error) {
	r := Runner{Broker: k.Broker, Logger: zap.NewNop(), Topics: topics.Config{Events: "events"}, trainer: k.trainer}
	return r.newOpponent(model, set)
}

func (k *acrossKit) compare(t *testing.T, most int) (opponent, wire.Judgement) {
	t.Helper()
	other, err := k.opponent(k.incumbent, k.before)
	if err != nil {
		t.Fatal(err)
	}
	var j wire.Judgement
	if err := k.trainer.compare(t.Context(), &j, k.challenger, k.incumbent, other, most); err != nil {
		t.Fatal(err)
	}
	return other, j
}

// heldOutEvents are the events of the labelled held-out rows that are not skipped.
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
		part, err := events.TakeRows(batch, rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(part.Release)
		kept = append(kept, part)
	}
	return kept
}

// The model of the previous set is measured on the events of the held-out rows, with its own features.
func TestCompareAcrossSets(t *testing.T) {
	for _, task := range stagestest.Tasks {
		for _, gone := range []int64{0, 11} {
			k := newAcrossKit(t, task, stagestest.Faults{BadFeature: 0.05, NoLabel: 0.1})
			k.Expire("events", 2, gone)
			_, j := k.compare(t, 0)
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

// A second comparison reads nothing again, and the number of compared rows is bounded.
func TestCompareAcrossSetsReadsOnce(t *testing.T) {
	k := newAcrossKit(t, stagestest.Regression, stagestest.Faults{})
	other, j := k.compare(t, 25)
	if j.Rows != 25 {
		t.Errorf("%d rows, want 25", j.Rows)
	}
	read := k.Fetches()
	var again wire.Judgement
	if err := k.trainer.compare(t.Context(), &again, k.challenger, k.incumbent, other, 25); err != nil {
		t.Fatal(err)
	}
	if k.Fetches() != read || *again.IncumbentError != *j.IncumbentError {
		t.Errorf("%d fetches more, error %v and %v", k.Fetches()-read, *again.IncumbentError, *j.IncumbentError)
	}
}

func TestModelsOfOtherLabelsAreNotComparable(t *testing.T) {
	k := newAcrossKit(t, stagestest.Regression, stagestest.Faults{})
	classes := featureSet(t, stagestest.Binary, stagestest.Events(t, stagestest.Binary, 400, 85, stagestest.Faults{}))
	if _, err := k.opponent(k.incumbent, classes); err == nil {
		t.Error("a regression is compared with a classification")
	}
	early := *k.incumbent
	early.Judged = nil
	if _, err := k.opponent(&early, k.before); err == nil {
		t.Error("weights that saw the rows are compared")
	}
}
