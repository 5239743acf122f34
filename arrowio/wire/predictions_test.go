package wire

import (
	"bytes"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/training"
)

// reservePredicted encodes the example features with predictions.
func reservePredicted(t *testing.T, memory []byte, p *Predictions) FeaturesBody {
	t.Helper()
	events := exampleEvents()
	defer events.Release()
	rows := []int32{0, 2, 3}
	kept := must(GatherRows([]arrow.Record{SelectColumns(events, []string{"customer", "income"})}, rows))
	defer kept.Release()
	body, err := ReserveFeatures(memory, kept, rows, FeaturesLayout{
		FeatureSet: exampleFeatureSet().ID(), Features: 4, LabelColumns: []string{"income"}, Predictions: p,
	})
	if err != nil {
		t.Fatal(err)
	}
	copy(body.Features, []float32{.1, .2, .3, .4, .5, .6, .7, .8, .9, 1, -1, 0})
	return body
}

// examplePredictions are the example features with the predictions of a classification model.
func examplePredictions(t *testing.T, model *Model) []byte {
	t.Helper()
	body := reservePredicted(
		t,
		nil,
		&Predictions{Model: ModelID(model), Classes: NewClasses(model.Label.Classes), Probabilities: true},
	)
	f := make([]float32, 9)
	model.Model.Predict(f, body.Features, 3)
	for i := range 3 {
		body.Class[i] = training.DecideClass(f[i*3:i*3+3], 3)
		training.Probabilities(body.Probabilities[i*3:i*3+3], f[i*3:i*3+3])
	}
	return body.Value
}

// predicted decodes a message and returns its prediction columns as text.
func predicted(t *testing.T, value []byte) (info FeaturesInfo, prediction, probabilities arrow.Array) {
	t.Helper()
	recs := must(newDecoder().Decode(value))
	rec := recs[0]
	t.Cleanup(rec.Release)
	if rows, z, err := DecodeFeatures(rec, 4); err != nil || !slices.Equal(rows, []int32{0, 2, 3}) || z[9] != 1 {
		t.Fatalf("rows %v, features %v, %v", rows, z, err)
	}
	at := func(name string) arrow.Array {
		if i := rec.Schema().FieldIndices(name); len(i) == 1 && rec.Schema().Field(i[0]).Nullable {
			return rec.Column(i[0])
		}
		return nil
	}
	return must(ParseFeaturesInfo(rec.Schema())), at(ColumnPrediction), at(ColumnProbabilities)
}

func TestPredictionsOfARegression(t *testing.T) {
	for _, k := range []int{1, 2} {
		body := reservePredicted(t, nil, &Predictions{Model: "m-1", Outputs: k})
		for i := range body.Prediction {
			body.Prediction[i] = 1.7e9 + float64(i) + 0.125
		}
		_, prediction, probabilities := predicted(t, body.Value)
		if list, ok := prediction.(*array.FixedSizeList); ok {
			prediction = list.ListValues()
		}
		values, ok := prediction.(*array.Float64)
		if !ok || values.Len() != 3*k || values.Value(3*k-1) != 1.7e9+float64(3*k-1)+0.125 || probabilities != nil {
			t.Errorf("%d outputs: %v", k, prediction)
		}
	}
}

// Without a model the columns are there and null, and the bytes do not depend on what was in
// memory.
func TestPredictionsWithoutAModel(t *testing.T) {
	classes := NewClasses([]string{"high", "low", "mid"})
	for name, p := range map[string]*Predictions{
		"classes":                      {Missing: "no_model", Classes: classes},
		"outputs":                      {Missing: "other_feature_set", Outputs: 2},
		"output":                       {Missing: "other_feature_set", Outputs: 1},
		"a loss without probabilities": {Model: "m-1", Classes: classes},
	} {
		fresh := reservePredicted(t, nil, p)
		used := reservePredicted(t, bytes.Repeat([]byte{0xAA}, 64<<10), p)
		clear(fresh.Class)
		clear(used.Class)
		if !bytes.Equal(fresh.Value, used.Value) {
			t.Errorf("%s: the bytes depend on the memory", name)
		}
		info, prediction, probabilities := predicted(t, fresh.Value)
		if info.Model != p.Model || info.NoPrediction != p.Missing {
			t.Errorf("%s: %+v", name, info)
		}
		if missing := p.Model == ""; (prediction.NullN() == 3) != missing || (prediction.NullN() == 0) == missing {
			t.Errorf("%s: %v", name, prediction)
		}
		if p.Classes != nil && probabilities.NullN() != 3 {
			t.Errorf("%s: probabilities %v", name, probabilities)
		}
	}
}

func TestPredictionsOfNoRows(t *testing.T) {
	events := exampleEvents()
	defer events.Release()
	none := must(GatherRows([]arrow.Record{SelectColumns(events, []string{"income"})}, nil))
	defer none.Release()
	for _, p := range []*Predictions{
		{Outputs: 1},
		{Outputs: 3, Model: "m-1"},
		{Classes: NewClasses([]string{"a", "b"}), Model: "m-1", Probabilities: true},
	} {
		body, err := ReserveFeatures(nil, none, nil, FeaturesLayout{FeatureSet: "fs-1", Features: 4, Predictions: p})
		if err != nil {
			t.Fatal(err)
		}
		releaseAll(must(newDecoder().Decode(body.Value)))
	}
}
