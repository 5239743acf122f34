package gram

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/training/internal/kernel"
)

// coding centres and scales each column before it is multiplied: (value − shift)·scale. Until it is
// fixed, it leaves values unchanged.
type coding struct {
	fixed        bool
	ones         int       // index of the column of ones, which stays unchanged
	shift, scale []float32 // by column, whole panels
}

func newCoding(columns int) coding {
	n := kernel.RoundUp(columns, panelColumns)
	c := coding{ones: columns - 1, shift: make([]float32, n), scale: make([]float32, n)}
	for i := range c.scale {
		c.scale[i] = 1
	}
	return c
}

func (c coding) clone() coding {
	c.shift, c.scale = slices.Clone(c.shift), slices.Clone(c.scale)
	return c
}

// fix derives the coding from the first rows, at least one, which are uncoded in buffer, and codes
// them.
func (c *coding) fix(buffer []float32, rows int) {
	c.fixed = true
	for at := 0; at < len(c.shift); at += panelColumns {
		panel := buffer[at*bufferRows:][:rows*panelColumns]
		shift, scale := c.shift[at:at+panelColumns], c.scale[at:at+panelColumns]
		copyMeans(shift, panel)
		if i := c.ones - at; i >= 0 && i < panelColumns {
			shift[i] = 0
		}
		copyScales(scale, panel, shift)
		if i := c.ones - at; i >= 0 && i < panelColumns {
			scale[i] = 1
		}
		for ; len(panel) > 0; panel = panel[panelColumns:] {
			kernel.Code(panel, 0, panel[:panelColumns], shift, scale)
		}
	}
}

// copyMeans sets shift to the means of the columns of panel. The mean of a constant is that
// constant.
func copyMeans(shift, panel []float32) {
	var sum [panelColumns]float64
	for i, v := range panel {
		sum[i%panelColumns] += float64(v)
	}
	for j, v := range sum {
		shift[j] = float32(v / float64(len(panel)/panelColumns))
	}
}

// largestScale bounds the exponent of a scale, so that a scale and its inverse stay away from the
// limits of float32.
const largestScale = 100

// copyScales sets scale to the powers of two that bring the largest distance from shift to [0.5,
// 1), so that no product of usual values is too large or too small for float32.
func copyScales(scale, panel, shift []float32) {
	var largest [panelColumns]float64
	for i, v := range panel {
		j := i % panelColumns
		largest[j] = max(largest[j], math.Abs(float64(v)-float64(shift[j])))
	}
	for j, v := range largest {
		scale[j] = 1
		if v > 0 && !math.IsInf(v, 0) {
			scale[j] = scaleOf(v)
		}
	}
}

// scaleOf returns the power of two that brings a distance to [0.5, 1), or as near as largestScale
// allows.
func scaleOf(distance float64) float32 {
	_, exponent := math.Frexp(distance)
	return float32(math.Ldexp(1, min(max(-exponent, -largestScale), largestScale)))
}

// largestCoded bounds coded values, so that the squares of a block fit into a float32.
const largestCoded = 1 << 60

// widened returns a coding that keeps these values of the columns from first on within
// largestCoded, and whether it differs from c. Infinite values have no scale.
func (c coding) widened(first int, values []float32) (coding, bool) {
	changed := false
	for i, v := range values {
		distance := math.Abs(float64(v) - float64(c.shift[first+i]))
		if !(distance*float64(c.scale[first+i]) > largestCoded) || math.IsInf(distance, 0) {
			continue
		}
		if !changed {
			c, changed = c.clone(), true
		}
		c.scale[first+i] = scaleOf(distance)
	}
	return c, changed
}

// recoding converts values from one coding to another: value·scale + shift, by column.
type recoding struct{ scale, shift []float64 }

// from returns the recoding from other to c.
func (c coding) from(other coding) recoding {
	r := recoding{scale: make([]float64, len(c.shift)), shift: make([]float64, len(c.shift))}
	for i := range r.scale {
		r.scale[i] = float64(c.scale[i]) / float64(other.scale[i])
		r.shift[i] = (float64(other.shift[i]) - float64(c.shift[i])) * float64(c.scale[i])
	}
	return r
}
