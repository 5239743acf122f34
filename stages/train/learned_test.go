package train

import (
	"reflect"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/training"
)

const (
	learnedEvents = 40 // events that the frequencies are learned from
	rowsOfEvent   = 20
)

// learnedSet returns a set with frequencies learned from the first events of partition 2, and the
// messages of features of all events.
func learnedSet(t testing.TB, task string, most int) (*wire.FeatureSet, []pipeline.Record) {
	t.Helper()
	set, messages := setBy(t, scoring.Adaptive, task, most)
	if !set.Lineage.Learned() {
		t.Fatalf("nothing was learned: %+v", set.Lineage.Learning)
	}
	return set, messages
}

// setBy returns a set explored by a criterion on the first events of partition 2, and the messages
// of features of all events.
func setBy(t testing.TB, criterion scoring.Criterion, task string, most int) (*wire.FeatureSet, []pipeline.Record) {
	t.Helper()
	rows := stagestest.Events(t, task, 3000, 81, stagestest.Faults{BadFeature: 0.02, NoLabel: 0.05})
	batches := stagestest.Cut(t, rows, stagestest.Every(rowsOfEvent))
	c := explored.Exploration()
	c.Criterion, c.RefineSteps, c.SampleRate = criterion, 8, 0.75
	set := explored.FeatureSet(t, explored.Events(task), c, batches[:learnedEvents]...)
	set.Lineage.Partitions[0].Partition = 2
	return set, featureMessages(t, set, batches, most)
}

// offsetsBelow returns the messages of features of events before an offset.
func offsetsBelow(t testing.TB, messages []pipeline.Record, offset string) []pipeline.Record {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(messages), func(r pipeline.Record) bool {
		have := stagestest.Header(t, r, "eerf-source-offset")
		return len(have) > len(offset) || len(have) == len(offset) && have >= offset
	})
}

// Once enough other rows are held out, rows of events from which the features were learned or
// chosen are fitted on, regardless of their hash.
func TestHeldOutRowsComeFromEventsThatTaughtNothing(t *testing.T) {
	for i, task := range stagestest.Tasks {
		criterion := []scoring.Criterion{scoring.Adaptive, scoring.Correlation}[i%2]
		t.Run(task+" by "+criterion.String(), func(t *testing.T) {
			set, messages := setBy(t, criterion, task, whole)
			config := trainConfig()
			config.LambdaGrid, config.Forget = "0.0001,0.001,0.01,0.1", false
			fit, held := split(trainingRows(t, set, config, messages),
				func(r trainingRow) bool { return r.held && r.offset >= learnedEvents })
			model := solve(t, train(t, set, config, messages))
			if want := []wire.Span{{Partition: 2, NextOffset: learnedEvents}}; !slices.Equal(model.NotHeldOut, want) ||
				model.Metrics.Seen != nil {
				t.Errorf("not held out %+v, seen %+v", model.NotHeldOut, model.Metrics.Seen)
			}
			checkModel(t, set, config, model, fit, held, 0)
		})
	}
}

// With few other rows, held-out rows come from all events, and the model reports roughly how many
// were seen.
func TestModelReportsHeldOutRowsThatTaughtTheSet(t *testing.T) {
	for _, loss := range []string{training.LossSquared, training.LossLogistic} {
		set, messages := learnedSet(t, stagestest.Binary, whole)
		config := trainConfig()
		config.Loss = loss
		for _, c := range []struct {
			until string // offset
			seen  bool
		}{{"40", true}, {"60", true}, {"150", false}} {
			some := offsetsBelow(t, messages, c.until)
			inRanges, heldOut := int64(0), int64(0)
			for _, r := range trainingRows(t, set, config, some) {
				switch {
				case r.held && r.offset < learnedEvents:
					inRanges++
				case r.held:
					heldOut++
				}
			}
			var want *wire.SeenRows
			if c.seen {
				want = &wire.SeenRows{InRanges: inRanges, Share: float64(inRanges) / float64(inRanges+heldOut) * 0.75}
				heldOut += inRanges
			}
			model := solve(t, train(t, set, config, some))
			if none := want != nil && want.Share > 0.5; (model.Metrics.MeasuredRows == 0) != none ||
				(model.Metrics.Misclassification == nil) != none {
				t.Errorf("%s, events below %s: errors on %d rows, none are expected: %t", loss, c.until,
					model.Metrics.MeasuredRows, none)
			}
			if !reflect.DeepEqual(model.Metrics.Seen, want) || model.HeldOutRows != heldOut ||
				(len(model.NotHeldOut) == 0) != c.seen {
				t.Errorf("%s, events below %s: seen %+v of %d, not held out %+v; want %+v of %d",
					loss, c.until, model.Metrics.Seen, model.HeldOutRows, model.NotHeldOut, want, heldOut)
			}
		}
	}
}

// The held-out rows do not depend on how rows are cut into messages.
func TestLearnedModelsDoNotDependOnMessages(t *testing.T) {
	want := ""
	for _, most := range []int{whole, 7} {
		set, messages := learnedSet(t, stagestest.Classes, most)
		trainer := train(t, set, trainConfig(), messages[:len(messages)/3])
		solve(t, trainer) // of a part: with the rows that were seen
		for _, r := range slices.Concat(messages[:20], messages[len(messages)/3:]) {
			if err := trainer.Partition(2).Add(r); err != nil {
				t.Fatal(err)
			}
		}
		model := solve(t, trainer)
		if want == "" {
			want = model.ID
		}
		if model.ID != want || len(model.NotHeldOut) == 0 {
			t.Errorf("%d rows a message: %s, want %s; not held out %+v", most, model.ID, want, model.NotHeldOut)
		}
	}
}

// A challenger fitted to the other events is compared with an incumbent fitted to all, on rows new
// to both.
func TestCompareOnRowsNewToBothModels(t *testing.T) {
	set, messages := learnedSet(t, stagestest.Regression, whole)
	config := trainConfig()
	incumbent := solve(t, train(t, set, config, offsetsBelow(t, messages, "50")))
	trainer := train(t, set, config, messages)
	challenger := solve(t, trainer)
	if incumbent.Metrics.Seen == nil || len(challenger.NotHeldOut) == 0 {
		t.Fatalf("seen %+v, not held out %+v", incumbent.Metrics.Seen, challenger.NotHeldOut)
	}
	_, held := split(trainingRows(t, set, config, messages),
		func(r trainingRow) bool { return r.held && r.offset >= learnedEvents })
	for name, c := range map[string][2]*wire.Model{
		"against one of all":        {challenger, incumbent},
		"against one of the others": {incumbent, challenger},
	} {
		var j wire.Judgement
		if err := trainer.compare(&j, c[0], c[1]); err != nil || !j.Compared() {
			t.Fatalf("%s: %+v, %v", name, j, err)
		}
		have := j.ChallengerError
		if c[1] == challenger {
			have = j.IncumbentError
		}
		near(t, name, *have, naiveError(held, set.Task, codedModel(set, challenger.Judged)), 1e-3)
		if j.Rows != int64(len(held)) || len(held) < 100 {
			t.Errorf("%s: %d rows, want %d", name, j.Rows, len(held))
		}
	}
}
