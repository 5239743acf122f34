package state

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// put appends records to feature-sets and returns the offset of the first.
func put(t *testing.T, log pipeline.Producer, records ...pipeline.Record) int64 {
	t.Helper()
	offset, err := log.Produce(t.Context(), testConfig.FeatureSets, 0, records)
	if err != nil {
		t.Fatal(err)
	}
	return offset
}

// inUse waits until a set is current and in memory.
func inUse(t *testing.T, f *Follower, id string) *Set {
	t.Helper()
	now, err := f.Wait(t.Context(), func(s Snapshot) bool { return s.CurrentSet() != nil && s.CurrentSet().ID == id })
	if err != nil {
		t.Fatal(err)
	}
	return now.CurrentSet()
}

// held counts the feature sets that are completely in memory.
func held(f *Follower) (n int) {
	runtime.GC()
	f.sets.mu.Lock()
	defer f.sets.mu.Unlock()
	for _, set := range f.sets.values {
		if set.Value() != nil {
			n++
		}
	}
	return n
}

// With an exploration each hour, a week's retention keeps 170 sets. Only the current set and sets
// held by callers are in memory.
func TestRetainedSetsAreNotInMemory(t *testing.T) {
	const kept = 170
	broker := newTopics()
	var ids []string
	for i := range int64(kept) {
		set := testSet(i + 1)
		ids = append(ids, set.ID())
		put(t, broker, setRecord(set), currentRecord("test", set.ID(), i+1))
	}
	f := following(t, broker)
	inUse(t, f, ids[kept-1])
	now := f.Snapshot()
	if len(now.Sets) != kept {
		t.Fatalf("%d sets are listed", len(now.Sets))
	}
	if n := held(f); n != 1 {
		t.Errorf("%d sets are in memory", n)
	}
	older, err := f.LoadSet(t.Context(), now.Sets[ids[3]])
	if err != nil || older.ID() != ids[3] {
		t.Fatal(err)
	}
	if n := held(f); n != 2 {
		t.Errorf("%d sets are in memory next to the loaded one", n)
	}
	runtime.KeepAlive(older)
	if n := held(f); n != 1 {
		t.Errorf("%d sets are in memory after releasing it", n)
	}
	runtime.KeepAlive(now)
}

func TestSetEntries(t *testing.T) {
	first, second := testSet(1), testSet(2)
	second.Candidates.Seed, second.Set.Index = first.Candidates.Seed, []int32{3, 4}
	broker := newTopics()
	put(t, broker, setRecord(first), currentRecord("test", first.ID(), 1), setRecord(second),
		currentRecord("test", second.ID(), 2))
	f := following(t, broker)
	inUse(t, f, second.ID())
	now := f.Snapshot()
	list := now.SetsBySequence()
	if len(list) != 2 || list[0].ID != second.ID() || list[1].ID != first.ID() {
		t.Fatalf("listed sets %+v", list)
	}
	newer := list[0]
	if newer.Features != 2 || !newer.Bounded || newer.Lineage.Rows != 40 || newer.Lineage.Partitions != nil {
		t.Errorf("newest set %+v", newer)
	}
}

// A pointer may move back to an earlier set. Waiting callers get the complete set.
func TestPointerMovesBack(t *testing.T) {
	first, second := testSet(1), testSet(2)
	broker := newTopics()
	put(t, broker, setRecord(first), setRecord(second), currentRecord("test", first.ID(), 3))
	f := following(t, broker)
	now, err := f.Wait(t.Context(), anything)
	if err != nil || now.CurrentSet() == nil || now.CurrentSet().ID != first.ID() {
		t.Fatalf("%+v, %v", now.CurrentSet(), err)
	}
	put(t, broker, currentRecord("test", second.ID(), 4))
	inUse(t, f, second.ID())
	put(t, broker, currentRecord("test", first.ID(), 5))
	inUse(t, f, first.ID())
}

func TestLoadMovedOrMissingSet(t *testing.T) {
	first, second := testSet(1), testSet(2)
	id := first.ID()
	broker := newTopics()
	put(t, broker, setRecord(first), setRecord(second), currentRecord("test", second.ID(), 2), setRecord(first))
	f := New(broker, zap.NewNop(), testConfig)
	for _, c := range []struct {
		name   string
		offset int64
		poison []pipeline.Record
		fault  error
	}{
		{name: "at the offset of the entry"},
		{name: "another record at the offset", offset: 1},
		{name: "the topic is shorter", offset: 77},
		{name: "a tombstone after it", offset: 0, poison: []pipeline.Record{keyed(wire.SetKey("test", id), nil)}},
		{name: "retired, and the record is gone", offset: 2, fault: ErrNoSet},
		{
			name:   "an invalid record at the offset",
			offset: 2,
			poison: []pipeline.Record{keyed(wire.SetKey("test", id), []byte("hello"))},
			fault:  ErrNoSet,
		},
	} {
		if c.poison != nil {
			put(t, broker, c.poison...)
		}
		set, err := f.LoadSet(t.Context(), SetEntry{ID: id, Offset: c.offset})
		if !errors.Is(err, c.fault) || err == nil && set.ID() != id {
			t.Errorf("%s: %v", c.name, err)
		}
		set = nil
		held(f)
	}
}

// Partitions that ask for the same set at once read it once and share it.
func TestSetsAreReadOnce(t *testing.T) {
	broker := newTopics()
	set := testSet(1)
	put(t, broker, setRecord(set))
	f := New(broker, zap.NewNop(), testConfig)
	var got [8]*wire.FeatureSet
	var group sync.WaitGroup
	for i := range got {
		group.Go(func() { got[i] = must(f.LoadSet(context.Background(), SetEntry{ID: set.ID()})) })
	}
	group.Wait()
	for _, one := range got {
		if one != got[0] {
			t.Error("the set was read more than once")
		}
	}
	runtime.KeepAlive(got)
}

// A caller that stops waiting does not affect the others.
func TestSetIsReadForRemainingCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Bool
		fetch := func(ctx context.Context, _ string, _ int, _ int64) error {
			if !asked.Swap(true) {
				<-ctx.Done() // the first fetch gets no answer
			}
			return ctx.Err()
		}
		broker := &pipelinetest.Between{Broker: newTopics(), OnFetch: fetch}
		set := testSet(1)
		put(t, broker, setRecord(set))
		f := New(broker, zap.NewNop(), testConfig)
		stopped, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		gaveUp := make(chan error, 1)
		go func() {
			_, err := f.LoadSet(stopped, SetEntry{ID: set.ID()})
			gaveUp <- err
		}()
		synctest.Wait() // it reads
		loaded, err := f.LoadSet(t.Context(), SetEntry{ID: set.ID()})
		if err != nil || loaded.ID() != set.ID() {
			t.Error(err)
		}
		if err := <-gaveUp; !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
