package stages_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
)

// trainer is a train runner that makes one model at a time.
func (f *flow) trainer() (*stages.TrainRunner, *stages.Counters) {
	f.t.Helper()
	r := stages.NewRuntime(f.client, f.settings, testLogger(f.t))
	r.Watch = f.watch
	return stages.NewTrainRunner(r), r.Counters
}

func (f *flow) fit(r *stages.TrainRunner) *wire.Model {
	f.t.Helper()
	return f.challenge(r).Model
}

// challenge makes a model and says what became of it.
func (f *flow) challenge(r *stages.TrainRunner) *stages.Fitted {
	f.t.Helper()
	fitted, err := r.Fit(f.ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	return fitted
}

// currentModel is what the models topic points to, nil for none.
func (f *flow) currentModel() *wire.Model {
	f.t.Helper()
	newest := f.newestByKey(f.settings.Topics.Models, 0)
	pointer, ok := newest["flow/current"]
	if !ok {
		return nil
	}
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	current, err := wire.DecodeCurrent(decoder, pointer.Value)
	if err != nil {
		f.t.Fatal(err)
	}
	rec := newest["flow/"+current.ID]
	if rec.Value == nil {
		f.t.Fatalf("model %s is current and not there", current.ID)
	}
	model, err := wire.DecodeModel(decoder, rec.Value)
	if err != nil {
		f.t.Fatal(err)
	}
	return model
}

func rangeRows(m *wire.Model) (rows int64) {
	for _, r := range m.Ranges {
		rows += r.Rows
	}
	return rows
}

func TestFlowModelsFollowTheFeatures(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, func(s *stages.Settings) {
		s.Exploration.SampleRows, s.Train.MinRows = 200, 300
	})
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000, int64(p)*10_000+400)
	}
	w := f.start(stages.Stages(), nil)
	first := f.set(1)
	trained := func(set string, rows int64) *wire.Model {
		t.Helper()
		var model *wire.Model
		f.until("model", func() bool {
			model = f.currentModel()
			return model != nil && model.FeatureSetID == set && model.TrainRows+model.HeldOutRows >= rows
		})
		return model
	}
	// TrainRows counts all rows, or those beside the held-out ones: the ranges say what was used.
	model := trained(first.ID, 800)
	if rangeRows(model) != 800 || len(model.Ranges) != 2 || model.Ranges[1].NextOffset != 20 {
		t.Errorf("model of %d rows from %+v", rangeRows(model), model.Ranges)
	}
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000+400, int64(p)*10_000+600)
	}
	f.until("retrained", func() bool { return rangeRows(f.currentModel()) == 1200 })
	old := f.currentModel()
	if old.ID == model.ID || old.FeatureSetID != first.ID {
		t.Errorf("retrained to %s of %s", old.ID, old.FeatureSetID)
	}
	w.stop()

	// A new set starts new sums; the old model stays until they have enough rows.
	f.settings.Exploration.Seed = 5
	w = f.start(allButTrain, nil)
	second := f.set(2)
	f.until("the worker has seen the second set", func() bool {
		current := w.Watch.State().Current
		return current != nil && current.Sequence == 2
	})
	f.sendRows(0, 600, 700)
	f.featurizedUpTo(0, 35)
	runner, counters := f.trainer()
	if _, err := runner.Fit(f.ctx); !errors.Is(err, stages.ErrTooFewRows) || counters.Totals().Train.Rows != 100 {
		t.Errorf("fit to %d rows: %v", counters.Totals().Train.Rows, err)
	}
	if stays := f.currentModel(); stays.ID != old.ID {
		t.Errorf("model %s of %d rows took the place of %s", stays.ID, rangeRows(stays), old.ID)
	}
	f.sendRows(1, 10_600, 10_900)
	f.featurizedUpTo(1, 45)
	w.stop()
	if model := f.fit(runner); model.FeatureSetID != second.ID || rangeRows(model) != 400 || f.currentModel().ID != model.ID {
		t.Errorf("model %s of set %s with %d rows", model.ID, model.FeatureSetID, rangeRows(model))
	}
	if c := counters.Totals().Train; c.Rows != 400 || c.OtherSet != 60 || c.Duplicate != 0 || c.Undecodable != 0 {
		t.Errorf("%+v", c)
	}

	// After a crash the sums are the same, bit for bit.
	again, _ := f.trainer()
	if a, b := f.fit(again), f.currentModel(); a.ID != b.ID {
		t.Errorf("from the topic %s, before %s", a.ID, b.ID)
	}
	if _, err := again.Fit(f.ctx); !errors.Is(err, stages.ErrNoNewRows) {
		t.Errorf("trained again on the same rows: %v", err)
	}
}

