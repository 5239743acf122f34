package featurize

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/training"
)

// collector is an [events.RowWriter] in memory.
type collector struct{ batches []arrow.Record }

func (c *collector) Write(batch arrow.Record) error {
	batch.Retain()
	c.batches = append(c.batches, batch)
	return nil
}

// mapFile maps batches and returns the written ones.
func mapFile(t testing.TB, m *FileMapper, batches ...arrow.Record) (*collector, meter.FeaturizeCounts) {
	t.Helper()
	schema := m.Schema(batches[0].Schema())
	out := &collector{}
	counts, err := m.Map(t.Context(), explored.File(batches...), schema, out)
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

func TestFilesAreMappedToFeatures(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 500, 24, stagestest.SomeFaults)
	set := setOf(t, stagestest.Regression, rows)
	mapper, err := NewFileTransformer(set)
	if err != nil {
		t.Fatal(err)
	}
	schema := mapper.Schema(rows.Schema())
	out, counts := mapFile(t, mapper, stagestest.Cut(t, rows, stagestest.Every(70))...)
	defer events.Release(out.batches)
	at := 0
	want := stagestest.UsableRows(set, rows)
	for _, batch := range out.batches {
		numbers := batch.Column(schema.FieldIndices(wire.ColumnRow)[0]).(*array.Int64)
		names := batch.Column(schema.FieldIndices("id")[0]).(*array.String)
		labels := batch.Column(schema.FieldIndices("y")[0]).(*array.Float64)
		z := batch.Column(schema.FieldIndices(wire.ColumnFeatures)[0]).(*array.FixedSizeList)
		m := set.Set.Features.Len()
		values := z.ListValues().(*array.Float32).Float32Values()
		for i := range int(batch.NumRows()) {
			row := int(numbers.Value(i))
			if row != want[at] || names.Value(i) != rows.Column(5).ValueStr(row) ||
				labels.ValueStr(i) != rows.Column(6).ValueStr(row) {
				t.Fatalf("row %d, named %s, labelled %s: want row %d", row, names.Value(i), labels.ValueStr(i), want[at])
			}
			stagestest.CheckFeatures(t, set, rows, row, values[i*m:(i+1)*m])
			at++
		}
	}
	if at != len(want) || counts.Featurized != int64(at) || counts.Rows != 500 || counts.Rejected != int64(500-at) {
		t.Fatalf("%d rows out, counts %+v, want %d", at, counts, len(want))
	}
	isRejection := func(note string) bool { return strings.Contains(note, "and their rows are left out; the first is ") }
	if n := mapper.Notes; len(mapper.Warnings) > 0 || len(n) != 2 || !isRejection(n[0]) || !isRejection(n[1]) {
		t.Errorf("warnings %q, notes %q, want notes on rejected rows", mapper.Warnings, mapper.Notes)
	}
	columns := slices.Clone(rows.Columns())
	columns[0] = array.NewNull(500)
	fields := slices.Clone(rows.Schema().Fields())
	fields[0].Type = arrow.Null
	empty, _ := mapFile(t, mapper, array.NewRecord(arrow.NewSchema(fields, nil), columns, 500))
	defer events.Release(empty.batches)
	const lacking = "a: missing and imputed in 100 % of the rows, missing in"
	if len(mapper.Warnings) != 1 || !strings.HasPrefix(mapper.Warnings[0], lacking) {
		t.Errorf("warnings %q", mapper.Warnings)
	}
	// One null is little, but there was none before.
	rows = stagestest.Events(t, stagestest.Regression, 500, 24, stagestest.Faults{})
	if mapper, err = NewFileTransformer(setOf(t, stagestest.Regression, rows)); err != nil {
		t.Fatal(err)
	}
	columns = slices.Clone(rows.Columns())
	one := array.NewFloat64Builder(memory.DefaultAllocator)
	one.AppendValues(rows.Column(0).(*array.Float64).Float64Values(),
		slices.Concat([]bool{false}, slices.Repeat([]bool{true}, 499)))
	columns[0] = one.NewArray()
	some, _ := mapFile(t, mapper, array.NewRecord(rows.Schema(), columns, 500))
	defer events.Release(some.batches)
	if len(mapper.Notes) != 1 || !strings.HasPrefix(mapper.Notes[0], "a: missing and imputed in 1 of ") {
		t.Errorf("notes %q", mapper.Notes)
	}
}

