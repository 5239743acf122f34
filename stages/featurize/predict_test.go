package featurize

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/training"
)

// predicting returns a set, a model on it with random weights, and events to predict from.
func predicting(t testing.TB, task, loss, transform string) (*wire.FeatureSet, *wire.Model, arrow.Record) {
	t.Helper()
	rows := stagestest.Events(t, task, 700, 91, stagestest.Faults{BadFeature: 0.05, NoLabel: 0.1})
	config := explored.Events(task)
	config.LabelTransform = transform
	set := explored.FeatureSet(t, config, explored.Exploration(), rows)
	return set, drawnModel(set, loss), rows
}

// drawnModel is a model of a set with random weights.
func drawnModel(set *wire.FeatureSet, loss string) *wire.Model {
	m, k := set.Set.Features.Len(), set.Encoder.Outputs()
	weights := &training.Model{
		Features:  m,
		Outputs:   k,
		Theta:     make([]float64, m*k),
		Intercept: make([]float64, k),
		Loss:      loss,
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range weights.Theta {
		weights.Theta[i] = 10 * rng.NormFloat64()
	}
	for i := range weights.Intercept {
		weights.Intercept[i] = 0.1 * rng.NormFloat64()
	}
	return &wire.Model{ID: "m-1", FeatureSetID: set.ID(), Label: set.Encoder.Label, Model: weights}
}

// predictionsOf reads the prediction columns of a message, classes as text.
func predictionsOf(t testing.TB, rec arrow.Record) (values []float64, classes []string, probabilities []float32) {
	t.Helper()
	at := func(name string) arrow.Array {
		if found := rec.Schema().FieldIndices(name); len(found) == 1 {
			return rec.Column(found[0])
		}
		return nil
	}
	switch column := at(wire.ColumnPrediction).(type) {
	case *array.Float64:
		values = column.Float64Values()
	case *array.Dictionary:
		for i := range column.Len() {
			if column.IsValid(i) {
				classes = append(classes, column.Dictionary().(*array.String).Value(column.GetValueIndex(i)))
			}
		}
	default:
		t.Fatalf("predictions are %v", column)
	}
	if lists, ok := at(wire.ColumnProbabilities).(*array.FixedSizeList); ok && lists.NullN() == 0 {
		probabilities = lists.ListValues().(*array.Float32).Float32Values()
	}
	return values, classes, probabilities
}

// The predictions in a message are the model's for the features next to them, in units of the
// label, for any cutting of the message.
func TestPredictionsAreThoseOfTheModel(t *testing.T) {
	for _, c := range []struct {
		task, loss, transform string
	}{
		{stagestest.Regression, training.LossSquared, encoder.TransformNone},
		{stagestest.Regression, training.LossSquared, encoder.TransformLog1p},
		{stagestest.Binary, training.LossSquared, encoder.TransformNone},
		{stagestest.Classes, training.LossSquared, encoder.TransformNone},
		{stagestest.Binary, training.LossLogistic, encoder.TransformNone},
		{stagestest.Classes, training.LossLogistic, encoder.TransformNone},
	} {
		set, model, rows := predicting(t, c.task, c.loss, c.transform)
		for _, maxBytes := range []int64{1 << 20, 9000, 500} {
			f := newCore(t, set, maxBytes, withPredictions)
			f.UseModel(model, "")
			done := process(t, f, event(t, 3, rows), 0)
			n := int64(0)
			for _, out := range done.Outputs {
				rec := stagestest.Decode(t, out.Value)[0]
				_, z, err := wire.DecodeFeatures(rec, 10)
				if err != nil {
					t.Fatal(err)
				}
				if stagestest.Header(t, out, wire.HeaderModel) != model.ID {
					t.Fatalf("headers %v", out.Headers)
				}
				if int64(len(out.Value)) > maxBytes && rec.NumRows() > 1 {
					t.Errorf("%d rows take %d bytes, want at most %d", rec.NumRows(), len(out.Value), maxBytes)
				}
				checkPredictions(t, rec, model, z)
				n += rec.NumRows()
			}
			if n != done.Counts.Predicted || n != done.Counts.Featurized || n == 0 {
				t.Errorf("%s: %d rows, counts %+v", c.task, n, done.Counts)
			}
		}
	}
}

func checkPredictions(t *testing.T, rec arrow.Record, model *wire.Model, z []float32) {
	t.Helper()
	n, k := int(rec.NumRows()), model.Model.Outputs
	values, classes, probabilities := predictionsOf(t, rec)
	if model.Label.Classes == nil {
		want := make([]float64, n*k)
		model.Model.PredictValues(want, z, n)
		if model.Label.Transform == encoder.TransformLog1p {
			for i, v := range want {
				want[i] = math.Expm1(v)
			}
		}
		if !slices.Equal(values, want) {
			t.Errorf("predictions %v, the model predicts %v", values[:3], want[:3])
		}
		return
	}
	f := make([]float32, n*k)
	model.Model.Predict(f, z, n)
	c := len(model.Label.Classes)
	if logistic := model.Model.Loss == training.LossLogistic; n > 0 && (len(probabilities) == n*c) != logistic {
		t.Errorf("%d probabilities of %d rows with loss %s", len(probabilities), n, model.Model.Loss)
	}
	for i := range n {
		if want := model.Label.Classes[training.DecideClass(f[i*k:(i+1)*k], k)]; classes[i] != want {
			t.Errorf("row %d: %s, the model says %s", i, classes[i], want)
		}
		if probabilities == nil {
			continue
		}
		row, sum := probabilities[i*c:(i+1)*c], 0.0
		for _, p := range row {
			sum += float64(p)
		}
		if likely := model.Label.Classes[slices.Index(row, slices.Max(row))]; math.Abs(sum-1) > 1e-5 || likely != classes[i] {
			t.Errorf("row %d: probabilities %v, class %s", i, row, classes[i])
		}
	}
}

func TestRowsWithoutAModelAreCounted(t *testing.T) {
	set, model, rows := predicting(t, stagestest.Binary, training.LossSquared, encoder.TransformNone)
	other, broken := *model, *model
	other.FeatureSetID = "fs-0"
	weights := *model.Model
	weights.Features = 3
	broken.Model = &weights
	for name, c := range map[string]struct {
		model   *wire.Model
		missing string
		want    string
		count   func(meter.FeaturizeCounts) int64
	}{
		"none": {nil, missingModel, missingModel, func(c meter.FeaturizeCounts) int64 { return c.NoModel }},
		"of another set": {
			&other,
			"",
			missingOtherSet,
			func(c meter.FeaturizeCounts) int64 { return c.OtherSetModel },
		},
		"of another shape": {
			&broken,
			"",
			missingUnreadable,
			func(c meter.FeaturizeCounts) int64 { return c.UnusableModel },
		},
		"that cannot be read": {
			nil,
			missingUnreadable,
			missingUnreadable,
			func(c meter.FeaturizeCounts) int64 { return c.UnusableModel },
		},
		"that was there before": {model, "", "", func(c meter.FeaturizeCounts) int64 { return c.Predicted }},
	} {
		f := newCore(t, set, 1<<20, withPredictions)
		f.UseModel(model, "")
		f.UseModel(c.model, c.missing)
		done := process(t, f, event(t, 3, rows), 0)
		info, err := wire.ParseFeaturesInfo(stagestest.Decode(t, done.Outputs[0].Value)[0].Schema())
		if err != nil || info.NoPrediction != c.want || (info.Model == "") != (c.want != "") ||
			stagestest.Header(t, done.Outputs[0], wire.HeaderModel) != info.Model {
			t.Errorf("a model %s: %+v, %v", name, info, err)
		}
		if n := done.Counts; c.count(n) != n.Featurized ||
			n.Predicted+n.NoModel+n.OtherSetModel+n.UnusableModel != n.Featurized {
			t.Errorf("a model %s: counts %+v", name, n)
		}
	}
}

func TestSetsWithoutPossiblePredictions(t *testing.T) {
	set, _, _ := predicting(t, stagestest.Regression, training.LossSquared, encoder.TransformNone)
	unlabelled, taken := *set, *set
	enc := *set.Encoder
	enc.Label = nil
	unlabelled.Encoder = &enc
	named := *set.Encoder
	named.Passthrough = []string{wire.ColumnPrediction}
	taken.Encoder = &named
	for name, set := range map[string]*wire.FeatureSet{"no label": &unlabelled, "a column of that name": &taken} {
		_, err := New(set, Settings{Source: events.Source{Limits: testLimits}, MaxOutputBytes: 1 << 20, Predictions: true})
		if err == nil || !pipeline.IsPermanent(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A threshold needs probabilities of two classes: in the set at once, in a model when it is paired.
func TestThresholdNeedsProbabilitiesOfTwoClasses(t *testing.T) {
	for _, c := range []struct {
		task, loss       string
		ofSet, withModel bool // possible
	}{
		{stagestest.Regression, training.LossSquared, false, false},
		{stagestest.Classes, training.LossLogistic, false, false},
		{stagestest.Binary, training.LossSquared, true, false},
		{stagestest.Binary, training.LossLogistic, true, true},
	} {
		set, model, _ := predicting(t, c.task, c.loss, encoder.TransformNone)
		settings := Settings{
			Source:         events.Source{Limits: testLimits},
			MaxOutputBytes: 1 << 20,
			Predictions:    true,
			Threshold:      0.3,
		}
		_, err := New(set, settings)
		if (err == nil) != c.ofSet || err != nil && !pipeline.IsPermanent(err) {
			t.Errorf("%s: %v", c.task, err)
		}
		if _, err := stagestest.Must(NewPair(set, model)).At(0.3); (err == nil) != c.withModel {
			t.Errorf("%s with loss %s: %v", c.task, c.loss, err)
		}
	}
}

// A model on the topic may lack its label; the threshold still needs its probabilities.
func TestThresholdNeedsProbabilitiesOfModelsWithoutLabel(t *testing.T) {
	for loss, possible := range map[string]bool{training.LossSquared: false, training.LossLogistic: true} {
		model := &wire.Model{Model: &training.Model{Loss: loss}}
		if err := newModelLoader(nil, zap.NewNop(), true, 0.3).check(model); (err == nil) != possible {
			t.Errorf("loss %s: %v", loss, err)
		}
		if err := newModelLoader(nil, zap.NewNop(), false, 0.3).check(model); err != nil {
			t.Errorf("loss %s, not published: %v", loss, err)
		}
	}
}
