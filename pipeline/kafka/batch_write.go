package kafka

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// inlineBytes is the size up to which a value is copied next to its neighbours. A longer one is a
// separate piece and is sent without a copy.
const inlineBytes = 16 << 10

// batchWriter encodes a record batch, see [batchHeaderBytes], as pieces that follow each other on
// the wire.
type batchWriter struct {
	framing []byte // all bytes except long values; allocated once, because pieces point into it
	cut     int    // bytes of framing that are already in pieces
	pieces  [][]byte
}

// sequence identifies a batch within its partition by its writer and the number of its first
// record.
type sequence struct {
	producer int64
	epoch    int16
	first    int32
}

// unsequenced marks a batch that brokers cannot distinguish from its repetition.
var unsequenced = sequence{-1, -1, -1}

// encodeBatch returns a batch of at least one record, without copying long values, and its size.
// Records without a time get now.
func encodeBatch(
	records []pipeline.Record,
	now time.Time,
	compression Compression,
	as sequence,
) (pieces [][]byte, size int, err error) {
	w := &batchWriter{framing: make([]byte, batchHeaderBytes, batchHeaderBytes+framingBound(records))}
	first, greatest := timestamp(&records[0], now), int64(0)
	for i := range records {
		millis := timestamp(&records[i], now)
		greatest = max(greatest, millis)
		w.record(&records[i], millis-first, i)
	}
	w.flush()
	if compression != CompressionNone {
		if err := w.compress(compression); err != nil {
			return nil, 0, err
		}
	}
	for _, piece := range w.pieces {
		size += len(piece)
	}
	w.header(size, len(records), compression, first, greatest, as)
	return w.pieces, size, nil
}

// timestamp returns the time of a record in milliseconds.
func timestamp(r *pipeline.Record, now time.Time) int64 {
	if r.Time.IsZero() {
		return now.UnixMilli()
	}
	return r.Time.UnixMilli()
}

// framingBound is an upper bound of the encoded size of records without their long values.
func framingBound(records []pipeline.Record) int {
	const lengths = 7 * binary.MaxVarintLen32 // includes times, offsets, attributes
	n := 0
	for i := range records {
		r := &records[i]
		n += lengths + len(r.Key)
		if len(r.Value) <= inlineBytes {
			n += len(r.Value)
		}
		for _, h := range r.Headers {
			n += 2*binary.MaxVarintLen32 + len(h.Key) + len(h.Value)
		}
	}
	return n
}

// record appends one record.
func (w *batchWriter) record(r *pipeline.Record, timeDelta int64, number int) {
	size := 1 + varintSize(timeDelta) + varintSize(int64(number)) + bytesSize(r.Key) + bytesSize(r.Value) +
		varintSize(int64(len(r.Headers)))
	for _, h := range r.Headers {
		size += varintSize(int64(len(h.Key))) + len(h.Key) + bytesSize(h.Value)
	}
	w.varint(int64(size))
	w.framing = append(w.framing, 0) // attributes (Kafka defines none)
	w.varint(timeDelta)
	w.varint(int64(number))
	w.bytes(r.Key)
	w.value(r.Value)
	w.varint(int64(len(r.Headers)))
	for _, h := range r.Headers {
		w.varint(int64(len(h.Key)))
		w.framing = append(w.framing, h.Key...)
		w.bytes(h.Value)
	}
}

func (w *batchWriter) varint(v int64) { w.framing = binary.AppendVarint(w.framing, v) }

// bytes appends bytes after their length; nil has the length -1.
func (w *batchWriter) bytes(b []byte) {
	w.varint(lengthOf(b))
	w.framing = append(w.framing, b...)
}

// value appends a value; a long one becomes a separate piece.
func (w *batchWriter) value(b []byte) {
	if len(b) <= inlineBytes {
		w.bytes(b)
		return
	}
	w.varint(lengthOf(b))
	w.flush()
	w.pieces = append(w.pieces, b)
}

// flush appends the framing since the last piece as a piece.
func (w *batchWriter) flush() {
	if next := len(w.framing); next > w.cut {
		w.pieces = append(w.pieces, w.framing[w.cut:next:next])
		w.cut = next
	}
}

// compress compresses the records after the header.
func (w *batchWriter) compress(compression Compression) error {
	var out bytes.Buffer
	to := compression.codec().Codec().NewWriter(&out)
	w.pieces[0] = w.pieces[0][batchHeaderBytes:]
	for _, piece := range w.pieces {
		if _, err := to.Write(piece); err != nil {
			return fmt.Errorf("compress records: %w", err)
		}
	}
	if err := to.Close(); err != nil {
		return fmt.Errorf("compress records: %w", err)
	}
	w.pieces = [][]byte{w.framing[:batchHeaderBytes], out.Bytes()}
	return nil
}

// header fills in the header, at the start of the first piece, after all records.
func (w *batchWriter) header(size, count int, compression Compression, first, greatest int64, as sequence) {
	h, be := w.framing[:batchHeaderBytes], binary.BigEndian
	be.PutUint32(h[8:], uint32(size-batchLengthBytes))
	be.PutUint32(h[12:], ^uint32(0)) // leader epoch: unknown
	h[16] = batchFormat
	be.PutUint16(h[21:], uint16(compression.number()))
	be.PutUint32(h[23:], uint32(count-1))
	be.PutUint64(h[27:], uint64(first))
	be.PutUint64(h[35:], uint64(greatest))
	be.PutUint64(h[43:], uint64(as.producer))
	be.PutUint16(h[51:], uint16(as.epoch))
	be.PutUint32(h[53:], uint32(as.first))
	be.PutUint32(h[57:], uint32(count))
	checksum := crc32.Update(0, castagnoli, w.pieces[0][batchCheckedBytes:])
	for _, piece := range w.pieces[1:] {
		checksum = crc32.Update(checksum, castagnoli, piece)
	}
	be.PutUint32(h[17:], checksum)
}

// lengthOf is the length as encoded in records: -1 for nil.
func lengthOf(b []byte) int64 {
	if b == nil {
		return -1
	}
	return int64(len(b))
}

// bytesSize is the number of bytes that the method bytes appends.
func bytesSize(b []byte) int { return varintSize(lengthOf(b)) + len(b) }

// varintSize is the number of bytes of v as a varint: seven bits of its zigzag form in each.
func varintSize(v int64) int { return (bits.Len64(uint64(v<<1^v>>63)|1) + 6) / 7 }
