package scoring

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// Hash returns the hash by which a row is sampled: XXH64 with seed 0 over 24 bytes, little endian:
// seed, partition sign-extended to 64 bits, ordinal. It does not depend on how rows are divided
// into messages.
func Hash(seed uint64, partition int32, ordinal int64) uint64 {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	binary.LittleEndian.PutUint64(b[8:], uint64(int64(partition)))
	binary.LittleEndian.PutUint64(b[16:], uint64(ordinal))
	return xxhash.Sum64(b[:])
}

// Sampled reports whether a row with this hash is in a sample of the given rate: hash < rate·2⁶⁴. A
// rate of 1 or more takes all rows, a rate of 0 or less (or NaN) none. The rows of a lower rate are
// among those of a higher one.
func Sampled(hash uint64, rate float64) bool {
	if rate >= 1 {
		return true
	}
	return rate > 0 && hash < uint64(rate*0x1p64)
}

// heldOutEvery is the number of sampled rows per held-out row.
const heldOutEvery = 5

// HeldOut reports whether a sampled row with this hash is held out, so that a criterion does not
// learn from it ([Criterion.HoldsOut]). On average that is every fifth row.
func HeldOut(hash uint64) bool { return hash%heldOutEvery == 0 }

// Sample is the sampled rows of an exploration in memory, including the held-out rows, which are
// not in the sums of the first round.
type Sample struct {
	// X is row-major [Rows·Dim], encoded and finite.
	X []float32
	// Rows is n, Dim is d, the numbers of a row.
	Rows, Dim int
	// Targets are the raw outputs, as [Accumulator.Add] takes them.
	Targets Targets
	// HeldOut marks the rows that are held out, [Rows]; nil for none.
	HeldOut []bool
	// Parts are the row counts of the partitions, in order, Rows in all; nil for one partition.
	// Sums are made of each part and merged in that order.
	Parts []int
}
