package events

import (
	"context"
	"sync"
	"unsafe"

	"golang.org/x/sync/semaphore"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// Slots bound how many messages a process works on at a time, whatever the number of its partitions. In addition to
// what was fetched, a message takes the memory of its slot, so a partition keeps nothing large from one message to the
// next. Slots are safe for concurrent use.
type Slots struct {
	count   int
	free    *semaphore.Weighted
	schemas *arrowio.Schemas // of all messages

	mu   sync.Mutex
	idle []*Slot // the one given back last is at the end, as its memory is still in the cache
}

// Slot is the memory in which one message is worked on.
type Slot struct {
	// Rows is for the encoded rows of the message.
	Rows encoder.Rows

	aligned []byte // the message, where it was not aligned
}

// NewSlots returns count slots, at least one.
func NewSlots(count int) *Slots {
	count = max(1, count)
	s := &Slots{count: count, free: semaphore.NewWeighted(int64(count)), schemas: arrowio.NewSchemas()}
	for range count {
		s.idle = append(s.idle, &Slot{})
	}
	return s
}

// Count returns how many slots there are.
func (s *Slots) Count() int { return s.count }

// take waits for a slot until ctx ends, first come, first served.
func (s *Slots) take(ctx context.Context) (*Slot, error) {
	if err := s.free.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	return s.pop(), nil
}

// pop returns an idle slot. There has to be one.
func (s *Slots) pop() *Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.idle) - 1
	slot := s.idle[last]
	s.idle = s.idle[:last]
	return slot
}

func (s *Slots) give(slot *Slot) {
	s.mu.Lock()
	s.idle = append(s.idle, slot)
	s.mu.Unlock()
	s.free.Release(1)
}

// Begin waits for a slot to work on a message in, until ctx ends, and holds it until [Reader.End]. Meanwhile the caller
// must not wait for anything that waits for another message, of this partition or any other.
func (r *Reader) Begin(ctx context.Context) error {
	if r.slots == nil {
		return nil
	}
	slot, err := r.slots.take(ctx)
	if err == nil {
		r.slot = slot
	}
	return err
}

// TryBegin is Begin if there is a free slot.
func (r *Reader) TryBegin() bool {
	switch {
	case r.slots == nil:
		return true
	case !r.slots.free.TryAcquire(1):
		return false
	}
	r.slot = r.slots.pop()
	return true
}

// End gives back the slot with everything that was read in it.
func (r *Reader) End() {
	if r.slots == nil {
		return
	}
	r.decoder.Trim()
	r.slots.give(r.slot)
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
