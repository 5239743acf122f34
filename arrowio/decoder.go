package arrowio

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Decoder turns the bytes of one message into records. It remembers the schemas
// it has verified, so that a topic whose messages repeat one schema pays for it
// once; the outcome for a message never depends on the messages before it. Use
// one Decoder per partition, from one goroutine.
type Decoder struct {
	limits  Limits
	mem     memory.Allocator
	schemas schemaCache
	codecs  codecs
	schema  *arrow.Schema
}

// NewDecoder returns a Decoder; zero limits stand for their defaults. It panics
// on a negative limit.
func NewDecoder(limits Limits) *Decoder {
	return newDecoder(limits, memory.DefaultAllocator)
}

func newDecoder(limits Limits, mem memory.Allocator) *Decoder {
	if err := limits.Validate(); err != nil {
		panic("arrowio: " + err.Error())
	}
	return &Decoder{limits: limits.orDefault(), mem: mem}
}

// MaxMessageBytes is the limit that messages are held to.
func (d *Decoder) MaxMessageBytes() int64 { return d.limits.MaxMessageBytes }

// Limits are those that messages are held to, none of them zero.
func (d *Decoder) Limits() Limits { return d.limits }

// Schema returns the schema of the message last given to Decode, or nil when
// that message was refused. It is the way to the schema, and to its metadata,
// of a message without record batches.
func (d *Decoder) Schema() *arrow.Schema { return d.schema }

// unforeseen begins the text of an error that no check was there for.
const unforeseen = "unforeseen fault while decoding"

// Decode returns the record batches of one message, in order; a stream of a
// schema alone gives none and no error. The records may point into value, which
// must not change until they are released; the caller releases each of them.
//
// On error no records are returned, and the error wraps one of the sentinels of
// this package: see [Reason]. Decode never panics.
func (d *Decoder) Decode(value []byte) (recs []arrow.Record, err error) {
	d.schema = nil
	if n := int64(len(value)); n > d.limits.MaxMessageBytes {
		return nil, tooLarge("message of %d bytes, at most %d", n, d.limits.MaxMessageBytes)
	}
	s := newStream(d, value)
	defer func() {
		// The checks before every use are what keeps hostile bytes from
		// panicking; this is the belt to those braces.
		if p := recover(); p != nil {
			err = corrupt(unforeseen+": %v", p)
		}
		if err != nil {
			s.abandon()
			recs = nil
			return
		}
		s.dicts.release()
		d.schema = s.schema.arrow
	}()
	for {
		more, err := s.next()
		if err != nil {
			return nil, fmt.Errorf("arrow message %d: %w", s.index, err)
		}
		if !more {
			return s.records, nil
		}
	}
}
