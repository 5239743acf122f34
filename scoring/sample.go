package scoring

import (
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// Hash returns the hash by which a row is sampled: XXH64 with seed 0 over 24 bytes, little endian:
// seed, partition sign-extended to 64 bits, ordinal. It does not depend on how rows are divided
// into messages.
func Hash(seed uint64, partition int32, ordinal int64) uint64 {
	return NewHasher(seed, partition).Row(ordinal)
}

// CalibrationTag separates the rows that encoder and bandwidth are learned from, those with the
// lowest hashes of the seed xor this ("calib" in ASCII), from the scored rows.
const CalibrationTag = 0x63616c6962

// Hasher computes the hashes of a partition's rows: [Hash] with everything but the ordinal done
// once.
type Hasher uint64

// The primes of XXH64, and the bytes that Hash hashes.
const (
	prime1    = 11400714785074694791
	prime2    = 14029467366897019727
	prime3    = 1609587929392839161
	prime4    = 9650029242287828579
	prime5    = 2870177450012600261
	hashBytes = 24
)

// NewHasher returns the hasher of a partition's rows.
func NewHasher(seed uint64, partition int32) Hasher {
	return Hasher(hashWord(hashWord(prime5+hashBytes, seed), uint64(int64(partition))))
}

// Row returns the hash of a row.
func (h Hasher) Row(ordinal int64) uint64 {
	v := hashWord(uint64(h), uint64(ordinal))
	v = (v ^ v>>33) * prime2
	v = (v ^ v>>29) * prime3
	return v ^ v>>32
}

// hashWord adds eight bytes to the state of XXH64.
func hashWord(state, word uint64) uint64 {
	state ^= bits.RotateLeft64(word*prime2, 31) * prime1
	return bits.RotateLeft64(state, 27)*prime1 + prime4
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

// heldOutTag separates the hash of held-out rows from other hashes of the same identities.
const heldOutTag = "a fifth"

// HeldOut reports whether a sampled row with this identity is held out, so that a criterion does
// not learn from it ([Criterion.HoldsOut]). On average that is every fifth identity: the identities
// whose XXH64 with seed 0 over 23 bytes is a multiple of five: "a fifth" in ASCII, then, little
// endian, seed and identity.
func HeldOut(seed, identity uint64) bool {
	var b [len(heldOutTag) + 16]byte
	copy(b[:], heldOutTag)
	binary.LittleEndian.PutUint64(b[len(heldOutTag):], seed)
	binary.LittleEndian.PutUint64(b[len(heldOutTag)+8:], identity)
	return xxhash.Sum64(b[:])%heldOutEvery == 0
}

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
	// Identities are equal for rows that are held out together, such as copies, [Rows]; nil if all
	// differ. Standard errors of held-out losses take the rows of an identity for one observation.
	Identities []uint64
	// Parts are the row counts of the partitions, in order, Rows in all; nil for one partition.
	// Sums are made of each part and merged in that order.
	Parts []int
}
