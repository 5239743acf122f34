package encoder

import (
	"math"

	"github.com/eerf-stream/eerf/scoring"
)

// foldShift bounds |mean|/scale of an encoder that folds. In float32 the sum of raw terms x·(ω/s) loses up to √(1 +
// foldShift²) times what the sum of encoded terms loses, and 1.4 times at the usual bandwidths, where most of a sum
// is its phase: see docs/internals/mathematics.md.
const foldShift = 4

// foldScale and its inverse bound the scale of an encoder that folds, so that raw values within MaxMagnitude of it,
// and ω divided by it, are far from the limits of float32.
const foldScale = 0x1p64

// Fold returns the map from the rows of [Encoder.EncodeRaw] to those of [Encoder.Encode], for features that take it
// into their ω, or nil for an encoder that does not fold. It folds if every column is numeric or a vector, none has a
// dimension for missing values, nothing is clipped, and no mean exceeds 4 times its scale. The answer depends on the
// encoder alone. The encoder must be valid.
func (e *Encoder) Fold() *scoring.Affine {
	a := &scoring.Affine{Shift: make([]float64, 0, e.Dim), Scale: make([]float64, 0, e.Dim)}
	for i := range e.Columns {
		c := &e.Columns[i]
		if !isNumeric(c.Kind) || c.Missing {
			return nil
		}
		if !e.standardizes(c.Kind) {
			a.Shift = append(a.Shift, make([]float64, c.Width)...)
			a.Scale = append(a.Scale, ones(c.Width)...)
			continue
		}
		if e.Clip > 0 {
			return nil
		}
		a.Shift, a.Scale = append(a.Shift, c.Mean...), append(a.Scale, c.Scale...)
	}
	for j, scale := range a.Scale {
		if scale > foldScale || scale < 1/foldScale || math.Abs(a.Shift[j]) > foldShift*scale {
			return nil
		}
	}
	return a
}

// rawBound returns a magnitude below which raw values of all dimensions with these scales are within MaxMagnitude
// once encoded: half of the magnitude leaves room for the means and for rounding.
func rawBound(scale []float64) float32 {
	least := math.Inf(1)
	for _, s := range scale {
		least = min(least, s)
	}
	return float32(least * (MaxMagnitude / 2))
}
