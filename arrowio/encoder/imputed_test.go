package encoder

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

// What was imputed is counted by each Rows for itself, though all that use an encoder share its
// tables.
func TestTakeImputedCountsSinceTheLastCall(t *testing.T) {
	var none, a, b Rows
	if rows, found := none.TakeImputed(); rows != 0 || found != nil {
		t.Errorf("before the first row: %d, %v", rows, found)
	}
	e := &Encoder{Dim: 1, NaN: NaNMissing, Columns: []Column{{Name: "x", Kind: Numeric, Width: 1, Mean: []float64{1}}}}
	rec := record(t, col(t, "x", arrow.PrimitiveTypes.Float64, 1, nil, nil))
	for _, rows := range []*Rows{&a, &b, &a} {
		if err := e.Encode(rows, rec, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []struct {
		rows    *Rows
		n, miss int64
	}{{&a, 6, 4}, {&b, 3, 2}, {&a, 0, 0}} {
		n, found := want.rows.TakeImputed()
		if n != want.n || len(found) != 1 || found[0] != (ImputedValues{"x", want.n, want.miss}) {
			t.Errorf("%d rows, %v, want %d with %d imputed", n, found, want.n, want.miss)
		}
	}
}
