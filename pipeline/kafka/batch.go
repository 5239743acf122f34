package kafka

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/eerf-stream/eerf/pipeline"
)

// A record batch of format 2 consists of these big-endian fields, with their sizes: base offset 8,
// length of the rest 4, leader epoch 4, format 1, checksum of the rest 4, attributes 2, last offset
// delta 4, first and greatest time 8 each, producer id 8, producer epoch 2, sequence 4, number of
// records 4, records.
const (
	batchHeaderBytes  = 61
	batchLengthBytes  = 12 // up to and including the length field
	batchCheckedBytes = 21 // the checksum covers the bytes after these
	batchFormat       = 2
)

// Bits of the attributes.
const (
	codecBits        = 0x07
	appendTimeBit    = 0x08
	transactionalBit = 0x10
	controlBit       = 0x20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// batch is the header of a record batch and its still encoded records.
type batch struct {
	base, last int64 // offsets; last includes records that compaction has removed
	attributes uint16
	firstTime  int64 // milliseconds
	maxTime    int64
	producer   int64
	count      int32
	body       []byte
	bytes      int // the whole batch
	checksum   uint32
	epoch      int32 // of the leader
}

// mark identifies the batch.
func (b *batch) mark() pipeline.Mark {
	return pipeline.Mark{Offset: b.base, Checksum: b.checksum, Epoch: b.epoch}
}

func (b *batch) isControl() bool       { return b.attributes&controlBit != 0 }
func (b *batch) isTransactional() bool { return b.attributes&transactionalBit != 0 }

// unreadableError is a batch that cannot be returned. Reading continues at next, or at the offset
// after the requested one if that is greater.
type unreadableError struct {
	base, next int64
	err        error
}

func (u *unreadableError) Error() string { return u.err.Error() }
func (u *unreadableError) Unwrap() error { return u.err }

// errChecksum is separate from other corruption because the damage may have happened in transit.
var errChecksum = fmt.Errorf("%w: checksum mismatch", pipeline.ErrCorruptBatch)

// parseBatch reads the batch at the start of a record set. whole is false if the set ends within
// the batch, as it does when brokers cut it at the requested size.
func parseBatch(set []byte) (b batch, whole bool, err error) {
	if len(set) < batchHeaderBytes {
		return b, false, oldFormat(set)
	}
	if err := oldFormat(set); err != nil {
		return b, false, err
	}
	b = parseHeader(set)
	if b.bytes < batchHeaderBytes {
		err := fmt.Errorf("%w: %d bytes long", pipeline.ErrCorruptBatch, b.bytes)
		return b, false, &unreadableError{b.base, b.base + 1, err}
	}
	if b.bytes > len(set) {
		return b, false, nil
	}
	b.body = set[batchHeaderBytes:b.bytes]
	if !checksumOK(set[:b.bytes]) {
		return b, true, &unreadableError{b.base, nextAfterDamaged(&b, set[b.bytes:]), errChecksum}
	}
	if b.base < 0 || b.last < b.base || b.last == math.MaxInt64 {
		return b, true, &unreadableError{b.base, b.base + 1, fmt.Errorf("%w: base offset %d, last offset %d",
			pipeline.ErrCorruptBatch, b.base, b.last)}
	}
	return b, true, nil
}

// nextAfterDamaged returns the offset after a damaged batch: the base of the next batch if that one
// is intact, otherwise the offset stated in the damaged header.
func nextAfterDamaged(b *batch, rest []byte) int64 {
	if len(rest) < batchHeaderBytes {
		return b.last + 1
	}
	after := parseHeader(rest)
	whole := after.bytes >= batchHeaderBytes && after.bytes <= len(rest)
	if after.base <= b.base || !whole || !checksumOK(rest[:after.bytes]) {
		return b.last + 1
	}
	return after.base
}

// checksumOK reports whether the checksum of a whole batch is right.
func checksumOK(batch []byte) bool {
	return crc32.Checksum(batch[batchCheckedBytes:], castagnoli) == binary.BigEndian.Uint32(batch[17:])
}

// parseHeader reads the fields of a complete header.
func parseHeader(set []byte) batch {
	be := binary.BigEndian
	base := int64(be.Uint64(set))
	return batch{
		base:       base,
		bytes:      batchLengthBytes + int(int32(be.Uint32(set[8:]))),
		epoch:      int32(be.Uint32(set[12:])),
		checksum:   be.Uint32(set[17:]),
		attributes: be.Uint16(set[21:]),
		last:       base + int64(int32(be.Uint32(set[23:]))),
		firstTime:  int64(be.Uint64(set[27:])),
		maxTime:    int64(be.Uint64(set[35:])),
		producer:   int64(be.Uint64(set[43:])),
		count:      int32(be.Uint32(set[57:])),
	}
}

// oldFormat refuses message sets of formats 0 and 1, whose format byte is at the same position. A
// compressed set has the offset of its last message.
func oldFormat(set []byte) error {
	if len(set) <= 16 || set[16] == batchFormat {
		return nil
	}
	offset := int64(binary.BigEndian.Uint64(set))
	return &unreadableError{offset, offset + 1, fmt.Errorf("%w: format %d", pipeline.ErrOldFormat, set[16])}
}
