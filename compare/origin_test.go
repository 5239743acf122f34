package compare

import (
	"math"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/scoring"
)

// indicators turns all columns but one into standardized indicators, 1 in a tenth to a fifth of the rows.
func indicators(s *datasets.Split) {
	for _, d := range []*datasets.Data{s.Train, s.Test} {
		for i, v := range d.X {
			k := i % d.Dim
			if k == d.Dim-1 {
				continue
			}
			scale := 0.3 + 0.02*float32(k)
			d.X[i] = -0.1 / scale
			if v > 0.8+0.1*float32(k) {
				d.X[i] = 0.9 / scale
			}
		}
	}
}

func TestOriginMakesIndicatorsZeroOrNot(t *testing.T) {
	split, err := twisted{made{task: scoring.Regression, rows: 600}, indicators}.Split(datasets.SplitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	encoded := slices.Clone(split.Train.X)
	o := originOf(split.Train)
	if len(o) != madeDim {
		t.Fatalf("origin %v", o)
	}
	o.take(split.Train.X)
	zeros := 0
	for _, v := range split.Train.X {
		if v == 0 {
			zeros++
		}
	}
	if zeros < len(encoded)*6/10 {
		t.Errorf("%d zeros among %d numbers", zeros, len(encoded))
	}
	for i, v := range o.encoded(make([]float32, 3), split.Train.X) {
		if math.Abs(float64(v-encoded[i])) > 1e-6 {
			t.Fatalf("number %d is %v, was %v", i, v, encoded[i])
		}
	}
	if o := originOf(split.Train); o != nil {
		t.Errorf("rows of zeros have the origin %v", o)
	}
}

func TestOriginIsWhereItPays(t *testing.T) {
	columns := func(values ...float32) *datasets.Data { // a row of each value, twice
		return &datasets.Data{N: len(values) / 2, Dim: 2, X: values}
	}
	for name, c := range map[string]struct {
		data *datasets.Data
		want origin
	}{
		"half of one column":          {columns(1, 2, 1, 3, 1, 4, 5, 6), origin{1, 2}},
		"nothing twice in ten rows":   {columns(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21), nil},
		"too great to be taken off":   {columns(5, -7, 5, -7), nil},
		"one column of two too great": {columns(5, -2, 5, -2), origin{0, -2}},
		"zero already":                {columns(0, 0, 0, 0), nil},
	} {
		if got := originOf(c.data); !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%s: origin %v, want %v", name, got, c.want)
		}
	}
}

// TestOriginChangesNoErrorButByRounding runs every method on the encoded rows, with and without subtracting
// their origin.
func TestOriginChangesNoErrorButByRounding(t *testing.T) {
	o := quick()
	o.Methods, _ = Fitting(o)
	source := twisted{made{task: scoring.Regression, rows: 900}, indicators}
	var repeats [2]*repeat
	for i := range repeats {
		split, err := source.Split(datasets.SplitOptions{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		var from origin
		if i == 1 {
			from = originOf(split.Train)
			from.take(split.Train.X)
			from.take(split.Test.X)
		}
		if repeats[i], err = newRepeat(o, 0, split, from); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range o.Methods {
		method, _ := Lookup(name)
		want, _ := repeats[0].try(t.Context(), method, 24)
		got, _ := repeats[1].try(t.Context(), method, 24)
		if want.Failure != "" || got.Failure != "" || math.Abs(got.Error-want.Error) > 1e-3*want.Error {
			t.Errorf("%s: error %v, as encoded %v (%s%s)", name, got.Error, want.Error, got.Failure, want.Failure)
		}
	}
}
