package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/klauspost/compress/zstd"

	"github.com/eerf-stream/eerf/pipeline"
)

// minRecordBytes is the size of a record without key, value and headers: length, attributes, time,
// offset, key length, value length, number of headers.
const minRecordBytes = 7

// Memory of a decoded record and of a header, without the bytes that they alias.
const (
	recordCost = int(unsafe.Sizeof(pipeline.Record{}))
	headerCost = int(unsafe.Sizeof(pipeline.Header{}))
)

// errShort means that decoding needs more memory than the fetch holds, though no more than the
// budget.
var errShort = errors.New("more memory is needed to decode a batch")

// allowance limits the memory for decoding the set of one fetch. Memory whose size the input states
// is taken from it before it is allocated.
type allowance struct {
	left  int  // of the budget, which limits the readable batches; includes bytes already in the response
	room  int  // of the available memory
	short bool // room was too small
	taken int  // of room
}

// take takes n units of unit bytes, and reports whether they were left.
func (a *allowance) take(n, unit int) bool {
	if n > a.left/unit {
		return false
	}
	if n > a.room/unit {
		a.short = true
		return false
	}
	a.left -= n * unit
	a.room -= n * unit
	a.taken += n * unit
	return true
}

// takeShared takes bytes that are already in the response and its memory.
func (a *allowance) takeShared(n int) bool {
	if n > a.left {
		return false
	}
	a.left -= n
	return true
}

// setReader decodes record sets within a budget of memory: the decompressed bytes, the records and
// their headers.
type setReader struct {
	budget  int
	zstd    *zstd.Decoder
	streams sync.Pool // *zstd.Decoder, of small windows
}

func newSetReader(budget int) *setReader {
	return &setReader{
		budget:  budget,
		zstd:    newZstdDecoder(budget),
		streams: sync.Pool{New: func() any { return newZstdStream(zstdKeptBytes) }},
	}
}

func (s *setReader) close() { s.zstd.Close() }

// readWithin returns the records at or after from and the next offset. An unreadable batch, or one
// for which memory is short, ends the result before it, or is the error if it comes first. Offsets
// that a batch repeats, which no broker does, are returned once.
func (s *setReader) readWithin(
	memory *allowance,
	set []byte,
	from int64,
	aborted []abortedTransaction,
) (records []pipeline.Record, next int64, err error) {
	hidden := newTransactions(aborted)
	next = from
	for len(set) > 0 {
		b, whole, err := parseBatch(set)
		if err == nil && !whole {
			break
		}
		if err == nil && b.last >= next && !hidden.hides(&b) {
			records, err = s.records(records, &b, next, memory)
		}
		if err != nil {
			if next > from {
				break
			}
			if memory.short {
				err = errShort
			}
			return nil, from, err
		}
		next = max(next, b.last+1)
		set = set[b.bytes:]
	}
	return records, next, nil
}

// records appends the records of a batch.
func (s *setReader) records(to []pipeline.Record, b *batch, from int64, memory *allowance) ([]pipeline.Record, error) {
	fail := func(err error) ([]pipeline.Record, error) {
		return to, &unreadableError{b.base, b.last + 1, err}
	}
	body, err := s.expand(b.attributes&codecBits, b.body, memory)
	if err != nil {
		return fail(err)
	}
	if b.count < 0 || int(b.count) > len(body)/minRecordBytes {
		return fail(fmt.Errorf("%w: %d records in %d bytes", pipeline.ErrCorruptBatch, b.count, len(body)))
	}
	grown, ok := grow(to, int(b.count), memory)
	if !ok {
		return fail(fmt.Errorf("%d records, %d bytes: %w", b.count, len(body), pipeline.ErrOverBudget))
	}
	r := cursor{left: body, memory: memory}
	previous := b.base - 1
	for i := range int(b.count) {
		record := r.record(b)
		if r.over {
			return fail(fmt.Errorf("headers of record %d of %d: %w", i, b.count, pipeline.ErrOverBudget))
		}
		if r.bad || record.Offset <= previous || record.Offset > b.last {
			return fail(fmt.Errorf("%w: record %d of %d", pipeline.ErrCorruptBatch, i, b.count))
		}
		previous = record.Offset
		record.Stored = len(b.body)
		if len(body) > 0 {
			record.Stored = int(int64(len(b.body))*int64(record.Size())/int64(len(body))) + 1
		}
		if record.Offset >= from {
			grown = append(grown, record)
		}
	}
	if len(r.left) != 0 {
		return fail(fmt.Errorf("%w: %d bytes after the last record", pipeline.ErrCorruptBatch, len(r.left)))
	}
	return grown, nil
}

// grow makes room for n more records if the allowance permits, and hardly more: a set is mostly one
// batch.
func grow(records []pipeline.Record, n int, memory *allowance) ([]pipeline.Record, bool) {
	if cap(records)-len(records) >= n {
		return records, true
	}
	room := max(len(records)+n, min(2*cap(records), len(records)+4096))
	if !memory.take(room, recordCost) {
		return records, false
	}
	return append(make([]pipeline.Record, 0, room), records...), true
}

// cursor reads the variable-length fields of records. After a missing field, bad is set and all
// others read as zero. over is set if the memory for headers is exhausted.
type cursor struct {
	left   []byte
	memory *allowance
	bad    bool
	over   bool
}

func (c *cursor) varint() int64 {
	value, n := binary.Varint(c.left)
	if n <= 0 {
		c.bad, c.left = true, nil
		return 0
	}
	c.left = c.left[n:]
	return value
}

// bytes returns the next n bytes; -1 is null. Appending to the result cannot overwrite the bytes
// after it.
func (c *cursor) bytes(n int64) []byte {
	if n == -1 {
		return nil
	}
	if n < 0 || n > int64(len(c.left)) {
		c.bad, c.left = true, nil
		return nil
	}
	b := c.left[:n:n]
	c.left = c.left[n:]
	return b
}

// record reads one record.
func (c *cursor) record(b *batch) (record pipeline.Record) {
	r := cursor{left: c.bytes(c.varint()), memory: c.memory}
	r.bytes(1) // attributes (Kafka defines none)
	record.Time = recordTime(b, r.varint())
	record.Appended = b.attributes&appendTimeBit != 0
	record.Offset = b.base + r.varint()
	record.Batch = b.mark()
	record.Key = r.bytes(r.varint())
	record.Value = r.bytes(r.varint())
	record.Headers = r.headers()
	c.bad = c.bad || r.bad || len(r.left) != 0
	c.over = r.over
	return record
}

// headers reads the headers of a record. Their keys are copied.
func (c *cursor) headers() []pipeline.Header {
	n := c.varint()
	if n < 0 || n > int64(len(c.left)/2) {
		c.bad = true // a header has two lengths at least
		return nil
	}
	c.over = !c.memory.take(int(n), headerCost)
	if n == 0 || c.over {
		return nil
	}
	headers := make([]pipeline.Header, n)
	for i := range headers {
		key := c.bytes(c.varint())
		c.over = !c.memory.take(len(key), 1)
		if c.over {
			return nil
		}
		headers[i] = pipeline.Header{Key: string(key), Value: c.bytes(c.varint())}
	}
	return headers
}

// recordTime is the producer's time, or the broker's if the topic is configured so; -1 means that
// the record has no time.
func recordTime(b *batch, delta int64) time.Time {
	millis := b.firstTime + delta
	if b.attributes&appendTimeBit != 0 {
		millis = b.maxTime
	}
	if millis == -1 {
		return time.Time{}
	}
	return time.UnixMilli(millis).UTC()
}
