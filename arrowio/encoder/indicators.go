package encoder

import (
	"github.com/apache/arrow/go/v15/arrow"
)

// indicators holds the dimensions that a boolean or a category writes for each code.
type indicators struct {
	// base is written first: every indicator unset. hot[k] replaces dimension k for code k.
	base, hot []float32
	// missing is written for a null: base for categories, the mean for a boolean.
	missing []float32
	// other is the code of every value without its own, unseenCode without a dimension for other
	// values.
	other int32
	// The clipped dimensions of base, of missing, and of a row with code k.
	baseClips, missingClips int64
	hotClips                []int64
}

// newIndicators prepares the indicators of a column.
func newIndicators(s *scaling, c *Column) indicators {
	width := c.Width
	missing := make([]float64, width) // the unscaled values for a null
	if c.Kind == Bool {
		missing[0] = c.Mean[0]
	}
	if c.Missing {
		missing[width-1] = 1
	}
	in := indicators{
		other: unseenCode,
		base:  make([]float32, width), hot: make([]float32, width),
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
	if c.Other {
		in.other = int32(len(c.Categories))
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
	for i, k := range codes[:b.rows.len()] {
		to := b.x[i*b.dim+at:][:width]
		if k == unseenCode {
			k = in.other
		}
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
func (b *block) countUnseen(codes []int32, a arrow.Array) {
	var found int64
	for i, k := range codes[:b.rows.len()] {
		if k != unseenCode {
			continue
		}
		if found++; found+b.tally.Unseen.Values == 1 {
			t := textsOf(a)
			text, _ := t.at(b.rows.row(i))
			b.tally.Unseen.Row, b.tally.Unseen.First = b.number(i), quoted(text)
		}
	}
	b.tally.Unseen.Values += found
	b.counts.UnseenCategory += found
}
