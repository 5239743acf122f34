package encoder

import (
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/scoring"
)

func TestTalliesNameValuesThatAreNotUsedAsTheyAre(t *testing.T) {
	inf := math.Inf(1)
	e := &Encoder{
		Dim: 5, NaN: NaNMissing, Standardize: StandardizeNone,
		Columns: []Column{
			{Name: "ratio", Kind: Numeric, Width: 1, Mean: []float64{1}},
			{Name: "city", Kind: Category, Width: 3, Categories: []string{"Oslo", "Rome"}, Other: true},
			{Name: "price", Kind: Numeric, Form: Form{Text: true}, Width: 1, Mean: []float64{1}},
		},
		Label: &Label{Columns: []string{"y"}, Kind: Category, Task: scoring.Binary, Classes: []string{"no", "yes"}},
	}
	if err := e.Validate(); err != nil {
		t.Fatal(err)
	}
	first := record(t, col(t, "ratio", f64, 1, 2, 3), col(t, "city", text, "Oslo", "Rome", " Oslo"),
		col(t, "price", text, "1", "2", "n/a"), col(t, "y", text, "no", "yes", nil))
	second := record(t, col(t, "ratio", f64, 1, inf, -inf), col(t, "city", dict, "Bern", "NA", "Genf"),
		col(t, "price", text, "1", "on request", nil), col(t, "y", text, "maybe", "yes", "no"))
	var rows Rows
	for i, rec := range []arrow.Record{first, second} {
		if err := e.Encode(&rows, rec, nil); err != nil {
			t.Fatal(i, err)
		}
	}
	n, all := rows.Tallies()
	if n != 6 || len(all) != 4 {
		t.Fatalf("%d rows, %d columns", n, len(all))
	}
	warnings, notes := Notes(all)
	want := []string{
		"ratio: 2 of 6 values (33 %) are infinite or too large, and their rows are left out; the first is +Inf in row 4; " +
			"events.null_values (--null-values inf,-inf) uses them as missing values",
		`city: 2 of 6 values (33 %) are categories without their own dimension and count as other; the first is "Bern" in row 3`,
		`price: 2 of 6 values (33 %) are not of its kind and count as missing; the first is "n/a" in row 2`,
		`label y: 1 of 6 values (17 %) are of unknown classes; the first is "maybe" in row 3`,
	}
	if !slices.Equal(warnings, want) || len(notes) > 0 {
		t.Errorf("warnings %q\nnotes %q\nwant %q", warnings, notes, want)
	}
	if n, all = rows.Tallies(); n != 0 || all[0].Rejected.Values != 0 {
		t.Errorf("taken twice: %d rows, %+v", n, all[0])
	}
	other := []Tally{{Values: 6, Rejected: Finding{Values: 1, Row: 2, First: "3"}}}
	merged := Merge([]Tally{{Values: 100, Rejected: Finding{Values: 2, Row: 5, First: "7"}}}, other)
	if m := merged[0]; m.Values != 106 || m.Rejected != (Finding{Values: 3, Row: 2, First: "3"}) || m.Much() {
		t.Errorf("merged %+v", m)
	}
}
