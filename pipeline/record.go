package pipeline

import (
	"time"
	"unsafe"
)

// Header is one header of a record; keys may repeat.
type Header struct {
	Key   string
	Value []byte
}

// Record is one message of a topic partition.
type Record struct {
	Topic     string
	Partition int
	Offset    int64
	Time      time.Time
	Key       []byte
	Value     []byte // nil is a tombstone
	Headers   []Header
}

// Header returns the value of the first header with the key, and whether there is one.
func (r *Record) Header(key string) ([]byte, bool) {
	for i := range r.Headers {
		if r.Headers[i].Key == key {
			return r.Headers[i].Value, true
		}
	}
	return nil, false
}

// Size is the number of bytes of key, value and headers, without the broker's own framing.
func (r *Record) Size() int {
	n := len(r.Key) + len(r.Value)
	for i := range r.Headers {
		n += len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	return n
}

// Memory is how many bytes the record takes in memory with what it points to: of a record of nothing much more than its Size.
func (r *Record) Memory() int {
	return int(unsafe.Sizeof(*r)) + len(r.Headers)*int(unsafe.Sizeof(Header{})) + r.Size()
}

// Fetched is the response to one fetch of one partition.
type Fetched struct {
	// Records have offsets at or after the one asked for, ascending, possibly with gaps (compaction,
	// control records).
	Records []Record
	// NextOffset is what to ask for next; it may lie beyond the last record where records that are not
	// handed out were skipped.
	NextOffset int64
	// LogStart is the first offset that the partition still holds.
	LogStart int64
	// End is the next offset to which the partition can be read now: that of the next record written or, while
	// transactions are open, the offset where the oldest of them begins (the last stable offset).
	End int64
}