// Predictions for a file equal those for the same rows in a stream, with a label or without.
func TestFilesAndMessagesHaveEqualPredictions(t *testing.T) {
	for _, c := range []struct{ task, loss string }{
		{stagestest.Regression, training.LossSquared}, {stagestest.Binary, training.LossSquared},
		{stagestest.Binary, training.LossLogistic}, {stagestest.Classes, training.LossLogistic},
	} {
		t.Run(c.task+", "+c.loss, func(t *testing.T) {
			rows := stagestest.Events(t, c.task, 700, 92, stagestest.Faults{BadFeature: 0.05, NoLabel: 0.1})
			set := setOf(t, c.task, rows)
			model := drawnModel(set, c.loss)
			stream := newCore(t, set, 1<<20, withPredictions)
			stream.UseModel(model, "")
			done := process(t, stream, event(t, 3, rows), 0)
			want := stagestest.Decode(t, done.Outputs[0].Value)[0]
			values, classes, probabilities := predictionsOf(t, want)

			p, err := NewFilePredictor(stagestest.Must(NewPair(set, model)), []string{"id", "absent"})
			if err != nil {
				t.Fatal(err)
			}
			bare := events.WithoutColumns(rows, "y")
			for _, batches := range [][]arrow.Record{
				stagestest.Cut(t, rows, stagestest.Every(97)),
				stagestest.Cut(t, bare, stagestest.Every(300)),
			} {
				out, counts := mapFile(t, p, batches...)
				var gotValues []float64
				var gotProbabilities []float32
				var gotClasses []string
				for _, rec := range out.batches {
					v, cl, pr := predictionsOf(t, rec)
					gotValues = append(gotValues, v...)
					gotClasses = append(gotClasses, cl...)
					gotProbabilities = append(gotProbabilities, pr...)
				}
				if !slices.Equal(gotValues, values) || !slices.Equal(gotClasses, classes) ||
					!slices.Equal(gotProbabilities, probabilities) {
					t.Error("predictions are not those of the stream")
				}
				if counts.Rows != 700 || counts.Predicted != want.NumRows() || counts.Rejected != 700-want.NumRows() ||
					counts.Rejected == 0 {
					t.Errorf("%+v of %d rows", counts, want.NumRows())
				}
			}
			if has := p.Schema(rows.Schema()).HasField(wire.ColumnProbabilities); has != (c.loss == training.LossLogistic) {
				t.Errorf("probabilities: %v", has)
			}
		})
	}
}

func TestFilePredictorRefusesOtherModelsAndColumns(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Binary, 300, 93, stagestest.Faults{})
	set := setOf(t, stagestest.Binary, rows)
	model := drawnModel(set, training.LossLogistic)
	pair := stagestest.Must(NewPair(set, model))
	for _, reserved := range []string{wire.ColumnPrediction, wire.ColumnRow} {
		if _, err := NewFilePredictor(pair, []string{reserved}); !errors.Is(err, wire.ErrReservedColumn) {
			t.Errorf("column %s: %v", reserved, err)
		}
	}
	p, err := NewFilePredictor(pair, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(events.WithoutColumns(rows, set.Encoder.Columns[0].Name).Schema()); err == nil {
		t.Error("rows without a feature column pass")
	}
	model.FeatureSetID = "fs-other"
	if _, err := NewPair(set, model); !errors.Is(err, wire.ErrOtherSet) {
		t.Errorf("model of another set: %v", err)
	}
}
