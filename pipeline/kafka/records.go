package kafka

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/klauspost/compress/zstd"

	"github.com/eerf-stream/eerf/pipeline"
)

// minRecordBytes is a record without key, value and headers: length, attributes, time, offset, key length,
// value length, number of headers.
const minRecordBytes = 7

// What a decoded record and header take beside the bytes they alias.
const (
	recordCost = int(unsafe.Sizeof(pipeline.Record{}))
	headerCost = int(unsafe.Sizeof(pipeline.Header{}))
)

// setReader decodes record sets within a budget of memory, counted as the decompressed bytes and the records'
// own size.
type setReader struct {
	budget  int
	zstd    *zstd.Decoder
	streams sync.Pool // *zstd.Decoder
}

func newSetReader(budget int) (*setReader, error) {
	decoder, err := newZstdDecoder(budget)
	if err != nil {
		return nil, err
	}
	return &setReader{budget: budget, zstd: decoder, streams: sync.Pool{New: newZstdStream}}, nil
}

func (s *setReader) close() { s.zstd.Close() }

// read returns the records at or after from and the next offset. A batch that cannot be read ends the
// result before it, or is the error if it comes first. Offsets that a batch repeats, which no broker does,
// are handed out once.
func (s *setReader) read(set []byte, from int64, aborted []abortedTransaction) (records []pipeline.Record, next int64, err error) {
	hidden := newTransactions(aborted)
	left := s.budget
	next = from
	for len(set) > 0 {
		b, whole, err := parseBatch(set)
		if err == nil && !whole {
			break
		}
		if err == nil && b.last >= next && !hidden.hides(&b) {
			records, left, err = s.records(records, &b, next, left)
		}
		if err != nil {
			if next > from {
				break
			}
			return nil, from, err
		}
		next = max(next, b.last+1)
		set = set[b.bytes:]
	}
	return records, next, nil
}

// records appends the records of a batch and returns what is left of the budget.
func (s *setReader) records(to []pipeline.Record, b *batch, from int64, left int) ([]pipeline.Record, int, error) {
	fail := func(err error) ([]pipeline.Record, int, error) {
		return to, left, &unreadableError{b.base, b.last + 1, err}
	}
	body, err := s.expand(b.attributes&codecBits, b.body, left)
	if err != nil {
		return fail(err)
	}
	if b.count < 0 || int(b.count) > len(body)/minRecordBytes {
		return fail(fmt.Errorf("%w: %d records in %d bytes", ErrCorruptBatch, b.count, len(body)))
	}
	cost := len(body) + int(b.count)*recordCost
	if cost > left {
		return fail(fmt.Errorf("%d records, %d bytes: %w", b.count, len(body), ErrOverBudget))
	}
	grown := grow(to, int(b.count))
	r := cursor{left: body}
	previous := b.base - 1
	for i := range int(b.count) {
		record, headers := r.record(b)
		cost += headers * headerCost
		if r.bad || record.Offset <= previous || record.Offset > b.last {
			return fail(fmt.Errorf("%w: record %d of %d", ErrCorruptBatch, i, b.count))
		}
		if cost > left {
			return fail(fmt.Errorf("record %d of %d has %d headers: %w", i, b.count, headers, ErrOverBudget))
		}
		previous = record.Offset
		if record.Offset >= from {
			grown = append(grown, record)
		}
	}
	if len(r.left) != 0 {
		return fail(fmt.Errorf("%w: %d bytes behind the last record", ErrCorruptBatch, len(r.left)))
	}
	return grown, left - cost, nil
}

// grow makes room for n more records; a set is mostly one batch, so it does not make more.
func grow(records []pipeline.Record, n int) []pipeline.Record {
	if cap(records)-len(records) >= n {
		return records
	}
	room := max(len(records)+n, min(2*cap(records), len(records)+4096))
	return append(make([]pipeline.Record, 0, room), records...)
}

// cursor reads the variable-length fields of records; after a field that is not there, bad is set and all
// others read as zero.
type cursor struct {
	left []byte
	bad  bool
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

// bytes returns the next n bytes; -1 is null. What it returns cannot be appended into what follows.
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

// record reads one record; headers is the number of headers it has room for.
func (c *cursor) record(b *batch) (record pipeline.Record, headers int) {
	r := cursor{left: c.bytes(c.varint())}
	r.bytes(1) // attributes, none are defined
	record.Time = recordTime(b, r.varint())
	record.Offset = b.base + r.varint()
	record.Key = r.bytes(r.varint())
	record.Value = r.bytes(r.varint())
	n := r.varint()
	if n < 0 || n > int64(len(r.left)/2) {
		r.bad = true // a header has two lengths at least
	} else if n > 0 {
		headers = int(n)
		record.Headers = make([]pipeline.Header, n)
		for i := range record.Headers {
			record.Headers[i].Key = string(r.bytes(r.varint()))
			record.Headers[i].Value = r.bytes(r.varint())
		}
	}
	c.bad = c.bad || r.bad || len(r.left) != 0
	return record, headers
}

// recordTime is the time that the producer gave, or the broker where the topic asks for that; -1 is none.
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
