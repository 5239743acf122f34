package encoder

import (
	"fmt"
	"math"
	"slices"
)

const (
	// extremeValues is how many of the smallest and of the largest values of a dimension are kept
	// apart from the others.
	extremeValues = 32
	// farScales is how many times the scale of the other values an extreme value must be away from
	// their mean to be far, and how many times their scale the scale of all values must be before
	// far values are left out. Ordinary outliers stay in: they are logarithms beyond the clip
	// anyway.
	farScales = 100
)

// spread is the distribution of one dimension of numbers: moments of all values, and of all but the
// extremes. A few huge values would otherwise make the scale so large that all other values become
// equal in float32.
type spread struct {
	all, inner moment
	// low holds the smallest values in ascending order, high the largest in descending order.
	low, high []float64
}

// add adds a finite value.
func (s *spread) add(v float64) {
	s.all.add(v)
	v, inside := keepExtreme(&s.low, v, func(a, b float64) bool { return a < b })
	if inside {
		v, inside = keepExtreme(&s.high, v, func(a, b float64) bool { return a > b })
	}
	if inside {
		s.inner.add(v)
	}
}

// merge adds other values.
func (s *spread) merge(other *spread) {
	s.all.merge(other.all)
	s.inner.merge(other.inner)
	for _, v := range slices.Concat(other.low, other.high) {
		v, inside := keepExtreme(&s.low, v, func(a, b float64) bool { return a < b })
		if inside {
			v, inside = keepExtreme(&s.high, v, func(a, b float64) bool { return a > b })
		}
		if inside {
			s.inner.add(v)
		}
	}
}

// keepExtreme puts v into a sorted list of the most extreme values and returns the value that has
// no place in it, if there is one.
func keepExtreme(list *[]float64, v float64, more func(a, b float64) bool) (rest float64, found bool) {
	n := len(*list)
	if n == extremeValues && !more(v, (*list)[n-1]) {
		return v, true
	}
	at := n
	for at > 0 && more(v, (*list)[at-1]) {
		at--
	}
	if n < extremeValues {
		*list = slices.Insert(*list, at, v)
		return 0, false
	}
	rest = (*list)[n-1]
	copy((*list)[at+1:], (*list)[at:n-1])
	(*list)[at] = v
	return rest, true
}

// settled returns the moments by which the values are standardized, and the far values that these
// leave out.
func (s *spread) settled() (m moment, far []float64) {
	scale := s.inner.scale()
	if s.inner.constant() || s.all.scale() <= farScales*scale {
		return s.all, nil
	}
	m = s.inner
	for _, list := range [][]float64{s.low, s.high} {
		for _, v := range slices.Backward(list) { // from the inside to the outside
			if math.Abs(v-s.inner.mean) > farScales*scale {
				far = append(far, v)
			} else {
				m.add(v)
			}
		}
	}
	return m, far
}

// Relative distances of neighbouring numbers, and the smallest number of them in a scale that
// leaves a column its values.
const (
	float32Digits = 0x1p-23
	float64Digits = 0x1p-52
	leastSteps    = 100
)

// spreadWarning reports far values, and values that lose their differences; "" if there are none.
func (l *learned) spreadWarning(s *spread, name, standardize string) string {
	m, far := s.settled()
	steps := func(digits float64) float64 { return m.scale() / (math.Abs(m.mean) * digits) }
	switch {
	case len(far) > 0:
		return fmt.Sprintf("%s: %d of %d values are far from all others, such as %v; mean and scale leave them out",
			name, len(far), s.all.n, far[len(far)-1])
	case m.constant():
		return ""
	case steps(float64Digits) < leastSteps:
		return fmt.Sprintf("%s: its values differ by about %.2g, hardly more than float64 distinguishes around %.4g; "+
			"write the difference from a constant instead", name, m.scale(), m.mean)
	case !standardizes(standardize, l.want.kind) && steps(float32Digits) < leastSteps:
		return fmt.Sprintf("%s: its values differ by about %.2g, hardly more than float32 distinguishes around %.4g; "+
			"events.standardize must not be none", name, m.scale(), m.mean)
	}
	return ""
}

// spreadWarnings adds a warning for each column of numbers or times that has one.
func (c *Calibrator) spreadWarnings(e *Encoder, report *Report) {
	columns := make(map[string]*Column, len(e.Columns))
	for i := range e.Columns {
		columns[e.Columns[i].Name] = &e.Columns[i]
	}
	for _, l := range c.columns {
		column := columns[l.name]
		if column == nil {
			continue
		}
		v := l.verdict()
		for j := range column.values() {
			s := l.spreadOf(&v, j)
			if s == nil {
				break
			}
			text := l.spreadWarning(s, fmt.Sprintf("column %q", column.dimensionName(j)), e.Standardize)
			if text != "" {
				report.Warnings = append(report.Warnings, text)
				break
			}
		}
	}
}

// spreadOf returns the distribution of dimension j, nil for booleans and categories.
func (l *learned) spreadOf(v *verdict, j int) *spread {
	switch {
	case v.times != nil:
		return &v.times.seconds
	case v.kind == Numeric || v.kind == Vector:
		return &l.numbers(v)[j]
	}
	return nil
}
