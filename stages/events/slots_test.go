package events

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// The number of messages in work is bounded for any number of readers, and every reader gets its
// turn.
func TestSlotsBoundMessagesInHand(t *testing.T) {
	const slots, readers, each = 3, 20, 50
	source := Source{Limits: arrowio.DefaultLimits(), Slots: NewSlots(slots)}
	value := stagestest.Message(t, stagestest.Events(t, stagestest.Regression, 20, 1, stagestest.Faults{}))
	var inHand, most atomic.Int64
	var group sync.WaitGroup
	for i := range readers {
		group.Go(func() {
			reader := source.Reader(nil)
			for range each {
				if i%2 == 0 || !reader.TryBegin() {
					if err := reader.Begin(context.Background()); err != nil {
						t.Error(err)
						return
					}
				}
				now := inHand.Add(1)
				for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
				}
				batches, err := reader.Read(value)
				if err != nil || CountRows(batches) != 20 {
					t.Errorf("%d batches, %v", len(batches), err)
				}
				Release(batches)
				inHand.Add(-1)
				reader.End()
			}
		})
	}
	group.Wait()
	if most.Load() > slots || len(source.Slots.idle) != slots {
		t.Errorf("%d messages in hand, %d slots come back", most.Load(), len(source.Slots.idle))
	}
}

func TestWaitingForASlotEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := Source{Limits: arrowio.DefaultLimits(), Slots: NewSlots(0)} // at least one
		first, second := source.Reader(nil), source.Reader(nil)
		if source.Slots.Count() != 1 || !first.TryBegin() || second.TryBegin() {
			t.Fatalf("%d slots", source.Slots.Count())
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- second.Begin(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		first.End()
		if !second.TryBegin() {
			t.Error("the slot did not come back")
		}
	})
}
