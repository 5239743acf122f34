package encoder

import (
	"math"

	"github.com/eerf-stream/eerf/scoring"
)

// HasTail reports whether dimension j of a standardized column continues as a logarithm beyond the
// clip: numbers and vectors do. Times stay cut, because times after the calibration rows are the
// future, not outliers, and features should not follow them there; all other dimensions are bounded
// anyway.
func (e *Encoder) HasTail(c *Column, j int) bool {
	return e.Tail == TailLog && isNumeric(c.Kind) && j < c.values()
}

// MaxTail is the greatest |z|/c of a tail: values beyond it are garbage, which should not outweigh
// all other rows.
const MaxTail = 1 << 20

// clipped returns the dimension for a scaled value z beyond c: ±c, or with a tail ±c·(1 +
// ln(|z|/c)), which continues the identity with the same slope and keeps the order of outliers, up
// to |z| = MaxTail·c.
func clipped(z, c float64, tail bool) float32 {
	if !tail {
		return float32(math.Copysign(c, z))
	}
	ratio := min(math.Abs(z)/c, MaxTail)
	return float32(math.Copysign(c*(1+scoring.Log(ratio)), z))
}

// unclipped returns the scaled value that x stands for in a dimension that has a tail.
func unclipped(x, c float64) float64 {
	if math.Abs(x) <= c {
		return x
	}
	return math.Copysign(c*min(math.Exp(math.Abs(x)/c-1), MaxTail), x)
}

// Unclip replaces the logarithms in encoded rows, [rows·Dim], by the values that they stand for,
// for models that are linear in the columns. It reports whether there were any.
func (e *Encoder) Unclip(x []float32) (found bool) {
	if e.Tail != TailLog {
		return false
	}
	for first := 0; first < len(x); first += e.Dim {
		at := first
		for i := range e.Columns {
			c := &e.Columns[i]
			for j := range c.Scale {
				if v := float64(x[at+j]); math.Abs(v) > e.Clip && e.HasTail(c, j) {
					x[at+j], found = float32(unclipped(v, e.Clip)), true
				}
			}
			at += c.Width
		}
	}
	return found
}
