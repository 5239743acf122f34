package encoder

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

func TestBlanksAndWordsForMissingValuesMeanTheSameInEveryType(t *testing.T) {
	plans := sequence(200, func(i int) any { return []any{"pro", " free", "basic ", "NA", ""}[i%5] })
	clean := sequence(200, func(i int) any { return []any{"pro", "free", "basic", nil, nil}[i%5] })
	want, _ := calibrated(t, Options{}, record(t, col(t, "plan", text, clean...)))
	for name, dt := range map[string]arrow.DataType{
		"strings": text, "dictionary": dict, "large strings": arrow.BinaryTypes.LargeString,
	} {
		e, _ := calibrated(t, Options{}, record(t, col(t, "plan", dt, plans...)))
		if !slices.Equal(e.Columns[0].Categories, want.Columns[0].Categories) || !e.Columns[0].Missing {
			t.Errorf("%s: categories %q, want %q, missing %v", name, e.Columns[0].Categories, want.Columns[0].Categories,
				e.Columns[0].Missing)
		}
		rows := encoded(t, e, record(t, col(t, "plan", dt, plans...)))
		plain := encoded(t, want, record(t, col(t, "plan", text, clean...)))
		if !slices.Equal(rows.X, plain.X) || rows.Counts != plain.Counts {
			t.Errorf("%s: %v %+v, want %v %+v", name, rows.X[:20], rows.Counts, plain.X[:20], plain.Counts)
		}
	}
}

func TestNullWordsOfTheOptionsAreMissingInRowsToo(t *testing.T) {
	o := Options{NullWords: []string{"-999", "keine"}, Label: []string{"y"}}
	numbers := sequence(200, func(i int) any {
		if i%4 == 0 {
			return -999
		}
		return i * i % 97
	})
	written := sequence(200, func(i int) any {
		if i%4 == 0 {
			return "-999"
		}
		return fmt.Sprintf("%d kg", i*i%97)
	})
	words := sequence(200, func(i int) any { return []any{"a", "b", "keine"}[i%3] })
	label := sequence(200, func(i int) any { return []any{"yes", "no", "keine"}[i%3] })
	e, _ := calibrated(t, o, record(t, col(t, "whole", i64, numbers...), col(t, "float", f64, numbers...),
		col(t, "written", text, written...), col(t, "word", text, words...), col(t, "y", text, label...)))
	for i, want := range []string{"whole", "float", "written", "word"} {
		if c := e.Columns[i]; c.Name != want || !c.Missing || len(c.Mean) > 0 && c.Mean[0] < 0 {
			t.Errorf("column %+v, want %s with missing values and a mean above 0", c, want)
		}
	}
	if !slices.Equal(e.Label.Classes, []string{"no", "yes"}) {
		t.Errorf("classes %q", e.Label.Classes)
	}
	var again Encoder
	roundTripJSON(t, e, &again)
	rec := record(t, col(t, "whole", i64, -999, 3, nil), col(t, "float", f64, -999, 3, nil),
		col(t, "written", text, "-999", "3 kg", nil), col(t, "word", text, "keine", "a", nil),
		col(t, "y", text, "keine", "yes", nil))
	rows := encoded(t, &again, rec)
	if rows.Counts.Imputed != 8 || rows.Counts.Unlabelled != 2 || rows.Counts.UnseenClass != 0 {
		t.Errorf("counts %+v", rows.Counts)
	}
	if !slices.Equal(rows.X[:rows.Dim], rows.X[2*rows.Dim:]) {
		t.Errorf("row of null words %v, row of nulls %v", rows.X[:rows.Dim], rows.X[2*rows.Dim:])
	}
	var remarks Remarks
	remarks.Add(&again, rec, 0)
	if len(remarks.Imputed.Remarks) != 8 || len(remarks.Unseen.Remarks) > 0 {
		t.Errorf("remarks %+v", remarks)
	}
}

// A null word is missing in columns of float32, too, which hold the nearest number.
func TestNullWordsAreMissingInShortFloats(t *testing.T) {
	o := Options{NullWords: []string{"-99.9", "1e300"}}
	numbers := sequence(200, func(i int) any {
		if i%4 == 0 {
			return -99.9
		}
		return float64(i * i % 97)
	})
	e, _ := calibrated(t, o, record(t, col(t, "short", f32, numbers...), col(t, "long", f64, numbers...)))
	for _, c := range e.Columns {
		if !c.Missing || c.Mean[0] < 0 {
			t.Errorf("column %+v, want one with missing values and a mean above 0", c)
		}
	}
	rows := encoded(t, e, record(t, col(t, "short", f32, -99.9, 3), col(t, "long", f64, -99.9, 3)))
	if rows.Counts.Imputed != 2 {
		t.Errorf("counts %+v", rows.Counts)
	}
	if numbers := e.NullNumbers(); slices.ContainsFunc(numbers, func(v float64) bool { return math.IsInf(v, 0) }) {
		t.Errorf("numbers %v", numbers)
	}
}

// roundTripJSON decodes an encoder as it is on the wire.
func roundTripJSON(t *testing.T, from, to *Encoder) {
	t.Helper()
	body, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, to); err != nil {
		t.Fatal(err)
	}
	if err := to.Validate(); err != nil {
		t.Fatal(err)
	}
}
