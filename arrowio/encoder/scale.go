package encoder

import "math"

// scaling maps the values of a column to its dimensions.
type scaling struct {
	// mean replaces nulls; empty for a category that is not standardized.
	mean []float64
	// shift and scale are per dimension: 0 and 1 when the column is not standardized.
	shift, scale []float64
	// limit is what a dimension may reach: beyond it a value is clipped, or rejected when clips is
	// false.
	limit float64
	clips bool
}

// newScaling returns the scaling of a column of e.
func newScaling(e *Encoder, c *Column) scaling {
	s := scaling{mean: c.Mean, shift: c.Mean, scale: c.Scale, limit: MaxMagnitude}
	if !e.standardizes(c.Kind) {
		s.shift = make([]float64, c.Width)
		s.scale = make([]float64, c.Width)
		for j := range s.scale {
			s.scale[j] = 1
		}
		return s
	}
	if e.Clip > 0 {
		s.limit, s.clips = e.Clip, true
	}
	return s
}

// apply maps one value of dimension j and reports whether it was clipped. It is for values known to
// be finite and within limits, such as indicators.
func (s *scaling) apply(j int, v float64) (float32, bool) {
	z := (v - s.shift[j]) / s.scale[j]
	if s.clips && math.Abs(z) > s.limit {
		return float32(math.Copysign(s.limit, z)), true
	}
	return float32(z), false
}

// block is a run of rows being encoded. Columns write their dimensions into it one after the other
// while it is in the nearest cache.
type block struct {
	rows []int32
	// x is row-major [rows·dim].
	x   []float32
	dim int
	// fault is [rows]: the first fault of each row, 0 for none.
	fault  []uint8
	counts *Counts
}

// The faults of a row, indexes into reasons.
const (
	noFault uint8 = iota
	nanFeature
	infFeature
	nanLabel
	infLabel
	outOfBounds
)

var reasons = [...]string{"", NaNFeature, InfFeature, NaNLabel, InfLabel, LabelOutOfBounds}

// scaleNumbers writes a column of single numbers, values [rows], to dimension at.
func (b *block) scaleNumbers(at int, values []float64, s *scaling) {
	shift, scale, limit := s.shift[0], s.scale[0], s.limit
	values = values[:len(b.rows)]
	x := b.x[at:]
	for i, v := range values {
		z := (v - shift) / scale
		if !(z >= -limit && z <= limit) { // so that NaN comes here
			z = b.beyond(i, v, z, s)
		}
		x[i*b.dim] = float32(z)
	}
}

// scaleVectors writes a column of vectors, values [rows·width], to the dimensions from at on.
func (b *block) scaleVectors(at int, values []float64, s *scaling) {
	limit, width := s.limit, len(s.scale)
	shift, scale := s.shift[:width], s.scale[:width]
	for i := range b.rows {
		from := values[i*width:][:width]
		to := b.x[i*b.dim+at:][:width]
		for j, v := range from {
			z := (v - shift[j]) / scale[j]
			if !(z >= -limit && z <= limit) {
				z = b.beyond(i, v, z, s)
			}
			to[j] = float32(z)
		}
	}
}

// beyond deals with a value that is no number or whose scaled form z is beyond the limit. It returns
// what to store, and marks row i of the block when the value cannot be used.
func (b *block) beyond(i int, v, z float64, s *scaling) float64 {
	fault := infFeature
	switch {
	case math.IsNaN(v):
		fault = nanFeature
	case s.clips && !math.IsInf(v, 0):
		b.counts.Clipped++
		return math.Copysign(s.limit, z)
	}
	if b.fault[i] == noFault {
		b.fault[i] = fault
	}
	return 0
}

// indicators holds what a boolean or a category writes for each code.
type indicators struct {
	// base is written first: every indicator unset. hot[k] replaces dimension k when code k is there.
	base, hot []float32
	// missing is written for a null: base for categories, the mean for a boolean.
	missing []float32
	// The clipped dimensions of base, of missing, and of a row with code k.
	baseClips, missingClips int64
	hotClips                []int64
}

// newIndicators prepares the indicators of a column; missing holds the unscaled values for a null.
func newIndicators(s *scaling, missing []float64) indicators {
	width := len(missing)
	in := indicators{
		base: make([]float32, width), hot: make([]float32, width),
		missing: make([]float32, width), hotClips: make([]int64, width),
	}
	for j := range width {
		var off, on, null bool
		in.base[j], off = s.apply(j, 0)
		in.hot[j], on = s.apply(j, 1)
		in.missing[j], null = s.apply(j, missing[j])
		in.hotClips[j] = count(on) - count(off)
		in.baseClips += count(off)
		in.missingClips += count(null)
	}
	for j := range width {
		in.hotClips[j] += in.baseClips
	}
	return in
}

// count returns 1 for true.
func count(v bool) int64 {
	if v {
		return 1
	}
	return 0
}

// setIndicators writes a boolean or category column to the dimensions from at on.
func (b *block) setIndicators(at int, codes []int32, in *indicators) {
	width := len(in.base)
	for i, k := range codes[:len(b.rows)] {
		to := b.x[i*b.dim+at:][:width]
		switch {
		case k >= 0:
			copy(to, in.base)
			to[k] = in.hot[k]
			b.counts.Clipped += in.hotClips[k]
		case k == nullCode:
			copy(to, in.missing)
			b.counts.Imputed++
			b.counts.Clipped += in.missingClips
		default:
			copy(to, in.base)
			b.counts.Clipped += in.baseClips
		}
	}
}

// countUnseen counts the categories that have no code.
func (b *block) countUnseen(codes []int32) {
	for _, k := range codes[:len(b.rows)] {
		b.counts.UnseenCategory += count(k == unseenCode)
	}
}
