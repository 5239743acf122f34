package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

const (
	// minSample is the minimum number of rows that are scored, if there are that many: with fewer, scores are
	// noise.
	minSample = 50
	// bandwidthRows is how many training rows the nearest-neighbour rule uses.
	bandwidthRows = 1000
	// bandwidthTag separates the hash of the bandwidth's rows from that of the scored rows ("sigma" in ASCII).
	bandwidthTag = 0x7369676d61
)

// sampleSize returns N0: the share of n rows, rounded, at most the bound, but at least minSample if there are that
// many.
func (o Options) sampleSize(n int) int {
	wanted := int(math.Round(o.Sample * float64(n)))
	if o.SampleRows > 0 {
		wanted = min(wanted, o.SampleRows)
	}
	return min(max(wanted, minSample), n)
}

// firstByHash returns, of the row numbers below n that are not left out, the count with the smallest hashes, or all if
// there are fewer, ascending. without is nil if none is left out.
func firstByHash(seed uint64, n, count int, without []bool) []int32 {
	type hashed struct {
		hash uint64
		row  int32
	}
	all := make([]hashed, 0, n)
	for i := range n {
		if without == nil || !without[i] {
			all = append(all, hashed{scoring.Hash(seed, 0, int64(i)), int32(i)})
		}
	}
	slices.SortFunc(all, func(a, b hashed) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.row, b.row)) })
	first := make([]int32, min(count, len(all)))
	for i := range first {
		first[i] = all[i].row
	}
	slices.Sort(first)
	return first
}

// heldOutRows reports for each of n training rows whether λ is chosen on it. Features are never chosen on such rows.
func heldOutRows(seed uint64, n int, share float64) []bool {
	heldOut := make([]bool, n)
	for i := range heldOut {
		heldOut[i] = training.HeldOut(seed, 0, int64(i), 0, share)
	}
	return heldOut
}

// countTrue counts marked rows.
func countTrue(marked []bool) (n int) {
	for _, m := range marked {
		if m {
			n++
		}
	}
	return n
}
