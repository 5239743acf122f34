package compare

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Mean is a mean over repeats with its standard error; nil with fewer than two. For errors and
// their differences the standard error includes the noise of the test rows.
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

// error returns the mean error of a cell.
func (c *cell) error() Mean { return c.minus(&cell{}) }

// clearlyWorse reports whether the errors of a exceed those of b by more than two standard errors
// of the paired difference. A single repeat is never clear.
func clearlyWorse(a, b *cell) bool {
	if a == nil || b == nil || len(a.common(b)) == 0 {
		return false
	}
	d := a.minus(b)
	return d.Mean > 0 && d.Clear()
}

// common returns the repeats in which both cells were measured, ascending; all of c if other is
// empty.
func (c *cell) common(other *cell) []int {
	var repeats []int
	for number := range c.outcomes {
		if _, ok := other.outcomes[number]; ok || other.outcomes == nil {
			repeats = append(repeats, number)
		}
	}
	slices.Sort(repeats)
	return repeats
}

// minus returns the mean difference of the errors of two cells, paired by repeat, which must have a
// repeat in common. other may be empty.
//
// If all repeats have the same test rows, the variance of the mean over the repeats and the
// variance from these rows add up. Otherwise repeats share training rows, and their variance is
// corrected for it (Nadeau and Bengio, Machine Learning 52, 2003); it counts for at least the
// variance from the test rows, because that of few repeats may be small by chance.
func (c *cell) minus(other *cell) Mean {
	repeats := c.common(other)
	values := make([]float64, len(repeats))
	for i, number := range repeats {
		values[i] = c.outcomes[number].error - other.outcomes[number].error
	}
	m := meanOf(values)
	if m.Error == nil {
		return m
	}
	ofRows := c.rowNoise(other, repeats)
	n := float64(len(repeats))
	if c.fixed {
		se := math.Hypot(*m.Error, ofRows)
		m.Error = &se
		return m
	}
	se := max(*m.Error*math.Sqrt(1+n*c.overlap), ofRows)
	m.Error = &se
	return m
}

// rowNoise returns the standard error of a mean difference that is due to the test rows.
func (c *cell) rowNoise(other *cell, repeats []int) float64 {
	n := float64(len(repeats))
	if c.fixed {
		sum := make([]float64, len(c.outcomes[repeats[0]].rowLoss))
		for _, number := range repeats {
			for i, v := range rowDifferences(c.outcomes[number], other.outcomes[number]) {
				sum[i] += v / n
			}
		}
		return rowError(sum)
	}
	variance := 0.0
	for _, number := range repeats {
		se := rowError(rowDifferences(c.outcomes[number], other.outcomes[number]))
		variance += se * se / n / n
	}
	return math.Sqrt(variance)
}

func rowError(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	return *meanOf(values).Error
}

// rowDifferences returns the differences of the losses of the test rows of one repeat.
func rowDifferences(a, b outcome) []float64 {
	values := make([]float64, len(a.rowLoss))
	for i, v := range a.rowLoss {
		values[i] = float64(v)
	}
	for i, v := range b.rowLoss {
		values[i] -= float64(v)
	}
	return values
}