func TestFlowTrainingDropsDuplicates(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, smallParts)
	events := rows(0, 600, nil)
	defer events.Release()
	f.send(0, events, 30)
	w := f.start(allButTrain, nil)
	f.featurizedUpTo(0, 20)
	w.stop()
	runner, _ := f.trainer()
	want := f.fit(runner)

	// An owner that lost the partition writes what it still had in hand: whole messages, and the end of the last one.
	out := f.all(f.settings.Topics.Features, 0)
	f.produce(f.settings.Topics.Features, 0, out[len(out)/2:]...)
	f.produce(f.settings.Topics.Features, 0, out[len(out)-1])
	// The last message once more, cut another way.
	core := stages.NewFeaturizer(f.watch.State().CurrentSet().Set, arrowio.DefaultLimits(), 1<<20)
	source := f.all(f.settings.Topics.Events, 0)[19]
	parts := outputs(t, core, source, 7)
	if len(parts) != 1 {
		t.Fatalf("%d parts", len(parts))
	}
	f.produce(f.settings.Topics.Features, 0, parts[0])

	runner, counters := f.trainer()
	got := f.fit(runner)
	if got.ID != want.ID || rangeRows(got) != 600 {
		t.Errorf("model %s of %d rows, without duplicates %s", got.ID, rangeRows(got), want.ID)
	}
	var repeated int64
	for _, part := range f.features(0)[len(out):] {
		repeated += int64(len(part.rows))
	}
	if c := counters.Totals().Train; c.Duplicate != repeated || c.Rows != 600 {
		t.Errorf("%+v, %d rows were written again", c, repeated)
	}
}

func TestFlowFeaturesThatCannotBeTrainedOn(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, smallParts)
	f.sendRows(0, 0, 600)
	w := f.start(allButTrain, nil)
	f.featurizedUpTo(0, 30)
	w.stop()
	topic := f.settings.Topics.Features
	last := f.all(topic, 0)
	broken := last[len(last)-1]
	broken.Value = broken.Value[:len(broken.Value)/2]
	at := f.produce(topic, 0, broken, pipeline.Record{Value: []byte("what?")})
	f.sendRows(0, 600, 620)
	f.start([]string{stages.StageFeaturize}, nil)
	f.featurizedUpTo(0, 31)
	runner, counters := f.trainer()
	if model := f.fit(runner); rangeRows(model) != 620 {
		t.Errorf("model of %d rows", rangeRows(model))
	}
	if c := counters.Totals().Train; c.Undecodable != 2 || c.Rows != 620 {
		t.Errorf("%+v", c)
	}
	letters := f.letters(0, stages.StageTrain)
	if len(letters) != 2 || letters[0].Offset != at || letters[0].Topic != topic || letters[0].Reason != "truncated" ||
		!slices.Equal(letters[0].record.Value, broken.Value) || letters[1].Offset != at+1 || letters[1].Reason != "bad_headers" {
		t.Errorf("%d letters: %+v, %+v", len(letters), letters[0].DeadLetter, letters[1].DeadLetter)
	}
}

func TestFlowOldModelsAreRetired(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		retention time.Duration
		left      int
	}{{"by number", time.Millisecond, 2}, {"never too young", time.Hour, 4}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, 1, func(s *stages.Settings) {
				s.Exploration.SampleRows, s.Topics.KeepModels = 100, 2
				s.Train.Promote.Rule = stages.PromoteAlways
			})
			f.settings.Topics.FeaturesRetention = c.retention // of the models; the topic keeps its features
			f.sendRows(0, 0, 300)
			f.start(allButTrain, nil)
			f.featurizedUpTo(0, 15)
			runner, _ := f.trainer()
			var last *wire.Model
			for i := range int64(4) {
				last = f.fit(runner)
				if i == 1 {
					runner, _ = f.trainer() // the next one knows the models from the topic
				}
				f.sendRows(0, 300+i*100, 400+i*100)
				f.featurizedUpTo(0, 20+i*5)
			}
			left := 0
			for key, rec := range f.newestByKey(f.settings.Topics.Models, 0) {
				if key != "flow/current" && rec.Value != nil {
					left++
				}
			}
			if left != c.left || f.currentModel().ID != last.ID {
				t.Errorf("%d models left, want %d", left, c.left)
			}
		})
	}
}
