package events

import (
	"context"
	"unsafe"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
)

// Slots bound how many messages a process works on at a time, whatever the number of its partitions. In addition to
// what was fetched, a message takes the memory of its slot, so a partition keeps nothing large from one message to the
// next. Slots are safe for concurrent use.
type Slots struct {
	idle    chan *Slot
	schemas *arrowio.Schemas // of all messages
	plans   *formats.Plans
}

// Slot is the memory in which one message is worked on.
type Slot struct {
	// Rows is for the encoded rows of the message.
	Rows encoder.Rows

	aligned []byte // the message, where it was not aligned
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

// Begin waits for a slot to work on a message in, until ctx ends, and holds it until [Reader.End]. Meanwhile the caller
// must not wait for anything that waits for another message, of this partition or any other.
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

// TryBegin is Begin if there is a free slot.
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

// End gives back the slot with everything that was read in it. A message that is read again has to be prepared again.
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

// Slot returns the slot in use, or the reader's own.
func (r *Reader) Slot() *Slot { return r.slot }

// keptBytes is what a partition keeps of a slice between messages.
const keptBytes = 16 << 10

// Trim empties a slice for the next message, and drops its memory if that is more than a partition may keep.
func Trim[T any](s []T) []T {
	var one T
	if cap(s)*int(unsafe.Sizeof(one)) > keptBytes {
		return nil
	}
	return s[:0]
}
