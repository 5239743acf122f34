package state

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// Scoreboard holds the newest checkpoints of each partition of each exploration of a pipeline. It
// is safe for concurrent use, except for Of, which belongs to one goroutine.
type Scoreboard struct {
	// Exploration, if set, is the only one whose checkpoints are kept, and tombstones do not remove
	// them.
	Exploration string
	// WithoutSums drops the sums, by far the largest part of a checkpoint.
	WithoutSums bool

	pipeline string
	limits   arrowio.Limits

	decoding sync.Mutex // one record at a time: checkpoints are large and arrive from all partitions at once

	mu      sync.Mutex
	newest  map[string]map[int32]origins // by key and partition
	changed chan struct{}

	spec     *wire.Spec // argument of the last call of Of; it and specHash belong to the goroutine that calls Of
	specHash string
}

// origin identifies the checkpoints that may replace each other.
type origin struct{ specHash, kernel string }

// origins are the newest checkpoints of one partition by origin. A checkpoint of another spec or
// kernel hides no other.
type origins map[origin]*wire.Checkpoint

// NewScoreboard returns a scoreboard without checkpoints.
func NewScoreboard(config Config) *Scoreboard {
	return &Scoreboard{
		pipeline: config.Pipeline,
		limits:   config.Limits(),
		newest:   map[string]map[int32]origins{},
		changed:  make(chan struct{}),
	}
}

// FollowScores calls use with a scoreboard and keeps it up to date with the given number of
// partitions of scores, from their first offsets, until ctx ends or use returns. keep runs the
// follower of each partition, and may rerun it if it fails.
func (f *Follower) FollowScores(
	ctx context.Context,
	partitions int,
	keep func(ctx context.Context, partition int, follow func(context.Context) error) error,
	use func(context.Context, *Scoreboard) error,
) error {
	board := NewScoreboard(f.config)
	group, ctx := errgroup.WithContext(ctx)
	following, stop := context.WithCancel(ctx)
	for partition := range partitions {
		group.Go(func() error {
			return keep(following, partition, func(ctx context.Context) error {
				return board.follow(ctx, f, partition)
			})
		})
	}
	group.Go(func() error {
		defer stop()
		return use(ctx, board)
	})
	return group.Wait()
}

// follow follows a partition.
func (b *Scoreboard) follow(ctx context.Context, f *Follower, partition int) error {
	decoder := arrowio.NewDecoder(b.limits)
	changed := func(g pipeline.Gap) { // checkpoints stay valid, and their owners rewrite them
		f.change(func() { f.snapshot.countChange(TopicScores, g) })
	}
	apply := func(records []pipeline.Record, _ int64, _ bool) {
		for _, r := range records {
			if err := b.Apply(decoder, r); err != nil {
				f.logUndecodable(f.config.Scores, r, err)
				f.change(func() { f.snapshot.Undecodable[TopicScores]++ })
			}
		}
	}
	return followPartition(ctx, f.log, f.logger, f.config.Scores, partition, changed, apply)
}

// Changed returns a channel that is closed at the next change.
func (b *Scoreboard) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// announce wakes the waiters. The caller holds the lock.
func (b *Scoreboard) announce() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// wants reports whether the checkpoints of a key are kept.
func (b *Scoreboard) wants(key string) bool {
	if b.Exploration != "" {
		return key == b.Exploration
	}
	owner, _, ok := wire.ParseCheckpointKey([]byte(key))
	return ok && owner == b.pipeline
}

