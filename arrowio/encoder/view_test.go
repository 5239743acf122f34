package encoder

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// vectors returns a vector column of those values.
func vectors(width int, values []float32) arrow.Array {
	b := array.NewFloat32Builder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	data := array.NewData(list(int32(width), f32), len(values)/width, []*memory.Buffer{nil}, []arrow.ArrayData{b.NewArray().Data()}, 0, 0)
	return array.NewFixedSizeListData(data)
}

// viewRecord returns a record of ten rows of three numbers, labelled except row 4, and the encoder of raw rows for it.
func viewRecord(t *testing.T, change func(values []float32)) (*Encoder, arrow.Record, []float32) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	e := foldable(3, 1, r)
	e.Label = &Label{Columns: []string{"y"}, Kind: Numeric, Mean: []float64{0}}
	values := normalRows(e, 10, r)
	if change != nil {
		change(values)
	}
	y := col(t, "y", f64, 1, 2, 3, 4, nil, 6, 7, 8, 9, 10)
	rec := record(t, column{"v", vectors(3, values)}, y)
	return e, rec, rec.Column(0).(*array.FixedSizeList).ListValues().(*array.Float32).Float32Values()
}

// raw returns the raw rows of a record.
func raw(t *testing.T, e *Encoder, rec arrow.Record, take []int32) *Rows {
	t.Helper()
	var rows Rows
	if err := e.EncodeRaw(&rows, rec, take); err != nil {
		t.Fatal(err)
	}
	return &rows
}

func TestRawRowsOfAVectorAreAViewOfTheRecord(t *testing.T) {
	e, rec, values := viewRecord(t, nil)
	rows := raw(t, e, rec, nil)
	if rows.N != 10 || len(rows.X) != 30 || &rows.X[0] != &values[0] {
		t.Errorf("%d rows, X is no view", rows.N)
	}
	slice := rec.NewSlice(3, 8)
	if rows := raw(t, e, slice, nil); rows.N != 5 || &rows.X[0] != &values[9] {
		t.Errorf("%d rows of a slice, X is no view", rows.N)
	}
	encoded := encoded(t, e, rec)
	if &encoded.X[0] == &values[0] {
		t.Error("Encode gave a view")
	}
}

func TestAViewIsNeverWritten(t *testing.T) {
	e, rec, values := viewRecord(t, nil)
	before := slices.Clone(values)
	rows := raw(t, e, rec, nil)
	rows.KeepLabelled()
	want := slices.Concat(before[:12], before[15:])
	if rows.N != 9 || !slices.Equal(rows.X, want) {
		t.Errorf("%d labelled rows %v, want %v", rows.N, rows.X, want)
	}
	// The same Rows are then used for rows that are moved, for others, and for encoded ones.
	faulty, other, _ := viewRecord(t, func(values []float32) { values[4] = float32(math.Inf(1)) })
	e.Label.Max = new(float64)
	steps := []func() error{
		func() error { return e.EncodeRaw(rows, rec, nil) }, // all labels but the null are out of bounds
		func() error { return e.EncodeRaw(rows, rec, []int32{3, 1}) },
		func() error { return faulty.EncodeRaw(rows, other, nil) },
		func() error { return e.Encode(rows, rec, nil) },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(values, before) {
			t.Fatalf("step %d wrote to the record", i)
		}
	}
}

// TestRawRowsAreRejectedByTheirEncodedSize has values around the limit, some beyond the bound that a view is
// scanned for and still usable.
func TestRawRowsAreRejectedByTheirEncodedSize(t *testing.T) {
	values := []float32{9e14, -9e14, 1.1e15, -1.1e15, 2.1e15, 4e14, 3.4e38, -1}
	e := &Encoder{Columns: []Column{{Name: "v", Kind: Vector, Width: 1, Mean: []float64{1}, Scale: []float64{1}}}, Standardize: StandardizeNumeric, Dim: 1}
	rec := record(t, column{"v", vectors(1, values)})
	plain, rows := encoded(t, e, rec), raw(t, e, rec, nil)
	if !slices.Equal(rows.Rejected, plain.Rejected) || len(plain.Rejected) != 4 || !slices.Equal(rows.X, []float32{9e14, -9e14, 4e14, -1}) {
		t.Errorf("raw rows %v, rejected %v, want %v", rows.X, rows.Rejected, plain.Rejected)
	}
	rec = record(t, column{"v", vectors(1, values[:2])})
	if rows := raw(t, e, rec, nil); &rows.X[0] != &rec.Column(0).(*array.FixedSizeList).ListValues().(*array.Float32).Float32Values()[0] {
		t.Error("usable rows beyond the bound of the scan are no view")
	}
}

func TestWithin(t *testing.T) {
	for n := range 40 {
		values := make([]float32, n)
		if !within(values, 5) {
			t.Fatalf("%d zeros are not within 5", n)
		}
		for i := range values {
			for v, want := range map[float32]bool{
				5: false, -5: false, 4.9999995: true, -4.9999995: true, 1e38: false, 1e-40: true,
				float32(math.NaN()): false, float32(math.Inf(1)): false, float32(math.Inf(-1)): false,
				math.Float32frombits(0xffffffff): false, math.Float32frombits(1 << 31): true,
			} {
				values[i] = v
				if got := within(values, 5); got != want {
					t.Fatalf("%v at %d of %d: %v", v, i, n, got)
				}
			}
			values[i] = -1
		}
	}
}
