package scoring

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// bruteBandwidth is the mean distance to the k-th neighbour, computed directly.
func bruteBandwidth(x []float32, rows, dim, k int, norm func(d []float64) float64) float64 {
	mean := 0.0
	for i := range rows {
		var distances []float64
		for j := range rows {
			d := make([]float64, dim)
			for c := range d {
				d[c] = float64(x[i*dim+c]) - float64(x[j*dim+c])
			}
			distances = append(distances, norm(d))
		}
		distances[i] = -1
		slices.Sort(distances)
		mean += distances[k] / float64(rows)
	}
	return mean
}

func euclid(d []float64) (sum float64) {
	for _, v := range d {
		sum += v * v
	}
	return math.Sqrt(sum)
}

func TestBandwidthIsTheMeanDistanceToTheNeighbour(t *testing.T) {
	city := func(d []float64) (sum float64) {
		for _, v := range d {
			sum += math.Abs(v)
		}
		return sum
	}
	wide := func(d []float64) float64 { return math.Sqrt2 * euclid(d) }
	for _, rows := range []int{2, 5, 50, 51, 52, 200} {
		x := normalRows(uint64(rows), rows, 13)
		for d, norm := range map[Distribution]func([]float64) float64{Gaussian: euclid, Cauchy: city, Laplace: wide} {
			got, warning := Bandwidth(x, rows, 13, d, MapCosine)
			near(t, d.String(), got, bruteBandwidth(x, rows, 13, min(50, rows-1), norm), 1e-10)
			if warning != "" {
				t.Errorf("warning %q", warning)
			}
		}
	}
}

func TestBandwidthOfEqualRowsIsDefined(t *testing.T) {
	equal := make([]float32, 120)
	twoPoints := slices.Concat(equal, slices.Repeat([]float32{3, 4}, 60))
	for _, test := range []struct {
		name    string
		x       []float32
		d       Distribution
		want    float64
		warning string
	}{
		{"no rows", nil, Gaussian, 1, "0 rows have no neighbours"},
		{"one row", equal[:2], Gaussian, 1, "1 rows have no neighbours"},
		{"all equal", equal, Gaussian, 1, "all rows are equal"},
		{"two points", twoPoints, Gaussian, 5, "smallest positive distance"},
		{"two points", twoPoints, Cauchy, 7, "smallest positive distance"},
		{"two points", twoPoints, Laplace, 5 * math.Sqrt2, "smallest positive distance"},
		{"one point apart", twoPoints[:122], Gaussian, 5.0 / 61, ""},
	} {
		got, warning := Bandwidth(test.x, len(test.x)/2, 2, test.d, MapCosine)
		if math.Abs(got-test.want) > 1e-12 || !strings.Contains(warning, test.warning) ||
			(test.warning == "") != (warning == "") {
			t.Errorf("%s, %v: %v, %q, want %v, %q", test.name, test.d, got, warning, test.want, test.warning)
		}
	}
	panics(t, "scoring: 3 numbers for 2 rows of 2", func() { Bandwidth(equal[:3], 2, 2, Gaussian, MapCosine) })
}
