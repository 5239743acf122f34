package calibrate

import (
	"context"
	"errors"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// partitionError names the partition of events in which a plan failed.
type partitionError struct {
	partition int32
	err       error
}

func (e *partitionError) Error() string { return e.err.Error() }
func (e *partitionError) Unwrap() error { return e.err }

// broken holds the partitions of events in which plans failed. It is emptied after a plan without
// them, so that the next plan retries them.
type broken map[int32]brokenPartition

type brokenPartition struct {
	since  time.Time // on this process's clock
	reason string
}

// note records the partition in which a plan failed, if any. It ignores refused credentials and the
// end of ctx, which are not the partition's fault, and changed ranges, which are simply looked up
// again.
func (b broken) note(ctx context.Context, err error) {
	var in *partitionError
	if ctx.Err() != nil || !errors.As(err, &in) || errors.Is(err, pipeline.ErrDenied) || errors.Is(err, errPlanAgain) {
		return
	}
	before, known := b[in.partition]
	if !known {
		before.since = time.Now()
	}
	b[in.partition] = brokenPartition{before.since, err.Error()}
}

// gone returns the partitions in which plans have failed for at least the given patience.
func (b broken) gone(patience time.Duration) (list []wire.Exclusion) {
	for partition, at := range b {
		if time.Since(at.since) >= patience {
			list = wire.Exclude(list, wire.Exclusion{Partition: partition, Reason: at.reason})
		}
	}
	return list
}
