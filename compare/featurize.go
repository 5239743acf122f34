package compare

import (
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// eachTrainingRow calls add with the features of each training row, in order; half is 1 for
// held-out rows, on which λ is chosen, and 0 for the others.
func (r *repeat) eachTrainingRow(t *scoring.Transformer, add func(row, half int, z []float32)) {
	m := t.Len()
	t.EachBlock(r.train.x, r.train.rows, 0, func(phi []float32, first, next int) {
		for row := first; row < next; row++ {
			half := 0
			if r.heldOut[row] {
				half = 1
			}
			add(row, half, phi[(row-first)*m:(row-first+1)*m])
		}
	})
}

// sumProducts returns the sums of the training rows for fitting, and of the held-out ones.
func (r *repeat) sumProducts(t *scoring.Transformer) (fit, heldOut *training.Sums) {
	outputs := r.train.outputs
	sums := [2]*training.Sums{training.NewSums(t.Len(), outputs), training.NewSums(t.Len(), outputs)}
	r.eachTrainingRow(t, func(row, half int, z []float32) {
		sums[half].Add(z, 1, r.train.y[row*outputs:(row+1)*outputs])
	})
	return sums[0], sums[1]
}

// keepRows returns the training rows for fitting, and the held-out ones, with their classes.
func (r *repeat) keepRows(t *scoring.Transformer) (fit, heldOut *training.Rows) {
	kept := [2]*training.Rows{training.NewRows(t.Len(), r.train.classes), training.NewRows(t.Len(), r.train.classes)}
	r.eachTrainingRow(t, func(row, half int, z []float32) { kept[half].Add(z, r.train.class[row:row+1]) })
	return kept[0], kept[1]
}
