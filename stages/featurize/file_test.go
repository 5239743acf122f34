package featurize

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
)

// collector is an [events.RowWriter] in memory.
type collector struct{ batches []arrow.Record }

func (c *collector) Write(batch arrow.Record) error {
	batch.Retain()
	c.batches = append(c.batches, batch)
	return nil
}

func TestTransformRows(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 500, 24, stagestest.SomeFaults)
	set := setOf(t, stagestest.Regression, rows)
	schema := OutputSchema(set, rows.Schema())
	var out collector
	counts, err := TransformRows(t.Context(), set, explored.File(stagestest.Cut(t, rows, stagestest.Every(70))...), schema, &out)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Release(out.batches)
	at := 0
	want := stagestest.UsableRows(set, rows)
	for _, batch := range out.batches {
		if !batch.Schema().Equal(schema) {
			t.Fatalf("schema %v, want %v", batch.Schema(), schema)
		}
		numbers := batch.Column(schema.FieldIndices(wire.ColumnRow)[0]).(*array.Int64)
		names := batch.Column(schema.FieldIndices("id")[0]).(*array.String)
		labels := batch.Column(schema.FieldIndices("y")[0]).(*array.Float64)
		z := batch.Column(schema.FieldIndices(wire.ColumnFeatures)[0]).(*array.FixedSizeList)
		m := set.Set.Features.Len()
		values := z.ListValues().(*array.Float32).Float32Values()
		for i := range int(batch.NumRows()) {
			row := int(numbers.Value(i))
			if row != want[at] || names.Value(i) != rows.Column(5).ValueStr(row) || labels.ValueStr(i) != rows.Column(6).ValueStr(row) {
				t.Fatalf("row %d, named %s, labelled %s: want row %d", row, names.Value(i), labels.ValueStr(i), want[at])
			}
			stagestest.CheckFeatures(t, set, rows, row, values[i*m:(i+1)*m])
			at++
		}
	}
	if at != len(want) || counts.Featurized != int64(at) || counts.Rows != 500 || counts.Rejected != int64(500-at) {
		t.Fatalf("%d rows out, counts %+v, want %d", at, counts, len(want))
	}
}
