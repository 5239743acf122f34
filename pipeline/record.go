package pipeline

import (
	"time"
	"unsafe"

	"github.com/eerf-stream/eerf/internal/outside"
)

// Header is one header of a record; keys may repeat. Package wire, which does not import this one,
// has the same type.
type Header = struct {
	Key   string
	Value []byte
}

// Record is one message of a topic partition.
type Record struct {
	Topic     string
	Partition int
	Offset    int64
	Time      time.Time
	Appended  bool // Time is when the broker appended the record; otherwise its producer set it
	Key       []byte
	Value     []byte // nil is a tombstone
	Headers   []Header
	Batch     Mark // identifies its record batch; zero if it was not fetched
	Stored    int  // bytes at the broker: its share of the compressed batch; 0 = unknown
}

// Header returns the value of the first header with the key, and whether it exists.
func (r *Record) Header(key string) ([]byte, bool) {
	for i := range r.Headers {
		if r.Headers[i].Key == key {
			return r.Headers[i].Value, true
		}
	}
	return nil, false
}

// KnownTime returns the time of the record, without a location; zero if it lies outside the years
// 1970 to 9999, which JSON cannot represent.
func (r *Record) KnownTime() time.Time {
	if !outside.ValidTime(r.Time) {
		return time.Time{}
	}
	return r.Time.UTC()
}

// Size is the number of bytes of key, value and headers, without the broker's own framing.
func (r *Record) Size() int {
	n := len(r.Key) + len(r.Value)
	for i := range r.Headers {
		n += len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	return n
}

// Memory is the number of bytes of the record and of everything it points to, spare capacity
// included.
func (r *Record) Memory() int {
	n := int(unsafe.Sizeof(*r)) + cap(r.Headers)*int(unsafe.Sizeof(Header{})) + cap(r.Key) + cap(r.Value)
	for i := range r.Headers {
		n += len(r.Headers[i].Key) + cap(r.Headers[i].Value)
	}
	return n
}

// Fetched is the response to one fetch of one partition.
type Fetched struct {
	// Records have offsets at or after the requested one, ascending, possibly with gaps
	// (compaction, control records).
	Records []Record
	// NextOffset is the offset of the next fetch. It may be beyond the last record if later records
	// were skipped.
	NextOffset int64
	// End is the next offset up to which the partition can be read now: the offset of the next
	// record to be written or, while transactions are open, the offset where the oldest of them
	// begins (the last stable offset).
	End int64
	// Log is the log that the response belongs to.
	Log LogID
	// Place is the place after the records, if a [Reader] that watches the log returned them.
	Place Place
	// Renewals counts how often the client renewed its connections or its view of the cluster. If
	// it has grown, another broker may have answered.
	Renewals int64

	retried bool  // earlier attempts failed
	held    *hold // nil = its memory is not counted
}
