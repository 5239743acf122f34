package compare

import (
	"math"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// labelCoding maps each label y_k of a regression to gain_k·y_k + offset_k, which is in [-1, 1]
// over the training rows. The relative squared error depends on the label's zero, and this is the
// paper's choice.
type labelCoding struct{ gain, offset []float64 }

// codingOf returns the coding for the range of the training labels. A constant label is left
// unchanged.
func codingOf(d *datasets.Data) labelCoding {
	if d.Task != scoring.Regression {
		return labelCoding{}
	}
	c := labelCoding{make([]float64, d.Outputs), make([]float64, d.Outputs)}
	for k := range d.Outputs {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range d.N {
			y := float64(d.Y[i*d.Outputs+k])
			low, high = min(low, y), max(high, y)
		}
		c.gain[k] = 1
		if half := high/2 - low/2; half > 0 {
			c.gain[k], c.offset[k] = 1/half, -(low/2+high/2)/half
		}
	}
	return c
}

// units converts coded labels back to the units of the label.
func (c labelCoding) units(label *encoder.Label) training.Units {
	return func(k int, coded float64) float64 {
		return label.Transform.Invert((coded-c.offset[k])/c.gain[k] + label.Mean[k])
	}
}

// apply codes row-major labels.
func (c labelCoding) apply(y []float32) []float32 {
	coded := make([]float32, len(y))
	for i, v := range y {
		k := i % len(c.gain)
		coded[i] = float32(c.gain[k]*float64(v) + c.offset[k])
	}
	return coded
}
