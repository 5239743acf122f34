package subsample

import (
	"context"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// Partition exports partition for tests.
type Partition = partition

// Restore restores the first partition of a spec.
func (r *Runner) Restore(ctx context.Context, spec *wire.Spec, attempt int) (*Partition, error) {
	p := &partition{
		Runner:   r,
		spec:     spec,
		specHash: spec.Hash(),
		part:     spec.Partitions[0],
		writer:   r.Env.Broker,
		logger:   r.Env.Logger,
		commit:   func(context.Context, int64, pipeline.LogID) error { return nil },
	}
	return p, p.restore(ctx, attempt)
}

// TakePart takes part in an exploration as the owner of its partition 0.
func (r *Runner) TakePart(ctx context.Context, spec *wire.Spec) error {
	return r.takePart(ctx, zap.NewNop(), spec, spec.Hash(), owner{writer: r.Env.Broker})
}

// Run reads to the end of the range.
func (p *Partition) Run(ctx context.Context) error { return p.run(ctx) }

// Guard guards the last checkpoint.
func (p *Partition) Guard(ctx context.Context) error { return p.guard(ctx) }

// Core returns the subsampler.
func (p *Partition) Core() *Subsampler { return p.core }

// Saved returns the newest checkpoint known to be on the topic.
func (p *Partition) Saved() *wire.Checkpoint { return p.scores.saved }

// ErrOvertaken ends guarding when work must continue from another owner's checkpoint.
var ErrOvertaken = errOvertaken
