package subsample

import (
	"context"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// Partition is a partition in the hands of one owner, for tests.
type Partition = partition

// Restore takes the first partition of a spec in hand.
func (r *Runner) Restore(ctx context.Context, spec *wire.Spec, attempt int) (*Partition, error) {
	p := &partition{Runner: r, spec: spec, specHash: spec.Hash(), part: spec.Partitions[0], logger: r.Logger,
		commit: func(context.Context, int64) error { return nil }}
	return p, p.restore(ctx, attempt)
}

// Run reads to the end of the range.
func (p *Partition) Run(ctx context.Context) error { return p.run(ctx) }

// Guard keeps the last checkpoint the newest.
func (p *Partition) Guard(ctx context.Context) error { return p.guard(ctx) }

// Core is what the partition adds up.
func (p *Partition) Core() *Subsampler { return p.core }

// Saved is the newest checkpoint that is known to be on the topic.
func (p *Partition) Saved() *wire.Checkpoint { return p.scores.saved }

// ErrOvertaken is what another owner's checkpoint, from which reading is to go on, ends the guarding with.
var ErrOvertaken = errOvertaken
