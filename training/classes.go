package training

import "fmt"

// CodeClasses writes the outputs of rows of class 0..k-1 into dst: one-vs-rest, +1 for the row's class
// and −1 for the others, len(class)×k row-major. Two classes need one output, +1 for class 1 and −1 for
// class 0, so k = 2 and k = 1 both write len(class) values. It panics on a class outside 0..k-1 and on a
// dst of another length.
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

// DecideClass returns the class of one row's outputs: with one output, 1 when it is positive and else 0;
// with several, the number of the greatest, the lower one on a tie. It undoes CodeClasses.
func DecideClass(pred []float32, outputs int) int32 {
	if len(pred) != outputs || outputs == 0 {
		panic(fmt.Sprintf("training: %d outputs, given %d values", outputs, len(pred)))
	}
	if outputs == 1 {
		if pred[0] > 0 {
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
