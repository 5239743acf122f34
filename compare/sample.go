package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

const (
	// minSample is the minimum number of scored rows, as far as available: with fewer, scores are
	// noise.
	minSample = 50
	// bandwidthRows is the number of training rows in the nearest-neighbour rule.
	bandwidthRows = 1000
	// bandwidthTag separates the hash of the bandwidth's rows from that of the scored rows ("sigma"
	// in ASCII).
	bandwidthTag = 0x7369676d61
)

// sampleSize returns N0: the share of n rows, rounded and limited to SampleRows, but at least
// minSample or all rows.
func (o Options) sampleSize(n int) int {
	wanted := int(math.Round(o.Sample * float64(n)))
	if o.SampleRows > 0 {
		wanted = min(wanted, o.SampleRows)
	}
	return min(max(wanted, minSample), n)
}

// firstByHash returns the row numbers below n with the smallest hashes, ascending: count of them,
// or all if there are fewer. It omits the rows marked in without, which may be nil.
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

// heldOutRows marks the training rows on which λ is chosen, by their identities. Features are never
// chosen on them.
func heldOutRows(seed uint64, ids []uint64, share float64) []bool {
	heldOut := make([]bool, len(ids))
	for i, id := range ids {
		heldOut[i] = training.HeldOut(seed, id, share)
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
