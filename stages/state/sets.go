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

// ErrNoSet says that the feature-sets topic does not hold a feature set.
var ErrNoSet = errors.New("not on the feature-sets topic")

// Set is a feature set on its topic.
type Set struct {
	ID   string
	Set  *wire.FeatureSet
	Time time.Time // of the record
}

// SetEntry is a feature set on its topic without its large parts, which [Follower.LoadSet] reads.
type SetEntry struct {
	ID     string
	Offset int64
	Time   time.Time // of the record

	Features int  // M
	Bounded  bool // whether its feature map is bounded by 1
	// Lineage lacks partitions, columns and the report of what was learned.
	Lineage wire.Lineage
	// Learned is from the lineage; LearnedBest and HeldOutRows are from the report, if there is one.
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

// heldSets are the feature sets that a snapshot holds whole.
type heldSets struct {
	current *Set // the one in use; nil until it is read
	newest  *Set // the one with the highest sequence number, which a pointer is about to name
}

// CurrentSet returns the feature set in use, or nil.
func (s Snapshot) CurrentSet() *Set {
	if s.Current == nil || s.held.current == nil || s.held.current.ID != s.Current.ID {
		return nil
	}
	return s.held.current
}

// pending returns the set in use if it is on the topic but not in memory, because the pointer went back to an older
// one.
func (s Snapshot) pending() (SetEntry, bool) {
	if s.Current == nil || s.CurrentSet() != nil {
		return SetEntry{}, false
	}
	entry, ok := s.Sets[s.Current.ID]
	return entry, ok
}

// SetsBySequence lists the feature sets, newest first.
func (s Snapshot) SetsBySequence() []SetEntry {
	return slices.SortedFunc(maps.Values(s.Sets), func(a, b SetEntry) int {
		return cmp.Or(cmp.Compare(b.Lineage.Sequence, a.Lineage.Sequence), cmp.Compare(a.ID, b.ID))
	})
}

// With returns the snapshot with one more feature set, in use if Current names it. It is for tests.
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
	s.Sets = maps.Clone(s.Sets)
	s.Sets[entry.ID] = entry
	held := &Set{ID: entry.ID, Set: set, Time: entry.Time}
	if newest := s.held.newest; newest == nil || newest.Set.Lineage.Sequence <= set.Lineage.Sequence {
		s.held.newest = held
	}
	if s.Current != nil && s.Current.ID == entry.ID {
		s.held.current = held
	}
}

// dropSet applies a tombstone. The set in use stays in memory, because messages on their way may name it.
func (s *Snapshot) dropSet(id string) {
	s.Sets = maps.Clone(s.Sets)
	delete(s.Sets, id)
	if s.held.newest != nil && s.held.newest.ID == id {
		s.held.newest = nil
	}
	if s.held.current != nil && s.held.current.ID == id {
		s.held.current = nil
	}
}

// pointSet applies a pointer.
func (s *Snapshot) pointSet(current *wire.Current) {
	s.Unwritten = s.Unwritten && s.Current != nil && s.Current.ID == current.ID // a set is written before its pointer
	s.Current, s.CurrentShadowed = current, false
	if s.held.newest != nil && s.held.newest.ID == current.ID {
		s.held.current = s.held.newest
	}
	if s.held.current != nil && s.held.current.ID != current.ID {
		s.held.current = nil
	}
}

// setCache remembers the sets that somebody holds, so that each is in memory once.
type setCache struct {
	loading chan struct{} // holds a token while a set is read

	mu   sync.Mutex
	sets map[string]weak.Pointer[wire.FeatureSet]
}

// get returns a set if somebody holds it, or nil.
func (c *setCache) get(id string) *wire.FeatureSet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sets[id].Value()
}

// put remembers a set for as long as somebody holds it.
func (c *setCache) put(id string, set *wire.FeatureSet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sets == nil {
		c.sets = map[string]weak.Pointer[wire.FeatureSet]{}
	}
	for other, held := range c.sets {
		if held.Value() == nil {
			delete(c.sets, other)
		}
	}
	c.sets[id] = weak.Make(set)
}

// LoadSet returns a whole feature set: one that somebody in this process holds, or else from the topic. If compaction
// has just removed it, the error is an [ErrNoSet].
func (f *Follower) LoadSet(ctx context.Context, entry SetEntry) (*wire.FeatureSet, error) {
	if set := f.sets.get(entry.ID); set != nil {
		return set, nil
	}
	select { // one at a time: those who wait for the same set share it
	case f.sets.loading <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("read feature set %s: %w", entry.ID, ctx.Err())
	}
	defer func() { <-f.sets.loading }()
	set, err := f.readSet(pipeline.ForState(ctx), entry) // the caller may hold events meanwhile
	if err != nil {
		return nil, fmt.Errorf("read feature set %s: %w", entry.ID, err)
	}
	return set, nil
}

// readSet reads a set from where its entry says or, if the record has moved, from where it is now: a set may be written
// again, and compaction then removes the earlier record.
func (f *Follower) readSet(ctx context.Context, entry SetEntry) (*wire.FeatureSet, error) {
	if set := f.sets.get(entry.ID); set != nil { // read meanwhile
		return set, nil
	}
	set, err := f.findSet(ctx, entry.ID, entry.Offset, entry.Offset+1)
	if err == nil && set == nil {
		set, err = f.findSet(ctx, entry.ID, pipeline.FirstOffset, pipeline.PresentEnd)
	}
	if err == nil && set == nil {
		err = fmt.Errorf("it is %w any more: compaction has just removed it", ErrNoSet)
	}
	if err != nil {
		return nil, err
	}
	f.sets.put(entry.ID, set)
	return set, nil
}

// findSet returns the last set with an id among the records between two offsets, or nil.
func (f *Follower) findSet(ctx context.Context, id string, from, until int64) (found *wire.FeatureSet, err error) {
	decoder, key := arrowio.NewDecoder(f.config.Limits()), string(wire.SetKey(f.config.Pipeline, id))
	reader := pipeline.NewReader(f.log, f.logger, f.config.FeatureSets, 0, pipeline.ReadOptions{
		From: from, Until: until, OnGap: func(g pipeline.Gap) error {
			if until == from+1 { // then look through everything
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
		if err != nil { // what came before it counts
			f.logger.Error("record not understood, ignored", zap.String("topic", f.config.FeatureSets), zap.Int64("offset", r.Offset), zap.Error(err))
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
		return nil, fmt.Errorf("feature set %s under the key of %s", set.ID(), id)
	}
	return set, nil
}

// holdCurrent reads the set in use when a pointer goes back to one that is no longer in memory, until ctx ends. If it
// cannot be read it stays away until the topic says something new.
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
			f.logger.Error("the feature set in use cannot be read", zap.String("feature_set", entry.ID), zap.Error(err))
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

// awaitPending returns the set in use once it has to be read.
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

// toLoad returns the set in use if it has to be read. The caller holds the lock.
func (f *Follower) toLoad() *SetEntry {
	entry, ok := f.snapshot.pending()
	if !ok || !f.read[TopicFeatureSets] || f.unreadable.ID == entry.ID && f.unreadable.Offset == entry.Offset {
		return nil
	}
	return &entry
}
