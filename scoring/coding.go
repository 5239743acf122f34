package scoring

import "math"

// Coding turns raw outputs into the outputs that are scored: y_k = Gain[k]·raw_k + Offset[k], |y_k|
// ≤ 1. It is affine, so it is applied to sums and never to rows. The codings are the paper's,
// except that several regression outputs share a range.
type Coding struct {
	Gain   []float64 `json:"gain" bound:"list 1024"`
	Offset []float64 `json:"offset" bound:"list 1024"`
}

// Coding returns the coding of the outputs that s has summed.
//
//	Regression  the range of the summed rows goes to [-1, 1]; several outputs are first divided by their standard
//	            deviations and share the widest half-range, each about the middle of its own range
//	Binary      1, 0
//	MultiClass  1, -1/K
//
// A constant regression output, and one without rows, gets gain and offset 0. An unknown task
// panics.
func (s *Sums) Coding(task Task) Coding {
	outputs := s.Outputs()
	c := Coding{make([]float64, outputs), make([]float64, outputs)}
	tasks[taskNames.must(task)].code(s, c)
	return c
}

// codeSigns fills c for two classes of ±1.
func (s *Sums) codeSigns(c Coding) {
	for k := range c.Gain {
		c.Gain[k] = 1
	}
}

// codeIndicators fills c for the indicators of K classes.
func (s *Sums) codeIndicators(c Coding) {
	for k := range c.Gain {
		c.Gain[k], c.Offset[k] = 1, -1/float64(len(c.Gain))
	}
}

// codeRange fills c for regression.
func (s *Sums) codeRange(c Coding) {
	widest := 0.0
	for k := range c.Gain {
		if h := s.halfRange(k); h > 0 {
			widest = max(widest, h/s.unit(k))
		}
	}
	for k := range c.Gain {
		h := s.halfRange(k)
		if !(h > 0) {
			continue
		}
		// The quotient of the widest output by itself rounds, so the half-range is the least
		// divisor.
		half := max(float64(s.unit(k)*widest), h)
		middle := float64(s.YMin[k]/2) + float64(s.YMax[k]/2)
		c.Gain[k], c.Offset[k] = 1/half, -middle/half
	}
}

// halfRange returns half the range of output k, negative or NaN without rows.
func (s *Sums) halfRange(k int) float64 { return float64(s.YMax[k]/2) - float64(s.YMin[k]/2) }

// unit returns the divisor of output k before outputs share a range: its standard deviation, or 1
// for a single output. A range of 2h among n rows has at least the variance 2h²/n; cancellation in
// the sums may leave less.
func (s *Sums) unit(k int) float64 {
	if s.Outputs() == 1 {
		return 1
	}
	n := float64(s.Rows)
	h := s.halfRange(k)
	return math.Sqrt(max(variance(s.Y[k], s.YSq[k], n), 2*h*h/n))
}

// variance returns the variance of n numbers from their sum and sum of squares, 0 when rounding
// makes it negative.
func variance(sum, sumSq, n float64) float64 {
	mean := sum / n
	return max(sumSq/n-float64(mean*mean), 0)
}
