package training

import (
	"math"
	"slices"
)

// ranking measures how well a score separates the rows of two classes. Its figures depend only on
// the rows, not on their order. It takes 4 bytes per row.
type ranking struct {
	keys [2][]uint32 // scores by class, as numbers of the same order
}

// tie counts the rows of each class with the same score.
type tie [2]int64

// add adds a row with its score for class 1.
func (r *ranking) add(score float32, class int32) {
	r.keys[class] = append(r.keys[class], ordered(score))
}

// ordered maps a float32 to an integer with the same order; both zeros are equal.
func ordered(v float32) uint32 {
	bits := math.Float32bits(v + 0)
	if bits>>31 == 1 {
		return ^bits
	}
	return bits | 1<<31
}

// ties counts the rows by score, ascending.
func (r *ranking) ties() []tie {
	slices.Sort(r.keys[0])
	slices.Sort(r.keys[1])
	var ties []tie
	for a, b := r.keys[0], r.keys[1]; len(a)+len(b) > 0; {
		var t tie
		least := uint32(math.MaxUint32)
		for _, keys := range [][]uint32{a, b} {
			if len(keys) > 0 {
				least = min(least, keys[0])
			}
		}
		for ; len(a) > 0 && a[0] == least; a = a[1:] {
			t[0]++
		}
		for ; len(b) > 0 && b[0] == least; b = b[1:] {
			t[1]++
		}
		ties = append(ties, t)
	}
	return ties
}

// auc returns the share of pairs with a row of each class in which the row of class 1 has the
// larger score. A tie counts half. It is NaN unless both classes have rows.
func (r *ranking) auc() float64 {
	var below, pairs float64
	for _, t := range r.ties() {
		pairs += float64(float64(t[1]) * (below + float64(t[0])/2))
		below += float64(t[0])
	}
	return pairs / float64(len(r.keys[0])) / float64(len(r.keys[1]))
}

// averagePrecision returns the average precision of a class: Σ (recall − previous recall)·precision
// over the thresholds from the most certain row on. It is NaN unless the class has rows.
func (r *ranking) averagePrecision(class int) float64 {
	ties := r.ties()
	if class == 1 {
		slices.Reverse(ties)
	}
	var found, taken, sum float64
	for _, t := range ties {
		found += float64(t[class])
		taken += float64(t[0] + t[1])
		if t[class] > 0 {
			sum += float64(float64(t[class]) * found / taken)
		}
	}
	return sum / float64(len(r.keys[class]))
}
