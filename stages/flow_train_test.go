package stages_test

import (
	"errors"
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/train"
)

// trainer makes one model at a time.
func (f *flow) trainer() (*train.Runner, *meter.Meter) {
	f.t.Helper()
	p := f.process(f.client)
	return p.Trainer(), p.Meter
}

func (f *flow) fit(r *train.Runner) *wire.Model {
	f.t.Helper()
	return f.challenge(r).Model
}

// challenge makes a model and returns its outcome.
func (f *flow) challenge(r *train.Runner) *train.Fitted {
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
		s.Train.Promote.Rule = train.PromoteAlways // a model of the first few rows may beat that of all by chance
	})
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000, int64(p)*10_000+400)
	}
	w := f.start(meter.Stages(), nil)
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
	// TrainRows counts all rows, or those not held out: the ranges say what was used.
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

	// A new set needs new sums; the old model stays until they have enough rows.
	f.settings.Exploration.Seed = 5
	w = f.start(allButTrain, nil)
	second := f.set(2)
	f.until("the worker has seen the second set", func() bool {
		current := w.State.Snapshot().Current
		return current != nil && current.Sequence == 2
	})
	f.sendRows(0, 600, 700)
	f.featurizedUpTo(0, 35)
	runner, counters := f.trainer()
	if _, err := runner.Fit(f.ctx); !errors.Is(err, train.ErrTooFewRows) || counters.Totals().Train.Rows != 100 {
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
	if _, err := again.Fit(f.ctx); !errors.Is(err, train.ErrNoNewRows) {
		t.Errorf("trained again on the same rows: %v", err)
	}
}
