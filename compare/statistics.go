package compare

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Mean is a mean with its standard error, the standard deviation divided by the square root of the
// number of repeats; nil with fewer than two.
type Mean struct {
	Mean  float64  `json:"mean"`
	Error *float64 `json:"standard_error"`
}

// meanOf returns the mean of values, which must not be empty.
func meanOf(values []float64) Mean {
	mean, deviation := stat.MeanStdDev(values, nil)
	if len(values) < 2 {
		return Mean{Mean: mean}
	}
	se := deviation / math.Sqrt(float64(len(values)))
	return Mean{Mean: mean, Error: &se}
}

// Clear reports whether the mean is more than two standard errors away from zero.
func (m Mean) Clear() bool { return m.Error != nil && math.Abs(m.Mean) > 2**m.Error }

// differences returns a - b for the repeats that both have.
func differences(a, b map[int]float64) []float64 {
	var repeats []int
	for r := range a {
		if _, ok := b[r]; ok {
			repeats = append(repeats, r)
		}
	}
	slices.Sort(repeats)
	diffs := make([]float64, len(repeats))
	for i, r := range repeats {
		diffs[i] = a[r] - b[r]
	}
	return diffs
}
