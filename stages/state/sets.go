package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
	"weak"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring/adaptive"
)

// ErrNoSet reports that the feature-sets topic does not hold a feature set.
var ErrNoSet = errors.New("not on the feature-sets topic")

// Set is a feature set on its topic.
type Set struct {
	ID   string
	Set  *wire.FeatureSet
	Time time.Time // of the record
}

// SetEntry describes a feature set on its topic. [Follower.LoadSet] reads the set itself.
type SetEntry struct {
	ID     string
	Offset int64
	Time   time.Time // of the record

	Features int  // M
	Bounded  bool // whether its feature map is bounded by 1
	// Lineage lacks partitions, columns and the report of learning.
	Lineage wire.Lineage
	// Learned is from the lineage; LearnedBest and HeldOutRows are from the report, if it exists.
	Learned     bool
	LearnedBest *adaptive.Point
	HeldOutRows int64
}

func newSetEntry(id string, r pipeline.Record, set *wire.FeatureSet) SetEntry {
	l := set.Lineage
	entry := SetEntry{
		ID: id, Offset: r.Offset, Time: r.Time, Features: set.Set.Features.Len(), Bounded: set.Candidates.Map.Bounded(),
		Lineage: l, Learned: l.Learned(),
	}
	if l.Learning != nil {
		best := l.Learning.Best()
		entry.LearnedBest, entry.HeldOutRows = &best, l.Learning.HeldOutRows
	}
	entry.Lineage.Partitions, entry.Lineage.Columns, entry.Lineage.Learning = nil, nil, nil
	return entry
}

// heldSets are the feature sets that a snapshot holds completely.
type heldSets struct {
	current *Set // the current set; nil until it is read
	newest  *Set // with the highest sequence number, because the next pointer will name it
}

// CurrentSet returns the current feature set, or nil.
func (s Snapshot) CurrentSet() *Set {
	if s.Current == nil || s.held.current == nil || s.held.current.ID != s.Current.ID {
		return nil
	}
	return s.held.current
}

// pending returns the current set if it is on the topic but not in memory, because the pointer
// moved back to an older one.
func (s Snapshot) pending() (SetEntry, bool) {
	if s.Current == nil || s.CurrentSet() != nil {
		return SetEntry{}, false
	}
	entry, ok := s.Sets[s.Current.ID]
	return entry, ok
}

// SetsBySequence lists the feature sets, newest first, by their distance from the newest number.
func (s Snapshot) SetsBySequence() []SetEntry {
	newest := s.Sequence()
	return slices.SortedFunc(maps.Values(s.Sets), func(a, b SetEntry) int {
		ofA := wire.CompareSequences(a.Lineage.Sequence, newest)
		ofB := wire.CompareSequences(b.Lineage.Sequence, newest)
		return cmp.Or(cmp.Compare(ofB, ofA), cmp.Compare(a.ID, b.ID))
	})
}

// With returns the snapshot with one more feature set, the current one if Current names it. It is
// for tests.
func (s Snapshot) With(set Set) Snapshot {
	if s.Sets == nil {
		s.Sets = map[string]SetEntry{}
	}
	entry := SetEntry{ID: set.ID, Time: set.Time}
	if set.Set != nil && set.Set.Set.Features != nil {
		entry = newSetEntry(set.ID, pipeline.Record{Time: set.Time}, set.Set)
	}
	s.Sets = maps.Clone(s.Sets)
	s.Sets[set.ID] = entry
	if s.Current != nil && s.Current.ID == set.ID {
		s.held.current = &set
	}
	return s
}

// putSet stores a set that was read.
func (s *Snapshot) putSet(entry SetEntry, set *wire.FeatureSet) {
	s.copySets()
	s.Sets[entry.ID] = entry
	held := &Set{ID: entry.ID, Set: set, Time: entry.Time}
	if newest := s.held.newest; newest == nil ||
		wire.CompareSequences(set.Lineage.Sequence, newest.Set.Lineage.Sequence) >= 0 {
		s.held.newest = held
	}
	if s.Current != nil && s.Current.ID == entry.ID {
		s.held.current = held
	}
}

// copySets copies the map that earlier snapshots share, once for all records of a fetch.
func (s *Snapshot) copySets() {
	if !s.ownSets {
		s.Sets = maps.Clone(s.Sets)
		s.ownSets = true
	}
}

// dropSet applies a tombstone.
func (s *Snapshot) dropSet(id string) {
	s.copySets()
	delete(s.Sets, id)
	if s.held.newest != nil && s.held.newest.ID == id {
		s.held.newest = nil
	}
	if s.held.current != nil && s.held.current.ID == id {
		s.held.current = nil
	}
}

// pointSet makes a set current. A lost set that is no longer current needs no repair.
func (s *Snapshot) pointSet(current *wire.Current) {
	s.dropRepairs(func(r Repair) bool {
		return r.Record == RecordSetPointer || r.Record == RecordSet && r.Gone && r.ID != current.ID
	})
	s.Current = current
	if s.held.newest != nil && s.held.newest.ID == current.ID {
		s.held.current = s.held.newest
	}
	if s.held.current != nil && s.held.current.ID != current.ID {
		s.held.current = nil
	}
}

