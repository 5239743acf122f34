package featurize

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/training"
)

// predictFile predicts from batches and returns what is written.
func predictFile(t testing.TB, p *FilePredictor, batches ...arrow.Record) (*collector, meter.FeaturizeCounts) {
	t.Helper()
	schema := p.Schema(batches[0].Schema())
	out := &collector{}
	counts, err := p.Predict(t.Context(), explored.File(batches...), schema, out)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range out.batches {
		if !rec.Schema().Equal(schema) {
			t.Fatalf("schema %v, want %v", rec.Schema(), schema)
		}
	}
	return out, counts
}

// Predictions for a file equal those for the same rows in a stream, with a label or without.
func TestFilesArePredictedAsMessagesAre(t *testing.T) {
	for _, c := range []struct{ task, loss string }{
		{stagestest.Regression, training.LossSquared}, {stagestest.Binary, training.LossSquared},
		{stagestest.Binary, training.LossLogistic}, {stagestest.Classes, training.LossLogistic},
	} {
		t.Run(c.task+", "+c.loss, func(t *testing.T) {
			rows := stagestest.Events(t, c.task, 700, 92, stagestest.Faults{BadFeature: 0.05, NoLabel: 0.1})
			set := setOf(t, c.task, rows)
			model := drawnModel(set, c.loss)
			stream := New(set, testLimits, 1<<20)
			if err := stream.AttachPredictions(set); err != nil {
				t.Fatal(err)
			}
			stream.UseModel(model, "")
			done := process(t, stream, event(t, 3, rows), 0)
			want := stagestest.Decode(t, done.Outputs[0].Value)[0]
			values, classes, probabilities := predictionsOf(t, want)

			p, err := NewFilePredictor(set, model, []string{"id", "absent"})
			if err != nil {
				t.Fatal(err)
			}
			bare := events.WithoutColumns(rows, "y")
			for _, batches := range [][]arrow.Record{stagestest.Cut(t, rows, stagestest.Every(97)), stagestest.Cut(t, bare, stagestest.Every(300))} {
				out, counts := predictFile(t, p, batches...)
				var gotValues, gotProbabilities []float32
				var gotClasses []string
				for _, rec := range out.batches {
					v, cl, pr := predictionsOf(t, rec)
					gotValues, gotClasses, gotProbabilities = append(gotValues, v...), append(gotClasses, cl...), append(gotProbabilities, pr...)
				}
				if !slices.Equal(gotValues, values) || !slices.Equal(gotClasses, classes) || !slices.Equal(gotProbabilities, probabilities) {
					t.Error("predictions are not those of the stream")
				}
				if counts.Rows != 700 || counts.Predicted != want.NumRows() || counts.Rejected != 700-want.NumRows() || counts.Rejected == 0 {
					t.Errorf("%+v of %d rows", counts, want.NumRows())
				}
				checkNumbers(t, out.batches, want)
			}
			if has := p.Schema(rows.Schema()).HasField(wire.ColumnProbabilities); has != (c.loss == training.LossLogistic) {
				t.Errorf("probabilities: %v", has)
			}
		})
	}
}

// checkNumbers checks that the rows have the same numbers as in a message.
func checkNumbers(t *testing.T, batches []arrow.Record, want arrow.Record) {
	t.Helper()
	var numbers []string
	for _, rec := range batches {
		column := rec.Column(rec.Schema().FieldIndices(wire.ColumnRow)[0]).(*array.Int64)
		for _, v := range column.Int64Values() {
			numbers = append(numbers, fmt.Sprint(v))
		}
	}
	column := want.Column(want.Schema().FieldIndices(wire.ColumnRow)[0])
	for i := range column.Len() {
		if numbers[i] != column.ValueStr(i) {
			t.Fatalf("row %d has number %s, want %s", i, numbers[i], column.ValueStr(i))
		}
	}
}

func TestFilePredictorRefusesOtherModelsAndColumns(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Binary, 300, 93, stagestest.Faults{})
	set := setOf(t, stagestest.Binary, rows)
	model := drawnModel(set, training.LossLogistic)
	for _, reserved := range []string{wire.ColumnPrediction, wire.ColumnRow} {
		if _, err := NewFilePredictor(set, model, []string{reserved}); !errors.Is(err, wire.ErrReservedColumn) {
			t.Errorf("column %s: %v", reserved, err)
		}
	}
	p, err := NewFilePredictor(set, model, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(events.WithoutColumns(rows, set.Encoder.Columns[0].Name).Schema()); err == nil {
		t.Error("rows without a feature column pass")
	}
	model.FeatureSetID = "fs-other"
	if _, err := NewFilePredictor(set, model, nil); !errors.Is(err, wire.ErrOtherSet) {
		t.Errorf("model of another set: %v", err)
	}
}
