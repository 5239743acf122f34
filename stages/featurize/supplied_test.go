package featurize

import (
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/training"
)

// withColumn returns the rows with a column "said": null in every fifth row, another value than the
// label in every third, and the label in the others.
func withColumn(t *testing.T, rows arrow.Record) arrow.Record {
	t.Helper()
	label := rows.Column(int(rows.NumCols()) - 1)
	b := array.NewBuilder(memory.DefaultAllocator, label.DataType())
	defer b.Release()
	for i := range label.Len() {
		switch labels := label.(type) {
		case *array.Float64:
			b.(*array.Float64Builder).Append(labels.Value(i) + 2*float64(stagestest.Bit(i%3 == 0)))
		case *array.String:
			said := labels.Value(i)
			if i%3 == 0 {
				said = map[string]string{
					"no":    "yes",
					"yes":   "no",
					"east":  "west",
					"west":  "east",
					"north": "south",
					"south": "north",
				}[said]
			}
			b.(*array.StringBuilder).Append(said)
		}
	}
	said := b.NewArray()
	defer said.Release()
	gaps := array.NewBuilder(memory.DefaultAllocator, label.DataType())
	defer gaps.Release()
	for i := range label.Len() {
		if i%5 == 0 {
			gaps.AppendNull()
		} else if err := gaps.AppendValueFromString(said.ValueStr(i)); err != nil {
			t.Fatal(err)
		}
	}
	column := gaps.NewArray()
	defer column.Release()
	schema := arrow.NewSchema(append(slices.Clone(rows.Schema().Fields()),
		arrow.Field{Name: "said", Type: label.DataType(), Nullable: true}), nil)
	more := array.NewRecord(schema, append(slices.Clone(rows.Columns()), column), rows.NumRows())
	t.Cleanup(more.Release)
	return more
}

