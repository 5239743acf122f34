package arrowio

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Decoder turns the bytes of one message into records. It remembers the schemas it has verified, so
// a topic whose messages repeat one schema pays for it once; the result for a message never depends
// on earlier messages. Use one Decoder per partition, from one goroutine.
type Decoder struct {
	limits  Limits
	mem     memory.Allocator
	schemas *Schemas
	codecs  codecs
	schema  *arrow.Schema
	left    int64 // of the budget of the message last decoded
}

// NewDecoder returns a Decoder; a limit of zero means its default. It panics on a negative limit.
func NewDecoder(limits Limits) *Decoder {
	return newDecoder(limits, memory.DefaultAllocator)
}

// NewDecoderSharing is NewDecoder with a store of schemas that is shared with others; nil shares
// none.
func NewDecoderSharing(limits Limits, schemas *Schemas) *Decoder {
	d := NewDecoder(limits)
	if schemas != nil {
		d.schemas = schemas
	}
	return d
}

func newDecoder(limits Limits, mem memory.Allocator) *Decoder {
	if err := limits.Validate(); err != nil {
		panic("arrowio: " + err.Error())
	}
	return &Decoder{limits: limits.orDefault(), mem: mem, schemas: &Schemas{most: cachedSchemas}}
}

// MaxMessageBytes is the size limit for messages.
func (d *Decoder) MaxMessageBytes() int64 { return d.limits.MaxMessageBytes }

// Limits are the limits for messages, none of them zero.
func (d *Decoder) Limits() Limits { return d.limits }

// Schema returns the schema of the message last given to Decode, or nil if that message was
// refused. For a message without record batches it is the only way to get the schema and its
// metadata.
func (d *Decoder) Schema() *arrow.Schema { return d.schema }

// Trim forgets the schema of the message last given to Decode.
func (d *Decoder) Trim() { d.schema = nil }

// Left is the rest of the budget of the message last given to Decode. Values made from its rows may
// take that much.
func (d *Decoder) Left() int64 { return d.left }

// unforeseen starts the text of an error that no check anticipated.
const unforeseen = "unforeseen fault while decoding"

// Decode returns the record batches of one message, in order; a stream with only a schema gives
// none and no error. The records may point into value, which must not change until they are
// released. The caller releases each of them.
//
// On error no records are returned, and the error wraps one of the sentinels of this package: see
// [Reason]. Decode never panics.
func (d *Decoder) Decode(value []byte) (recs []arrow.Record, err error) {
	d.schema = nil
	if n := int64(len(value)); n > d.limits.MaxMessageBytes {
		return nil, tooLarge("message of %d bytes, at most %d", n, d.limits.MaxMessageBytes)
	}
	s := newStream(d, value)
	defer func() {
		// The checks before every use keep hostile bytes from causing a panic. This is a second
		// line of defence.
		if p := recover(); p != nil {
			err = corrupt(unforeseen+": %v", p)
		}
		if err != nil {
			s.abandon()
			recs = nil
			return
		}
		s.dicts.release()
		d.schema, d.left = s.schema.arrow, s.budget.Left
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
