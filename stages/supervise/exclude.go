package supervise

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

// Exclude returns a function that, until its context ends, requests a new plan without the
// partition for every exploration that reads it. It serves as [Stage.Overdue].
func Exclude(
	follower *state.Follower,
	logger *zap.Logger,
	clock func() time.Time,
) func(ctx context.Context, partition int, cause error) {
	return func(ctx context.Context, partition int, cause error) {
		asked := ""
		for {
			now, err := follower.Wait(ctx, func(s state.Snapshot) bool {
				running := s.Running()
				return running != nil && running.Exploration != asked && running.Reads(int32(partition))
			})
			if err != nil {
				return
			}
			spec := now.Running()
			asked = spec.Exploration
			request := wire.Request{
				Action:      wire.ActionExclude,
				ID:          wire.ExclusionRequestID(spec.Sequence, int32(partition)),
				Exploration: spec.Exploration,
				Partition:   int32(partition),
				Reason:      cause.Error(),
				Time:        clock(),
			}
			if !now.HasRequest(request.ID) {
				exclude(ctx, follower, logger, request)
			}
		}
	}
}

func exclude(ctx context.Context, follower *state.Follower, logger *zap.Logger, request wire.Request) {
	logger = logger.With(zap.Int32("partition", request.Partition), zap.String("exploration", request.Exploration))
	if err := follower.SendRequest(ctx, request); err == nil {
		logger.Warn("requested a plan without the partition")
	} else if ctx.Err() == nil {
		logger.Error(
			"cannot request a plan without the partition; check write access to the explorations topic", zap.Error(err),
		)
	}
}
