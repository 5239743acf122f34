package training

import (
	"fmt"
	"math"
)

// CodeClasses writes the outputs for rows of class 0..k-1 into dst, len(class)×k row-major: +1 for
// the class of the row and −1 for the others. Two classes need one output, +1 for class 1 and −1
// for class 0, so k = 2 and k = 1 both write len(class) values. It panics on a class outside 0..k-1
// and on a dst of another length.
func CodeClasses(dst []float32, class []int32, k int) {
	outputs := k
	if k <= 2 {
		k, outputs = 2, 1
	}
	if len(dst) != len(class)*outputs {
		panic(fmt.Sprintf("training: %d rows of %d outputs coded into %d values", len(class), outputs, len(dst)))
	}
	for n, c := range class {
		if c < 0 || int(c) >= k {
			panic(fmt.Sprintf("training: class %d of %d", c, k))
		}
		row := dst[n*outputs : (n+1)*outputs]
		for j := range row {
			row[j] = -1
		}
		if outputs > 1 {
			row[c] = 1
		} else if c == 1 {
			row[0] = 1
		}
	}
}

// UnknownClass stands for a class that a model does not know. Every decision for such a row is
// wrong.
const UnknownClass = -1

// CodeUnknownClass writes the outputs of a row of [UnknownClass] into dst.
func CodeUnknownClass(dst []float32) { clear(dst) }

// CodedClass returns the class of the outputs that [CodeClasses] or [CodeUnknownClass] wrote for a
// row.
func CodedClass(y []float32) int32 {
	if y[0] == 0 {
		return UnknownClass
	}
	return DecideClass(y, len(y))
}

// DecideClass returns the class for the outputs of a row: with one output, 1 if it is positive and
// otherwise 0; with several, the index of the largest, the lower index on a tie. It reverses
// [CodeClasses].
func DecideClass(pred []float32, outputs int) int32 { return DecideAbove(pred, outputs, 0) }

// DecideAbove is [DecideClass] with another boundary between two classes: class 1 is decided if its
// output is above the cut. More classes have no cut.
func DecideAbove(pred []float32, outputs int, cut float32) int32 {
	if len(pred) != outputs || outputs == 0 {
		panic(fmt.Sprintf("training: %d outputs, given %d values", outputs, len(pred)))
	}
	if outputs == 1 {
		if pred[0] > cut {
			return 1
		}
		return 0
	}
	best := 0
	for k, v := range pred {
		if v > pred[best] {
			best = k
		}
	}
	return int32(best)
}

// Probabilities writes the probabilities of the classes under the logistic loss into dst, from the
// outputs of a row. Two classes have one output f and the probabilities 1/(1 + e^f) and 1/(1 +
// e^−f). More classes have the softmax. It panics unless dst has one value for each class.
func Probabilities(dst, pred []float32) {
	if len(pred) == 1 && len(dst) == 2 {
		f := float64(pred[0])
		dst[0], dst[1] = float32(1/(1+math.Exp(f))), float32(1/(1+math.Exp(-f)))
		return
	}
	if len(dst) != len(pred) || len(pred) < 2 {
		panic(fmt.Sprintf("training: %d probabilities from %d outputs", len(dst), len(pred)))
	}
	largest := pred[0]
	for _, v := range pred[1:] {
		largest = max(largest, v)
	}
	var sum float64
	for k, v := range pred {
		e := 1.
		if v != largest { // the difference of infinite outputs is not 0
			e = math.Exp(float64(v) - float64(largest))
		}
		dst[k], sum = float32(e), sum+e
	}
	for k, e := range dst {
		dst[k] = float32(float64(e) / sum)
	}
}
