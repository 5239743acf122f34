package state

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// Scoreboard holds the newest checkpoints of each partition of each exploration of a pipeline. It is safe for
// concurrent use, except for Of, which belongs to one goroutine.
type Scoreboard struct {
	// Exploration, if set, is the only one whose checkpoints are kept, even when they are tombstoned.
	Exploration string
	// WithoutSums keeps checkpoints without their sums, the most of them.
	WithoutSums bool

	pipeline string
	limits   arrowio.Limits

	decoding sync.Mutex // one record at a time: checkpoints are large, and come from every partition at once

	mu      sync.Mutex
	newest  map[string]map[int32]origins // by key and partition
	changed chan struct{}

	spec     *wire.Spec // the one last asked for; this and the next field belong to the goroutine that asks
	specHash string
}

// origin is what two checkpoints must share for one to replace the other.
type origin struct{ specHash, kernel string }

// origins are the newest checkpoints of one partition by origin: those of another spec or kernel hide nothing.
type origins map[origin]*wire.Checkpoint

// NewScoreboard returns a scoreboard without checkpoints.
func NewScoreboard(config Config) *Scoreboard {
	return &Scoreboard{pipeline: config.Pipeline, limits: config.Limits(), newest: map[string]map[int32]origins{}, changed: make(chan struct{})}
}

// FollowScores hands use a scoreboard and keeps it up to date with the given number of partitions of scores, from their
// first offsets, until ctx ends or use returns. keep runs the follower of each partition, and may run it again if it
// fails.
func (f *Follower) FollowScores(ctx context.Context, partitions int,
	keep func(ctx context.Context, partition int, follow func(context.Context) error) error, use func(context.Context, *Scoreboard) error) error {
	board := NewScoreboard(f.config)
	group, ctx := errgroup.WithContext(ctx)
	following, stop := context.WithCancel(ctx)
	for partition := range partitions {
		group.Go(func() error {
			return keep(following, partition, func(ctx context.Context) error { return board.follow(ctx, f, partition) })
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
	changed := func(g pipeline.Gap) { // checkpoints stay valid, and their owners write them again
		f.change(func() { f.snapshot.countChange(TopicScores, g) })
	}
	return followed(ctx, f.log, f.logger, f.config.Scores, partition, changed, func(records []pipeline.Record, _ int64, _ bool) {
		for _, r := range records {
			if err := b.Apply(decoder, r); err != nil {
				f.logger.Error("checkpoint not understood, ignored", zap.Int("partition", partition),
					zap.Int64("offset", r.Offset), zap.Error(err))
				f.change(func() { f.snapshot.Undecodable[TopicScores]++ })
			}
		}
	})
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

// Apply applies a record of scores. A tombstone removes the partition's checkpoints. Of two checkpoints with one
// origin, the one that is further along stays.
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
	switch c, r := found.Checkpoint, found.Refusal; {
	case errors.Is(err, wire.ErrFormatVersion): // its owner writes nothing else under the key
		return nil
	case c != nil && (c.Exploration != key || int(c.Partition) != rec.Partition), r != nil && (r.Exploration != key || int(r.Partition) != rec.Partition):
		err = errors.New("checkpoint or refusal under the key or in the partition of another one")
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

// add keeps a checkpoint if it is as far along as the one already there. The caller holds the lock.
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

// remove removes the checkpoints of a partition, unless they stay.
func (b *Scoreboard) remove(key string, partition int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Exploration != "" {
		return
	}
	if delete(b.newest[key], partition); len(b.newest[key]) == 0 {
		delete(b.newest, key)
	}
	b.announce()
}

// Newest returns, for each partition, the checkpoint under a key that is furthest along, whatever its origin.
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

// Of returns the checkpoints made under the spec by the kernel that it names.
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
	return ok && c.SpecHash == b.specHash && c.Arithmetic == b.spec.Arithmetic && c.NextOffset >= part.StartOffset &&
		c.CheckShape(b.spec) == nil
}

// Supersedes reports whether c replaces last, both checkpoints of one partition: the spec's kernel comes first, then
// the later attempt, then the one further along, then c.
func Supersedes(c, last *wire.Checkpoint, kernel string) bool {
	if right := c.Arithmetic == kernel; right != (last.Arithmetic == kernel) {
		return right
	}
	return cmp.Or(cmp.Compare(c.Attempt, last.Attempt), cmp.Compare(c.NextOrdinal, last.NextOrdinal), cmp.Compare(c.NextOffset, last.NextOffset)) >= 0
}
