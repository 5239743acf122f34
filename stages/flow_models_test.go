package stages_test

import (
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/train"
)

// models is the current state of the models topic.
func (f *flow) models() state.Models {
	f.t.Helper()
	now, err := f.follower.CatchUpModels(f.ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	return now.Models
}

func (f *flow) rollback(to string, pin wire.Pin) {
	f.t.Helper()
	f.models()
	if _, err := f.follower.Rollback(f.ctx, state.Rollback{To: to, Pin: pin, Time: time.Now()}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *flow) unpin() {
	f.t.Helper()
	f.models()
	if _, _, err := f.follower.Unpin(f.ctx, "", time.Now()); err != nil {
		f.t.Fatal(err)
	}
}

// more sends rows to partition 0 and waits for their features.
func (f *flow) more(first, next int64) {
	f.t.Helper()
	f.sendRows(0, first, next)
	f.featurizedUpTo(0, next/20)
}

// predicted is what a message of features says about predictions.
type predicted struct {
	featurized
	model, missing string
	values         []float32
	nulls          int
}

// predictions reads the features of partition 0 with their predictions, and compares those with the models.
func (f *flow) predictions() (found []predicted) {
	f.t.Helper()
	models := f.models()
	for _, m := range f.features(0) {
		batches, err := arrowio.NewDecoder(arrowio.DefaultLimits()).Decode(m.record.Value)
		if err != nil {
			f.t.Fatal(err)
		}
		rec := batches[0]
		info, err := wire.ParseFeaturesInfo(rec.Schema())
		if err != nil {
			f.t.Fatal(err)
		}
		column := rec.Column(rec.Schema().FieldIndices(wire.ColumnPrediction)[0]).(*array.Float32)
		p := predicted{featurized: m, model: info.Model, missing: info.NoPrediction, values: slices.Clone(column.Float32Values()), nulls: column.NullN()}
		header := ""
		for _, h := range m.record.Headers {
			if h.Key == wire.HeaderModel {
				header = string(h.Value)
			}
		}
		if header != p.model || (p.nulls == 0) != (p.model != "") || (p.missing == "") != (p.model != "") {
			f.t.Errorf("offset %d: header %q, %+v", m.record.Offset, header, info)
		}
		if p.model != "" {
			entry, err := models.Find(p.model)
			if err != nil {
				f.t.Fatal(err)
			}
			model, err := f.follower.LoadModel(f.ctx, entry)
			if err != nil || model.FeatureSetID != m.FeatureSetID {
				f.t.Fatalf("predicted by %s of %s on %s, %v", p.model, model.FeatureSetID, m.FeatureSetID, err)
			}
			_, z, _ := wire.DecodeFeatures(rec, model.Model.Features)
			want := make([]float32, len(p.values))
			model.Model.Predict(want, z, len(want))
			if !slices.Equal(p.values, want) {
				f.t.Errorf("offset %d: predictions %v, the model says %v", m.record.Offset, p.values, want)
			}
		}
		rec.Release()
		found = append(found, p)
	}
	return found
}

// The featurizer predicts with the model in use, switches when the pointer moves, and names the model in each
// message.
func TestFlowPredictions(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) {
		s.Exploration.SampleRows, s.Featurize.Predictions, s.Train.Promote.Rule = 100, true, train.PromoteAlways
	})
	f.sendRows(0, 0, 400)
	w := f.start(allButTrain, nil)
	f.featurizedUpTo(0, 20)
	next := int64(400)
	// send rows until the newest message is as expected
	until := func(what string, ok func(predicted) bool) predicted {
		t.Helper()
		var last predicted
		f.until(what, func() bool {
			f.sendRows(0, next, next+20)
			next += 20
			f.featurizedUpTo(0, next/20)
			all := f.predictions()
			last = all[len(all)-1]
			return ok(last)
		})
		return last
	}
	if p := f.predictions(); p[0].missing != "no_model" || p[0].nulls != 20 {
		t.Errorf("before there is a model: %+v", p[0])
	}
	runner, _ := f.trainer()
	first := f.fit(runner)
	until("predictions by the first model", func(p predicted) bool { return p.model == first.ID })
	second := f.fit(runner)
	until("predictions by the second model", func(p predicted) bool { return p.model == second.ID })
	f.rollback(first.ID, wire.PinHold)
	until("predictions by the first one again", func(p predicted) bool { return p.model == first.ID })

	// A new feature set has no model at first; a restart in between recovers the state.
	w.stop()
	f.settings.Exploration.Seed = 7
	w = f.start(allButTrain, nil)
	set := f.set(2)
	until("rows of the new set", func(p predicted) bool { return p.FeatureSetID == set.ID && p.missing == "other_feature_set" })
	f.unpin()
	for range 4 { // enough rows for the new set
		f.more(next, next+20)
		next += 20
	}
	third := f.challenge(runner)
	if third.Judgement.IncumbentSet != first.FeatureSetID || !third.Judgement.Compared() {
		t.Errorf("%+v", third.Judgement)
	}
	until("predictions by a model of the new set", func(p predicted) bool { return p.model == third.ID })

	var counts meter.FeaturizeCounts
	for _, p := range f.predictions() {
		n := int64(len(p.values))
		switch p.missing {
		case "":
			counts.Predicted += n
		case "no_model":
			counts.NoModel += n
		default:
			counts.OtherSetModel += n
		}
	}
	f.until("the newest rows are counted", func() bool { return w.Meter.Totals().Featurize.Predicted > 0 })
	if c := w.Meter.Totals().Featurize; c.OtherSetModel != counts.OtherSetModel || c.NoModel != 0 || counts.NoModel < 400 ||
		c.Predicted+c.OtherSetModel != c.Featurized {
		t.Errorf("counts %+v, on the topic %+v", c, counts)
	}
}
