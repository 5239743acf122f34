package calibrate

import (
	"context"
	"errors"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// partitionError says in which partition of events a plan failed.
type partitionError struct {
	partition int32
	err       error
}

func (e *partitionError) Error() string { return e.err.Error() }
func (e *partitionError) Unwrap() error { return e.err }

// broken holds the partitions of events in which plans failed. It is emptied after a plan without them, so that the
// next plan tries them again.
type broken map[int32]brokenPartition

type brokenPartition struct {
	since  time.Time // on this process's clock
	reason string
}

// note records that a plan failed in a partition, if it did. Refused credentials and the end of ctx are not the
// partition's fault, and a range that moved is simply looked up again.
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

// gone lists the partitions in which plans have failed for longer than patience.
func (b broken) gone(patience time.Duration) (list []wire.Exclusion) {
	for partition, at := range b {
		if time.Since(at.since) >= patience {
			list = wire.Exclude(list, wire.Exclusion{Partition: partition, Reason: at.reason})
		}
	}
	return list
}
