package compare

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Mean is a mean with its standard error, the standard deviation divided by the square root of the number of repeats;
// nil with fewer than two.
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

// differences subtracts b from a for the repeats that both have.
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

// ratioError returns the standard error, in percent, of 100·Σ loss/Σ weight as an estimate from a sample of rows: with
// ratio R the rows' residuals are loss − R·weight (the linearised variance of a ratio estimator, Cochran, Sampling
// Techniques, 1977, chapter 6). With weights 1 it is the standard error of a mean. nil for fewer than two rows.
func ratioError(loss, weight []float64) *float64 {
	n := float64(len(loss))
	var losses, weights float64
	for i := range loss {
		losses += loss[i]
		weights += weight[i]
	}
	if n < 2 || weights <= 0 {
		return nil
	}
	ratio, squares := losses/weights, 0.0
	for i := range loss {
		d := loss[i] - ratio*weight[i]
		squares += d * d
	}
	se := 100 * math.Sqrt(squares*n/(n-1)) / weights
	return &se
}

// falling returns the values in falling order.
func falling(values []float64) []float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	return sorted
}
