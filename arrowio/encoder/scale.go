package encoder

import (
	"math"

	"github.com/eerf-stream/eerf/arrowio/encoder/internal/standardize"
)

// scaling maps the values of a column to its dimensions.
type scaling struct {
	// mean replaces nulls; empty for a category that is not standardized.
	mean []float64
	// shift and scale are per dimension: 0 and 1 if the column is not standardized.
	shift, scale []float64
	// limit bounds a dimension: beyond it a value is clipped, or rejected if clips is false.
	limit float64
	clips bool
	tail  bool // values beyond it continue as logarithms
	// low and high are the encoded bounds of the dimensions; empty without bounds.
	low, high []float32
	// nanMissing is set if NaN is a missing value.
	nanMissing bool

	// minus and times compute dimensions with a magnitude below bound without a division: see
	// [standardize.Column]. The others go through exact.
	minus, times []float64
	bound        float32
}

// newScaling returns the scaling of dimensions first to next-1 of a column of e.
func newScaling(e *Encoder, c *Column, first, next int) scaling {
	width := next - first
	s := scaling{limit: MaxMagnitude, nanMissing: e.NaN == NaNMissing}
	if len(c.Mean) >= next {
		s.mean = c.Mean[first:next]
	}
	if len(c.Scale) < next {
		s.shift, s.scale = make([]float64, width), ones(width)
	} else {
		s.shift, s.scale = s.mean, c.Scale[first:next]
		if e.Clip > 0 {
			s.limit = e.Clip
			s.clips = true
			s.tail = e.HasTail(c, first)
		}
	}
	if s.clips && len(c.Low) >= next {
		s.low, s.high = make([]float32, width), make([]float32, width)
		for j := range width {
			s.low[j], _ = s.apply(j, c.Low[first+j])
			s.high[j], _ = s.apply(j, c.High[first+j])
		}
	}
	s.minus, s.times = s.shift, make([]float64, width)
	for j := range s.times {
		s.times[j] = standardize.Reciprocal(s.shift[j], s.scale[j])
	}
	s.bound = float32(s.limit) // a number beyond the limit is rounded to at least this value
	return s
}

// ones returns a list of n times 1.
func ones(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

// apply maps one value of dimension j and reports whether it was clipped. It is for values known to
// be finite and within limits, such as indicators.
func (s *scaling) apply(j int, v float64) (float32, bool) {
	z := (v - s.shift[j]) / s.scale[j]
	if s.clips && math.Abs(z) > s.limit {
		return clipped(z, s.limit, s.tail), true
	}
	return float32(z), false
}

// keepWithin keeps encoded numbers of dimension j within its bounds.
func (s *scaling) keepWithin(x []float32, j int) {
	if len(s.low) == 0 {
		return
	}
	low, high := s.low[j], s.high[j]
	for i, v := range x {
		if v < low {
			x[i] = low
		} else if v > high {
			x[i] = high
		}
	}
}

// missing returns the value of dimension j for a null.
func (s *scaling) missing(j int) float32 {
	x, _ := s.apply(j, s.mean[j])
	return x
}

// block is a run of rows being encoded. Columns write their dimensions into it in turn while it is
// in the second-level cache.
type block struct {
	rows picked
	// x is row-major [rows·dim].
	x   []float32
	dim int
	// fault is [rows]: the first fault of each row, 0 for none.
	fault  []uint8
	counts *Counts
	// absent, if not nil, is set for the rows without a value in the current column.
	absent    []bool
	tally     *Tally // of the current column
	rowNumber func(row int32) int64
}

// The faults of a row, indexes into reasons.
const (
	noFault uint8 = iota
	nanFeature
	infFeature
	nanLabel
	infLabel
	outOfBounds
	wrongKind
)

var reasons = [...]string{"", NaNFeature, InfFeature, NaNLabel, InfLabel, LabelOutOfBounds, WrongKind}

// exact returns the value of dimension j of a column for v, by the definition, and marks row i of
// the block if v cannot be used.
func (b *block) exact(i, j int, v float64, s *scaling) float32 {
	z := (v - s.shift[j]) / s.scale[j]
	if !(z >= -s.limit && z <= s.limit) { // so that NaN comes here
		return b.beyond(i, j, v, z, s)
	}
	return float32(z)
}

// beyond handles a value that is not a number or whose scaled form z is beyond the limit. It
// returns what to store, and marks row i of the block if the value cannot be used.
func (b *block) beyond(i, j int, v, z float64, s *scaling) float32 {
	fault := infFeature
	switch {
	case math.IsNaN(v) && s.nanMissing:
		return b.miss(i, j, s)
	case math.IsNaN(v):
		fault = nanFeature
	case s.clips && !math.IsInf(v, 0):
		b.counts.Clipped++
		return clipped(z, s.limit, s.tail)
	}
	if b.fault[i] == noFault {
		b.fault[i] = fault
	}
	b.tally.reject(b.number(i), fault, v)
	return 0
}

// miss counts a missing value in row i of the block and returns its value in dimension j.
func (b *block) miss(i, j int, s *scaling) float32 {
	b.counts.Imputed++
	if b.absent != nil {
		b.absent[i] = true
	}
	return s.missing(j)
}
