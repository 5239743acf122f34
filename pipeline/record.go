package pipeline

import (
	"time"
	"unsafe"
)

// Header is one header of a record; keys may repeat. It is the same type as that of package wire, which does not know this one.
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
	Key       []byte
	Value     []byte // nil is a tombstone
	Headers   []Header
	Batch     Mark // that holds it; zero if it was not fetched
	Stored    int  // bytes that it takes at the broker: its share of its batch as compressed; 0 = unknown
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

// Memory is how many bytes the record holds with everything it points to, used or not.
func (r *Record) Memory() int {
	n := int(unsafe.Sizeof(*r)) + cap(r.Headers)*int(unsafe.Sizeof(Header{})) + cap(r.Key) + cap(r.Value)
	for i := range r.Headers {
		n += len(r.Headers[i].Key) + cap(r.Headers[i].Value)
	}
	return n
}

// Fetched is the response to one fetch of one partition.
type Fetched struct {
	// Records have offsets at or after the requested one, ascending, possibly with gaps (compaction, control records).
	Records []Record
	// NextOffset is what to ask for next. It may be beyond the last record if records that are not returned were
	// skipped.
	NextOffset int64
	// End is the next offset up to which the partition can be read now: that of the next record to be written or, while
	// transactions are open, the offset where the oldest of them begins (the last stable offset).
	End int64
	// Log is the log that the response belongs to.
	Log LogID
	// Place is the place after the records, if a [Reader] that watches the log returned them.
	Place Place
	// Renewals is how often the connections or the view of the cluster had to be renewed so far: if it has grown, another broker may answer
	// now.
	Renewals int64

	retried bool  // it came after attempts that failed
	held    *hold // nil = nobody counts its memory
}
