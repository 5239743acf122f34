package training

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"
)

// splitTag separates the hash from every other hash of the same identities. Without it the rows
// held out here could be the very rows that were held out of the scores.
const splitTag = "held-out"

// RowID names a row by source partition, source offset and number in the message. Log, if known, is
// the log to which the partition belonged. Identity decides whether the row is held out: rows with
// equal identities are on the same side.
type RowID struct {
	Identity  uint64 `json:"-"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	Row       int32  `json:"row"`
	Log       string `json:"log,omitempty"`
}

// IdentityHash returns the hash of a row's identity by which it is held out: XXH64 (seed 0) of 24
// bytes, little-endian: "held-out" in ASCII, seed, identity.
func IdentityHash(seed, identity uint64) uint64 {
	var b [24]byte
	copy(b[:8], splitTag)
	binary.LittleEndian.PutUint64(b[8:], seed)
	binary.LittleEndian.PutUint64(b[16:], identity)
	return xxhash.Sum64(b[:])
}

// Hash returns [IdentityHash] of the row's identity.
func (r RowID) Hash(seed uint64) uint64 { return IdentityHash(seed, r.Identity) }

// Below reports whether the row's hash puts it into this fraction of all rows, see [HeldOut].
func (r RowID) Below(seed uint64, fraction float64) bool { return HeldOut(seed, r.Identity, fraction) }

// HeldOut reports whether the rows with an identity are held out from fitting: if its hash is below
// fraction·2⁶⁴. The split does not depend on when or where a row is read, and rows with equal
// identities are on the same side. No rows are held out at fraction <= 0 (or NaN), all rows at
// fraction >= 1.
func HeldOut(seed, identity uint64, fraction float64) bool {
	if !(fraction > 0) {
		return false
	}
	return fraction >= 1 || IdentityHash(seed, identity) < uint64(math.Ldexp(fraction, 64))
}
