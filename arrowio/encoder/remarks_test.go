package encoder

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// Of any number of remarks those on the first rows are kept, and the names of all columns.
func TestRemarksAreBounded(t *testing.T) {
	const columns, rows = 40, 5000
	e := &Encoder{Dim: columns}
	var fields []arrow.Field
	var nulls []arrow.Array
	for i := range columns {
		e.Columns = append(e.Columns, Column{Name: fmt.Sprint(i), Kind: Numeric, Width: 1, Missing: i > 0})
		fields, nulls = append(
			fields,
			arrow.Field{Name: fmt.Sprint(i), Type: arrow.Null, Nullable: true},
		), append(nulls, array.NewNull(rows))
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), nulls, rows)
	defer rec.Release()
	var r Remarks
	for first := range 3 {
		r.Add(e, rec, first*rows)
	}
	if n := cap(r.Imputed.Remarks); len(r.Imputed.Remarks) != mostRemarks || n > 4*mostRemarks ||
		len(r.Imputed.Columns) != columns {
		t.Errorf("%d remarks, room for %d, on %d columns", len(r.Imputed.Remarks), n, len(r.Imputed.Columns))
	}
	for i, got := range r.Imputed.Remarks {
		if want := (Remark{Row: i / columns, Column: fmt.Sprint(i % columns)}); got != want {
			t.Fatalf("remark %d: %+v, want %+v", i, got, want)
		}
	}
	if u := r.Unexpected; len(u.Remarks) != mostRemarks || u.Remarks[3] != (Remark{Row: 3, Column: "0"}) ||
		len(r.Unseen.Remarks) != 0 {
		t.Errorf("unexpected %+v, unseen %+v", u, r.Unseen)
	}
}
