package stages

import (
	"errors"
	"sync"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// scoreboard holds the newest checkpoints of each partition of each exploration that the scores topic has.
type scoreboard struct {
	mu      sync.Mutex
	newest  map[string]map[int32]entries // by key and partition
	changed chan struct{}
	behind  int // partitions of scores that have not been read to their end yet

	spec     *wire.Spec // last asked for; these two belong to the goroutine that asks
	specHash string
}

// origin is what checkpoints must have in common for one of them to take another's place.
type origin struct{ specHash, kernel string }

// entries are the newest checkpoints of one partition by their origin: those of another spec or kernel than the
// exploration's hide nothing.
type entries map[origin]*entry

type entry struct {
	*wire.Checkpoint
	refused bool // it has been said that these checkpoints are not used
}

func newScoreboard() *scoreboard {
	return &scoreboard{newest: map[string]map[int32]entries{}, changed: make(chan struct{})}
}

func (b *scoreboard) signal() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// caughtUp says that one more partition has been read to the end that it had at the start.
func (b *scoreboard) caughtUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.behind--
	b.announce()
}

// complete says that everything that scores held at the start has been read.
func (b *scoreboard) complete() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.behind == 0
}

// announce tells of a change; the caller holds the lock.
func (b *scoreboard) announce() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// apply takes a record of scores in. A tombstone removes the partition's checkpoints; of two checkpoints of one origin
// the one that has come further stays.
func (b *scoreboard) apply(decoder *arrowio.Decoder, rec pipeline.Record, pipelineName string) error {
	key := string(rec.Key)
	if pipelineOfExploration(key) != pipelineName {
		return nil
	}
	var checkpoint *wire.Checkpoint
	if rec.Value != nil {
		var err error
		if checkpoint, err = wire.DecodeCheckpoint(decoder, rec.Value); err != nil {
			return err
		}
		if string(wire.CheckpointKey(checkpoint.Exploration, checkpoint.Pass)) != key || int(checkpoint.Partition) != rec.Partition {
			return errors.New("checkpoint under the key or in the partition of another one")
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.announce()
	partitions, partition := b.newest[key], int32(rec.Partition)
	if checkpoint == nil {
		if delete(partitions, partition); len(partitions) == 0 {
			delete(b.newest, key)
		}
		return nil
	}
	if partitions == nil {
		partitions = map[int32]entries{}
		b.newest[key] = partitions
	}
	if partitions[partition] == nil {
		partitions[partition] = entries{}
	}
	made := origin{checkpoint.SpecHash, checkpoint.Kernel}
	switch last := partitions[partition][made]; {
	case last == nil:
		partitions[partition][made] = &entry{Checkpoint: checkpoint}
	case supersedes(checkpoint, last.Checkpoint, made.kernel):
		last.Checkpoint = checkpoint
	}
	return nil
}

// of returns the checkpoints made under the spec by the kernel that it names.
func (b *scoreboard) of(spec *wire.Spec) []*wire.Checkpoint {
	var usable []*wire.Checkpoint
	b.each(spec, func(e *entry, fits bool) {
		if fits {
			usable = append(usable, e.Checkpoint)
		}
	})
	return usable
}

// refusals says why other checkpoints under the exploration's key are not used, once for each origin.
func (b *scoreboard) refusals(spec *wire.Spec) []error {
	var refused []error
	b.each(spec, func(e *entry, fits bool) {
		if !fits && !e.refused {
			e.refused = true
			refused = append(refused, e.CheckAgainst(spec, spec.Kernel))
		}
	})
	return refused
}

// each calls do for the checkpoints under the key of the exploration's pass, and says which of them may be used.
func (b *scoreboard) each(spec *wire.Spec, do func(e *entry, fits bool)) {
	if b.spec != spec { // the hash of a large encoder takes its time
		b.spec, b.specHash = spec, spec.Hash()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, partition := range b.newest[string(wire.CheckpointKey(spec.Exploration, spec.Pass))] {
		for _, e := range partition {
			do(e, b.fits(e.Checkpoint))
		}
	}
}

// fits is [wire.Checkpoint.CheckAgainst] for the spec in hand, whose hash is known.
func (b *scoreboard) fits(c *wire.Checkpoint) bool {
	part, ok := b.spec.Partition(c.Partition)
	return ok && c.SpecHash == b.specHash && c.Kernel == b.spec.Kernel && c.NextOffset >= part.StartOffset &&
		c.CheckShape(b.spec) == nil
}