// Apply applies a record of scores. A tombstone removes the partition's checkpoints. Of two
// checkpoints with the same origin, the furthest stays.
func (b *Scoreboard) Apply(decoder *arrowio.Decoder, rec pipeline.Record) error {
	key := string(rec.Key)
	if !b.wants(key) {
		return nil
	}
	if rec.Value == nil {
		b.remove(key, int32(rec.Partition))
		return nil
	}
	b.decoding.Lock()
	found, err := wire.DecodeScores(decoder, rec.Value)
	b.decoding.Unlock()
	misplaced := func(exploration string, partition int32) bool {
		return exploration != key || int(partition) != rec.Partition
	}
	switch c, r := found.Checkpoint, found.Refusal; {
	case errors.Is(err, wire.ErrFormatVersion): // its owner writes nothing else under the key
		return nil
	case c != nil && misplaced(c.Exploration, c.Partition), r != nil && misplaced(r.Exploration, r.Partition):
		err = errors.New("key or partition differs from the one in the checkpoint or refusal")
	case r != nil:
		b.Refuse(r)
		return nil
	}
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(key, found.Checkpoint)
	b.announce()
	return nil
}

// Refuse removes the checkpoints of the refused attempt and of earlier ones.
func (b *Scoreboard) Refuse(r *wire.Refusal) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for made, c := range b.newest[r.Exploration][r.Partition] {
		if made.specHash == r.SpecHash && c.Attempt <= r.Attempt {
			delete(b.newest[r.Exploration][r.Partition], made)
		}
	}
	b.announce()
}

// add stores a checkpoint unless the current one is further ahead. The caller holds the lock.
func (b *Scoreboard) add(key string, checkpoint *wire.Checkpoint) {
	if b.newest[key] == nil {
		b.newest[key] = map[int32]origins{}
	}
	partition := b.newest[key][checkpoint.Partition]
	if partition == nil {
		partition = origins{}
		b.newest[key][checkpoint.Partition] = partition
	}
	made := origin{checkpoint.SpecHash, checkpoint.Arithmetic}
	last := partition[made]
	if last != nil && !Supersedes(checkpoint, last, made.kernel) {
		return
	}
	if b.WithoutSums {
		checkpoint.Sums = nil
	}
	partition[made] = checkpoint
}

// remove removes the checkpoints of a partition, except from a scoreboard of one exploration.
func (b *Scoreboard) remove(key string, partition int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Exploration != "" {
		return
	}
	delete(b.newest[key], partition)
	if len(b.newest[key]) == 0 {
		delete(b.newest, key)
	}
	b.announce()
}

// Newest returns the furthest checkpoint of each partition under a key, of any origin.
func (b *Scoreboard) Newest(key string) map[int32]*wire.Checkpoint {
	b.mu.Lock()
	defer b.mu.Unlock()
	newest := map[int32]*wire.Checkpoint{}
	for partition, of := range b.newest[key] {
		for _, c := range of {
			if last := newest[partition]; last == nil || c.NextOrdinal > last.NextOrdinal {
				newest[partition] = c
			}
		}
	}
	return newest
}

// Of returns the checkpoints made under a spec with its kernel.
func (b *Scoreboard) Of(spec *wire.Spec) (usable []*wire.Checkpoint) {
	if b.spec != spec { // hashing a large encoder is slow
		b.spec, b.specHash = spec, spec.Hash()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, partition := range b.newest[spec.Exploration] {
		for _, c := range partition {
			if b.fits(c) {
				usable = append(usable, c)
			}
		}
	}
	return usable
}

// fits is [wire.Checkpoint.CheckAgainst] for the current spec, whose hash is cached.
func (b *Scoreboard) fits(c *wire.Checkpoint) bool {
	part, ok := b.spec.Partition(c.Partition)
	return ok && c.SpecHash == b.specHash && c.Arithmetic == b.spec.Arithmetic &&
		c.NextOffset >= part.StartOffset && c.CheckShape(b.spec) == nil
}

// Supersedes reports whether c replaces last, both checkpoints of one partition: the spec's kernel
// wins, then the later attempt, then the further one, then c.
func Supersedes(c, last *wire.Checkpoint, kernel string) bool {
	if matches := c.Arithmetic == kernel; matches != (last.Arithmetic == kernel) {
		return matches
	}
	return cmp.Or(
		cmp.Compare(c.Attempt, last.Attempt),
		cmp.Compare(c.NextOrdinal, last.NextOrdinal),
		cmp.Compare(c.NextOffset, last.NextOffset),
	) >= 0
}
