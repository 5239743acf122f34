package encoder

import (
	"fmt"
	"slices"
	"testing"
)

func TestUnseenClassesAreNamed(t *testing.T) {
	cases := map[string]struct {
		options Options
		known   column // two classes
		met     column
		want    []ClassRows
	}{
		"texts": {
			Options{},
			col(t, "y", text, "a", "b"),
			col(t, "y", text, "z", nil, "a", "w", "z"),
			[]ClassRows{{"z", 2}, {"w", 1}},
		},
		"dictionary": {Options{}, col(t, "y", text, "a", "b"), col(t, "y", dict, "z", "a", nil, "z"), []ClassRows{{"z", 2}}},
		"numbers": {
			Options{Task: TaskClassification},
			col(t, "y", i64, 1, 2),
			col(t, "y", f32, 3, 0.1, 1, nil, 3),
			[]ClassRows{{"3", 2}, {"0.1", 1}},
		},
		"booleans": {
			Options{Classes: []string{"true", "false"}},
			col(t, "y", flags, true, false),
			col(t, "y", flags, true),
			nil,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := c.options
			o.Label = []string{"y"}
			e, _ := calibrated(t, o, record(t, col(t, "x", f64, 1, 2), c.known))
			var rows Rows
			for range 2 { // each record by itself
				values := sequence(c.met.values.Len(), func(i int) any { return i })
				if err := e.Encode(&rows, record(t, col(t, "x", f64, values...), c.met), nil); err != nil {
					t.Fatal(err)
				}
			}
			if got := rows.UnseenClasses.List(); !slices.Equal(got, c.want) {
				t.Errorf("classes %v, want %v", got, c.want)
			}
		})
	}
}

// A class with many rows is found after any number with few, and never counted for more rows than
// it has.
func TestClassTallyKeepsFrequentClasses(t *testing.T) {
	var tally ClassTally
	for i := range 40_000 {
		tally.Add(fmt.Sprint("noise-", i), 1)
		if i%10 == 9 {
			tally.Add("common", 1)
		}
	}
	first := tally.List()[0]
	if first.Class != "common" || first.Rows > 4000 || first.Rows < 3000 || len(tally.counts.rows) > tallied {
		t.Errorf("%d classes, the first is %+v, want common with up to 4000 rows", len(tally.counts.rows), first)
	}
	if tally.Clear(); !tally.Empty() || tally.Rows("common") != 0 {
		t.Error("not empty")
	}
}
