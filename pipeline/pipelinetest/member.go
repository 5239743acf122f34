package pipelinetest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// Member is a call of [pipeline.Broker.Own] that shows which partitions it owns.
type Member struct {
	// Stop ends the call, whose result is sent to Done; its receiver sends it again.
	Stop context.CancelFunc
	Done chan error

	mu      sync.Mutex
	owned   map[int]pipeline.Ownership
	changed chan struct{} // closed and replaced with every change
}

// Own joins a group until the test ends.
func Own(t testing.TB, broker pipeline.Broker, group, topic string) *Member {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	m := &Member{
		Stop:    stop,
		Done:    make(chan error, 1),
		owned:   make(map[int]pipeline.Ownership),
		changed: make(chan struct{}),
	}
	go func() {
		m.Done <- broker.Own(ctx, group, topic, func(ctx context.Context, owned pipeline.Ownership) error {
			m.set(owned.Partition, &owned)
			<-ctx.Done()
			m.set(owned.Partition, nil)
			return ctx.Err()
		})
	}()
	t.Cleanup(func() {
		stop()
		<-m.Done //nolint:errcheck // the test has read it or does not need it
	})
	return m
}

func (m *Member) set(partition int, owned *pipeline.Ownership) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if owned == nil {
		delete(m.owned, partition)
	} else {
		m.owned[partition] = *owned
	}
	close(m.changed)
	m.changed = make(chan struct{})
}

// Ownership returns the ownership of a partition.
func (m *Member) Ownership(partition int) pipeline.Ownership {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owned[partition]
}

// Partitions returns the member's partitions. The channel is closed when they change.
func (m *Member) Partitions() ([]int, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []int
	for p := range m.owned {
		all = append(all, p)
	}
	slices.Sort(all)
	return all, m.changed
}

// Await waits until the partitions of both members meet the condition.
func Await(t testing.TB, a, b *Member, what string, condition func(a, b []int) bool) {
	t.Helper()
	limit := time.After(Patience)
	for {
		ofA, changedA := a.Partitions()
		ofB, changedB := b.Partitions()
		if condition(ofA, ofB) {
			return
		}
		select {
		case <-changedA:
		case <-changedB:
		case <-limit:
			t.Fatalf("%s: still %v and %v", what, ofA, ofB)
		}
	}
}

// AllOf is the condition that two members own n partitions between them, at least one each.
func AllOf(n int) func(a, b []int) bool {
	return func(a, b []int) bool {
		all := append(slices.Clone(a), b...)
		slices.Sort(all)
		return len(slices.Compact(all)) == n && len(a)+len(b) == n
	}
}

// End stops a member. Its call has to return.
func (m *Member) End(t testing.TB) {
	t.Helper()
	m.Stop()
	select {
	case err := <-m.Done:
		if err != nil {
			t.Errorf("Own returned %v", err)
		}
		m.Done <- nil
	case <-time.After(Patience):
		t.Fatal("Own does not return")
	}
	if left, _ := m.Partitions(); len(left) != 0 {
		t.Errorf("runs of %v have not ended", left)
	}
}
