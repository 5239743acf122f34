package training

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"
)

// splitTag separates the hash from every other hash of the same coordinates. Without it the rows
// held out here could be the very rows that were sampled for the scores.
const splitTag = "held-out"

// RowID identifies a row by source partition, source offset and number in the message. Log, if
// known, is the log to which the partition belonged. It is not part of the hash.
type RowID struct {
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
	Row       int32  `json:"row"`
	Log       string `json:"log,omitempty"`
}

// Hash returns the row's 64-bit hash: xxHash64 (seed 0) of 32 bytes, all integers little-endian:
//
//	0  "held-out" (ASCII)
//	8  seed, 64 bits unsigned
//	16 offset, 64 bits two's complement
//	24 partition, 32 bits two's complement
//	28 row, 32 bits two's complement
func (r RowID) Hash(seed uint64) uint64 {
	var b [32]byte
	copy(b[:8], splitTag)
	binary.LittleEndian.PutUint64(b[8:], seed)
	binary.LittleEndian.PutUint64(b[16:], uint64(r.Offset))
	binary.LittleEndian.PutUint32(b[24:], uint32(r.Partition))
	binary.LittleEndian.PutUint32(b[28:], uint32(r.Row))
	return xxhash.Sum64(b[:])
}

// HeldOut reports whether the row at (partition, offset, row) is held out from fitting. It is if
// the hash of its RowID is below fraction·2⁶⁴, so the split does not depend on when or where a row
// is read. No rows are held out at fraction <= 0 (or NaN), all rows at fraction >= 1.
func HeldOut(seed uint64, partition int32, offset int64, row int32, fraction float64) bool {
	return RowID{Partition: partition, Offset: offset, Row: row}.Below(seed, fraction)
}

// Below reports whether the row's hash puts it into this fraction of all rows: none at fraction <=
// 0 (or NaN), all at fraction >= 1.
func (r RowID) Below(seed uint64, fraction float64) bool {
	if !(fraction > 0) {
		return false
	}
	return fraction >= 1 || r.Hash(seed) < uint64(math.Ldexp(fraction, 64))
}
