package encoder

import (
	"math"
	"testing"
)

func TestPastDescribesThresholds(t *testing.T) {
	e := &Encoder{Clip: 5, Columns: []Column{
		{Name: "age", Kind: Numeric, Width: 2, Missing: true, Mean: []float64{37.5}, Scale: []float64{10}},
		{Name: "plan", Kind: Category, Width: 3, Categories: []string{"basic", "pro"}, Other: true},
		{Name: "paid", Kind: Bool, Width: 1, Mean: []float64{0.25}, Scale: []float64{0.4}},
		{Name: "seen", Kind: Time, Width: 10, Cycles: []Cycle{Day, Week, Year}, Mean: []float64{1.7e9}, Scale: []float64{1e7}},
		{Name: "made", Kind: Time, Width: 1, Mean: []float64{1.7e9}, Scale: []float64{100}},
		{Name: "opens", Kind: Clock, Width: 1, Mean: []float64{3e4}, Scale: []float64{3600}},
		{Name: "pixels", Kind: Vector, Width: 2, Mean: []float64{0, 0}},
	}}
	for _, c := range []struct {
		j              int
		threshold      float64
		above, orEqual bool
		want           string
	}{
		{0, 0, true, true, "age ≥ 37.5"},
		{0, 0.25, true, false, "age > 40"},
		{0, -1, false, true, "age ≤ 27.5"},
		{0, -6, true, false, "age"},
		{0, 6, false, false, "age"},
		{0, 6, true, false, "age > 97.5"},
		{1, 0.5, true, true, "age is missing"},
		{1, 0.5, false, true, "age is present"},
		{3, 0.5, true, true, "plan = pro"},
		{2, 0.5, false, true, "plan ≠ basic"},
		{4, 0.5, true, true, "plan is none of the common values"},
		{5, 0.6, true, true, "paid = true"},
		{6, 0, true, false, "seen > 2023-11-14"},
		{7, 0.25, false, false, "seen, hour of day (sin) < 0.25"},
		{9, 0.5, true, true, "seen, hour of day ≥ 18:00"},
		{11, 0.25, false, false, "seen, day of week (cos) < 0.25"},
		{12, 0, true, true, "seen, day of week ≥ Thu 12:00"},
		{15, -0.5, false, true, "seen, day of year ≤ 2 Apr"},
		{16, 0, false, true, "made ≤ 2023-11-14 22:13"},
		{17, 1, true, true, "opens ≥ 09:20"},
		{19, 0.125, true, false, "pixels[1] > 0.125"},
	} {
		if got := e.Past(c.j, c.threshold, c.above, c.orEqual); got != c.want {
			t.Errorf("dimension %d past %v: %q, want %q", c.j, c.threshold, got, c.want)
		}
	}
	e.Tail = TailLog
	for _, c := range []struct {
		threshold      float64
		above, orEqual bool
		want           string
	}{
		{-6, true, false, "age"},
		{-5 * (1 + math.Ln2), true, true, "age ≥ -62.5"},
		{5 * (1 + math.Ln2), true, false, "age > 137.5"},
		{5 * (1 + math.Ln2), false, false, "age < 137.5"},
	} {
		if got := e.Past(0, c.threshold, c.above, c.orEqual); got != c.want {
			t.Errorf("past %v of a tail: %q, want %q", c.threshold, got, c.want)
		}
	}
}
