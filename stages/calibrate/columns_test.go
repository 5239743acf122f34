package calibrate

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// Times, decimals, dates in text and missing values survive in the rows that a plan keeps, and the spec says what became of
// every column.
func TestPlanOfColumnsOfEveryKind(t *testing.T) {
	const n = 400
	rows := stagestest.Events(t, stagestest.Regression, n, 302, stagestest.Faults{})
	stamp, decimal := arrow.FixedWidthTypes.Timestamp_ms, &arrow.Decimal128Type{Precision: 9, Scale: 2}
	for name, typ := range map[string]arrow.DataType{"ordered": stamp, "born": arrow.BinaryTypes.String, "price": decimal, "coded": arrow.BinaryTypes.String, "opens": arrow.FixedWidthTypes.Time32s} {
		rows = withColumn(t, rows, name, manyOf(t, typ, n, func(i int) string {
			switch name {
			case "ordered":
				return "2024-0" + string(rune('1'+i%9)) + "-11T1" + string(rune('0'+i%8)) + ":30:00"
			case "born":
				return "19" + string(rune('5'+i%5)) + "7-02-1" + string(rune('0'+i%10))
			case "price":
				return string(rune('1'+i%9)) + ".25"
			case "opens":
				return "0" + string(rune('6'+i%3)) + ":00:00"
			default:
				return strings.Repeat("k", 1+i%70)
			}
		}))
	}
	s := testSettings(stagestest.Regression)
	s.Events.NaN, s.MaxMessageBytes = encoder.NaNMissing, 1<<20
	planned, err := fileOf(s, stagestest.Cut(t, rows, stagestest.Every(60)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]struct {
		kind   encoder.Kind
		dims   int
		cycles []encoder.Cycle
	}{
		"ordered": {encoder.Time, 6, []encoder.Cycle{encoder.Day, encoder.Week}}, "born": {encoder.Time, 6, []encoder.Cycle{encoder.Week, encoder.Year}},
		"price": {encoder.Numeric, 2, nil}, "coded": {encoder.Category, 52, nil}, "opens": {encoder.Clock, 4, []encoder.Cycle{encoder.Day}},
	}
	for _, c := range planned.Spec.Encoder.Columns {
		if w, ok := want[c.Name]; ok && (c.Kind != w.kind || c.Width != w.dims || !c.Missing || !slices.Equal(c.Cycles, w.cycles)) {
			t.Errorf("column %+v, want %+v", c, w)
		}
	}
	if len(planned.Spec.Columns) != int(rows.NumCols()) || planned.Spec.Candidates.Dim != planned.Spec.Encoder.Dim {
		t.Fatalf("columns %+v", planned.Spec.Columns)
	}
	for _, use := range planned.Spec.Columns {
		if w, ok := want[use.Column]; ok && (use.Kind != w.kind || use.Dims != w.dims || use.Missing != 0.1) {
			t.Errorf("use %+v, want %+v", use, w)
		}
	}
	if tight := columnsThatFit(planned.Spec, planned.Spec.Columns, 1000); tight != nil {
		t.Errorf("a report of %d columns in a message of 1000 bytes", len(tight))
	}
}

// manyOf returns an array of n values, every tenth of them null.
func manyOf(t *testing.T, typ arrow.DataType, n int, text func(i int) string) arrow.Array {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	defer b.Release()
	for i := range n {
		if i%10 == 9 {
			b.AppendNull()
		} else if err := b.AppendValueFromString(text(i)); err != nil {
			t.Fatal(err)
		}
	}
	column := b.NewArray()
	t.Cleanup(column.Release)
	return column
}