// liveOf merges the live sums of a message.
func liveOf(t *testing.T, f *Featurizer, rows arrow.Record) *wire.LiveSums {
	t.Helper()
	var all *wire.LiveSums
	err := f.Process(event(t, 3, rows), 0, stagestest.Noon, func(part Part) error {
		switch {
		case part.Live != nil && all == nil:
			all = part.Live
		case part.Live != nil:
			all.Merge(part.Live)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Supplied predictions are compared with the labels, independently of the model. Rows with both
// count.
func TestSuppliedPredictions(t *testing.T) {
	for _, c := range []struct{ task, loss, transform, measure string }{
		{stagestest.Regression, training.LossSquared, encoder.TransformLog1p, wire.LiveSquaredError},
		{stagestest.Binary, training.LossLogistic, encoder.TransformNone, wire.LiveMisclassification},
		{stagestest.Classes, training.LossLogistic, encoder.TransformNone, wire.LiveMisclassification},
	} {
		set, model, rows := predicting(t, c.task, c.loss, c.transform)
		f := newCore(t, set, 4000, comparing("said")) // so small that all rows are compared
		f.UseModel(model, "")
		got := liveOf(t, f, withColumn(t, rows))
		var usable encoder.Rows
		if err := set.Encoder.Encode(&usable, rows, nil); err != nil {
			t.Fatal(err)
		}
		compared, wrong := int64(0), int64(0)
		for i, row := range usable.Row {
			if usable.Labelled[i] && row%5 != 0 {
				compared++
				wrong += int64(stagestest.Bit(row%3 == 0))
			}
		}
		if got.Rows != compared || got.Column != "said" || got.Measure != c.measure || got.Model != model.ID {
			t.Fatalf("%s: %+v, want %d rows", c.task, got, compared)
		}
		if c.task == stagestest.Regression {
			if off := got.Outputs[0].AbsoluteResidual - 2*float64(wrong); math.Abs(off) > 1e-3*float64(wrong) {
				t.Errorf("%+v, want %d residuals of 2", got.Outputs, wrong)
			}
		} else if got.Wrong != wrong || got.Loss != float64(wrong) || got.Scores[0] != nil {
			t.Errorf("%s: %+v, want %d wrong", c.task, got, wrong)
		}
	}
}

// Without the column, and with an unusable one, nothing is compared and every row is mapped.
func TestRowsWithoutSuppliedPredictions(t *testing.T) {
	set, model, rows := predicting(t, stagestest.Regression, training.LossSquared, encoder.TransformNone)
	for column, fault := range map[string]bool{"missing": false, "color": true} {
		f := newCore(t, set, 4000, comparing(column))
		f.UseModel(model, "")
		if got := liveOf(t, f, rows); got != nil || (f.predictor.supplied.fault != nil) != fault {
			t.Errorf("%s: compared %+v, fault %v", column, got, f.predictor.supplied.fault)
		}
		if done := process(t, f, event(t, 3, rows), 0); done.Counts.Featurized == 0 || done.Counts.Rows != rows.NumRows() {
			t.Errorf("%s: counts %+v", column, done.Counts)
		}
	}
}

// withTexts returns the rows with a column "said" of texts; empty ones are null.
func withTexts(t *testing.T, rows arrow.Record, said func(row int, label string) string) arrow.Record {
	t.Helper()
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	label := rows.Column(int(rows.NumCols()) - 1)
	for i := range label.Len() {
		if text := said(i, label.ValueStr(i)); text == "" {
			b.AppendNull()
		} else {
			b.Append(text)
		}
	}
	column := b.NewArray()
	defer column.Release()
	schema := arrow.NewSchema(append(slices.Clone(rows.Schema().Fields()),
		arrow.Field{Name: "said", Type: column.DataType(), Nullable: true}), nil)
	more := array.NewRecord(schema, append(slices.Clone(rows.Columns()), column), rows.NumRows())
	t.Cleanup(more.Release)
	return more
}

// Rows of a class that the feature set does not know are errors, and so are supplied predictions of
// such a class. If both are unknown, the row does not count: the two may be equal.
func TestUnknownClassesAreErrors(t *testing.T) {
	set, model, _ := predicting(t, stagestest.Classes, training.LossLogistic, encoder.TransformNone)
	known := set.Encoder.Label.Classes
	rows := stagestest.Events(t, stagestest.Classes, 1000, 5, stagestest.Faults{UnseenClass: 0.3})
	said := func(row int, _ string) string { return []string{known[0], "elsewhere", ""}[row%3] }
	rows = withTexts(t, rows, said)
	var usable encoder.Rows
	if err := set.Encoder.Encode(&usable, rows, nil); err != nil {
		t.Fatal(err)
	}
	var labelled, unknown, withPrediction, wrong, unknownWithPrediction, foreign int64
	for i, row := range usable.Row {
		labelled += int64(stagestest.Bit(usable.Labelled[i]))
		unknown += int64(stagestest.Bit(usable.Unseen[i]))
		switch row % 3 {
		case 0:
			withPrediction += int64(stagestest.Bit(usable.Labelled[i]))
			wrong += int64(stagestest.Bit(usable.Labelled[i] && usable.Targets.Class[i] != 0))
			unknownWithPrediction += int64(stagestest.Bit(usable.Unseen[i]))
		case 1:
			foreign += int64(stagestest.Bit(usable.Labelled[i]))
		}
	}
	if unknown < 200 || foreign < 100 || unknownWithPrediction < 50 {
		t.Fatalf("%d rows of unknown classes, %d of them with a prediction, and %d unknown predictions",
			unknown, unknownWithPrediction, foreign)
	}
	f := newCore(t, set, 4000)
	f.UseModel(model, "")
	if got := liveOf(t, f, rows); got.Rows != labelled+unknown || got.Unknown != unknown || got.Validate() != nil {
		t.Errorf("of the model: %+v, want %d rows, %d of unknown classes", got, labelled+unknown, unknown)
	}
	f = newCore(t, set, 4000, comparing("said"))
	f.UseModel(model, "")
	got := liveOf(t, f, rows)
	if got.Rows != withPrediction+foreign+unknownWithPrediction || got.Unknown != unknownWithPrediction ||
		got.Wrong != wrong+foreign+unknownWithPrediction || got.Validate() != nil {
		t.Errorf("supplied: %+v", got)
	}
}
