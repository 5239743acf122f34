package streams

import (
	"bytes"
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"testing"
)

// rowsOf parses the output of Write.
func rowsOf(t *testing.T, name string, rows int, seed uint64, changes bool) [][]string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, name, rows, seed, changes); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != rows+1 {
		t.Fatalf("%s: %d lines, %v", name, len(lines), err)
	}
	return lines[1:]
}

func TestStreamsDependOnlyOnTheirSeeds(t *testing.T) {
	for _, name := range Names() {
		first, again := rowsOf(t, name, 400, 1, true), rowsOf(t, name, 400, 1, true)
		still, other := rowsOf(t, name, 400, 1, false), rowsOf(t, name, 400, 2, true)
		same := func(a, b [][]string) bool { return slices.EqualFunc(a, b, slices.Equal[[]string]) }
		if !same(first, again) || same(first, other) || same(first, still) {
			t.Errorf("%s: equal when repeated %v, with another seed %v, without changes %v",
				name, same(first, again), same(first, other), same(first, still))
		}
		if !same(first[:1], still[:1]) {
			t.Errorf("%s begins differently with and without changes", name)
		}
	}
	if Write(&bytes.Buffer{}, "rain", 1, 1, true) == nil {
		t.Error("an unknown stream was written")
	}
}

// share returns the share of rows for which holds is true.
func share(rows [][]string, holds func(x []float64, class string) bool) float64 {
	n := 0
	for _, row := range rows {
		x := make([]float64, len(row)-1)
		for i := range x {
			x[i], _ = strconv.ParseFloat(row[i], 64)
		}
		if holds(x, row[len(x)]) {
			n++
		}
	}
	return float64(n) / float64(len(rows))
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within {
		t.Errorf("%s: %.3f, want %.3f", what, got, want)
	}
}

// Each concept of a stream follows its paper: the relation explains every class except for the
// noise.
func TestConcepts(t *testing.T) {
	const rows = 8000
	quarter := func(all [][]string, i int) [][]string { return all[i*rows/concepts : (i+1)*rows/concepts] }
	all := rowsOf(t, "sea", rows, 1, true)
	for i, threshold := range []float64{8, 9, 7, 9.5} {
		near(t, "sea", share(quarter(all, i), func(x []float64, class string) bool {
			return (x[0]+x[1] <= threshold) == (class == "yes")
		}), 0.9, 0.03)
	}
	all = rowsOf(t, "led", rows, 1, true)
	near(t, "a lit segment of led", share(quarter(all, 0), func(x []float64, class string) bool {
		return x[0] == float64(segments[class[1]-'0'][0]-'0')
	}), 0.9, 0.03)
	near(t, "a segment of led that has moved", share(quarter(all, 3), func(x []float64, class string) bool {
		return x[23] == float64(segments[class[1]-'0'][0]-'0')
	}), 0.9, 0.03)
	near(t, "its old place", share(quarter(all, 3), func(x []float64, class string) bool {
		return x[0] == float64(segments[class[1]-'0'][0]-'0')
	}), 0.5, 0.05)
	all = rowsOf(t, "agrawal", rows, 1, true)
	near(t, "agrawal by age", share(quarter(all, 0), func(x []float64, class string) bool {
		return (x[2] < 40 || x[2] >= 60) == (class == "yes")
	}), 0.95, 0.04)
	near(t, "agrawal by income", share(quarter(all, 3), func(x []float64, class string) bool {
		return (2*(x[0]+x[1])/3-x[8]/5-20_000 > 0) == (class == "yes")
	}), 0.95, 0.05)
	all = rowsOf(t, "turn", rows, 1, true)
	for i, sign := range []float64{1, 1, -1, -1} {
		near(t, "turn", share(quarter(all, i), func(x []float64, class string) bool {
			return (sign*2*x[0]+1.4*x[1]-1.2*x[2]+x[3]-0.8*x[4]+0.6*x[5]-0.4*x[6]+0.2*x[7] >= 0) == (class == "yes")
		}), 0.96, 0.015)
	}
	near(t, "classes of the hyperplane",
		share(rowsOf(t, "hyperplane", rows, 1, true), func(_ []float64, class string) bool {
			return class == "yes"
		}), 0.5, 0.05)
}
