package events

import (
	"context"
	"unsafe"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
)

// Slots limit the number of messages that a process works on at a time, regardless of its number of
// partitions. In addition to its fetch, a message takes the memory of its slot, so a partition
// keeps nothing large between messages. Slots are safe for concurrent use.
type Slots struct {
	idle    chan *Slot
	schemas *arrowio.Schemas // of all messages
	plans   *formats.Plans
}

// Slot is the working memory for one message.
type Slot struct {
	// Rows is for the encoded rows of the message.
	Rows encoder.Rows

	aligned []byte // copy of a message that was not aligned
}

// NewSlots returns count slots, at least one.
func NewSlots(count int) *Slots {
	s := &Slots{idle: make(chan *Slot, max(1, count)), schemas: arrowio.NewSchemas(), plans: formats.NewPlans()}
	for range cap(s.idle) {
		s.idle <- &Slot{}
	}
	return s
}

// Count returns the number of slots; 0 for nil.
func (s *Slots) Count() int {
	if s == nil {
		return 0
	}
	return cap(s.idle)
}

// Begin waits for a slot until ctx ends, and holds it until [Reader.End]. Meanwhile the caller must
// not wait for anything that depends on another message, of this partition or any other.
func (r *Reader) Begin(ctx context.Context) error {
	if r.slots == nil {
		return nil
	}
	select {
	case r.slot = <-r.slots.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TryBegin is Begin without waiting: it fails if no slot is free.
func (r *Reader) TryBegin() bool {
	if r.slots == nil {
		return true
	}
	select {
	case r.slot = <-r.slots.idle:
		return true
	default:
		return false
	}
}

// End releases the slot with everything that was read in it. A message must be prepared again
// before it is reread.
func (r *Reader) End() {
	if r.slots == nil {
		return
	}
	r.decoder.Trim()
	if s := r.prepared.schema; s != nil && s.Bytes() > keptBytes {
		r.prepared = prepared{}
	}
	r.slots.idle <- r.slot
	r.slot = &r.own
}

// Slot returns the current slot, or the reader's own.
func (r *Reader) Slot() *Slot { return r.slot }

// keptBytes is the memory of a slice that a partition keeps between messages.
const keptBytes = 16 << 10

// Trim empties a slice for the next message, and drops its memory if it exceeds the limit for a
// partition.
func Trim[T any](s []T) []T {
	var one T
	if cap(s)*int(unsafe.Sizeof(one)) > keptBytes {
		return nil
	}
	return s[:0]
}