// cache shares values for as long as a caller holds them. The zero value is ready for concurrent
// use.
type cache[T any] struct {
	mu     sync.Mutex
	values map[string]weak.Pointer[T]
}

// get returns a value if a caller still holds it, else nil.
func (c *cache[T]) get(id string) *T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.values[id].Value()
}

// put remembers a value.
func (c *cache[T]) put(id string, value *T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil {
		c.values = map[string]weak.Pointer[T]{}
	}
	for other, held := range c.values {
		if held.Value() == nil {
			delete(c.values, other)
		}
	}
	c.values[id] = weak.Make(value)
}

// LoadSet returns a complete feature set, from this process if a caller holds it, otherwise from
// the topic. If compaction has just removed it, the error is an [ErrNoSet].
func (f *Follower) LoadSet(ctx context.Context, entry SetEntry) (*wire.FeatureSet, error) {
	if set := f.sets.get(entry.ID); set != nil {
		return set, nil
	}
	select { // one at a time, so that callers waiting for the same set share it
	case f.loadingSet <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("read feature set %s: %w", entry.ID, ctx.Err())
	}
	defer func() { <-f.loadingSet }()
	set, err := f.readSet(pipeline.ForState(ctx), entry) // the caller may hold events meanwhile
	if err != nil {
		return nil, fmt.Errorf("read feature set %s: %w", entry.ID, err)
	}
	return set, nil
}

// readSet reads a set at the offset of its entry, or else wherever the topic now holds it: if a set
// is rewritten, compaction removes the earlier record.
func (f *Follower) readSet(ctx context.Context, entry SetEntry) (*wire.FeatureSet, error) {
	if set := f.sets.get(entry.ID); set != nil { // another caller has just read it
		return set, nil
	}
	set, err := f.findSet(ctx, entry.ID, entry.Offset, entry.Offset+1)
	if err == nil && set == nil {
		set, err = f.findSet(ctx, entry.ID, pipeline.FirstOffset, pipeline.PresentEnd)
	}
	if err == nil && set == nil {
		err = fmt.Errorf("%w: compaction has just removed it", ErrNoSet)
	}
	if err != nil {
		return nil, err
	}
	f.sets.put(entry.ID, set)
	return set, nil
}

// findSet returns the last set with the given id among the records between two offsets, or nil.
func (f *Follower) findSet(
	ctx context.Context,
	id string,
	from, until int64,
) (found *wire.FeatureSet, err error) {
	decoder, key := arrowio.NewDecoder(f.config.Limits()), string(wire.SetKey(f.config.Pipeline, id))
	reader := pipeline.NewReader(f.log, f.logger, f.config.FeatureSets, 0, pipeline.ReadOptions{
		From: from, Until: until, OnGap: func(g pipeline.Gap) error {
			if until == from+1 { // the caller then searches the whole topic
				return io.EOF
			}
			return nil
		},
	})
	for r, err := range reader.Records(ctx) {
		if err != nil {
			return nil, err
		}
		if string(r.Key) != key {
			continue
		}
		if r.Value == nil {
			found = nil
			continue
		}
		set, err := decodeSet(decoder, id, r)
		if err != nil { // an earlier record still counts
			f.logUndecodable(f.config.FeatureSets, r, err)
			continue
		}
		found = set
	}
	return found, nil
}

func decodeSet(decoder *arrowio.Decoder, id string, r pipeline.Record) (*wire.FeatureSet, error) {
	set, err := wire.DecodeFeatureSet(decoder, r.Value)
	if err != nil {
		return nil, err
	}
	if set.ID() != id {
		return nil, fmt.Errorf("feature set %s is stored under the key of %s", set.ID(), id)
	}
	return set, nil
}

// holdCurrent reads the current set when a pointer moves back to one that is no longer in memory,
// until ctx ends. A set that cannot be read is not retried before its entry changes.
func (f *Follower) holdCurrent(ctx context.Context) {
	for {
		entry, err := f.awaitPending(ctx)
		if err != nil {
			return // ctx has ended
		}
		set, err := f.LoadSet(ctx, entry)
		if err != nil && ctx.Err() != nil {
			return
		}
		if err != nil {
			f.logger.Error("current feature set cannot be read", zap.String("feature_set", entry.ID), zap.Error(err))
		}
		f.change(func() {
			if now, ok := f.snapshot.pending(); !ok || now.ID != entry.ID {
				return
			}
			if err != nil {
				f.unreadable = entry
				return
			}
			f.snapshot.held.current = &Set{ID: entry.ID, Set: set, Time: entry.Time}
		})
	}
}

// awaitPending returns the current set once it has to be read.
func (f *Follower) awaitPending(ctx context.Context) (SetEntry, error) {
	for {
		f.mu.Lock()
		entry, changed := f.toLoad(), f.changed
		f.mu.Unlock()
		if entry != nil {
			return *entry, nil
		}
		select {
		case <-ctx.Done():
			return SetEntry{}, ctx.Err()
		case <-changed:
		}
	}
}

// toLoad returns the current set if it has to be read. The caller holds the lock.
func (f *Follower) toLoad() *SetEntry {
	entry, ok := f.snapshot.pending()
	if !ok || !f.read[TopicFeatureSets] || f.unreadable.ID == entry.ID && f.unreadable.Offset == entry.Offset {
		return nil
	}
	return &entry
}
