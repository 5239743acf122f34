package supervise

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

// Exclude returns what asks, until its context ends, for every exploration that reads a partition to be planned again
// without it. It serves as [Stage.Overdue].
func Exclude(follower *state.Follower, logger *zap.Logger, clock func() time.Time) func(ctx context.Context, partition int, cause error) {
	return func(ctx context.Context, partition int, cause error) {
		e := excluder{follower, logger.With(zap.Int("partition", partition)), clock}
		e.ask(ctx, int32(partition), cause)
	}
}

type excluder struct {
	state  *state.Follower
	logger *zap.Logger
	clock  func() time.Time
}

func (e excluder) ask(ctx context.Context, partition int32, cause error) {
	asked := ""
	for {
		now, err := e.state.Wait(ctx, func(s state.Snapshot) bool {
			running := s.Running()
			return running != nil && running.Exploration != asked && running.Reads(partition)
		})
		if err != nil {
			return
		}
		spec := now.Running()
		asked = spec.Exploration
		request := wire.Request{
			Action: wire.ActionExclude, ID: wire.ExclusionRequestID(spec.Sequence, partition), Exploration: spec.Exploration,
			Partition: partition, Reason: cause.Error(), Time: e.clock(),
		}
		if now.HasRequest(request.ID) {
			continue
		}
		logger := e.logger.With(zap.String("exploration", spec.Exploration))
		if err := e.state.SendRequest(ctx, request); err != nil {
			if ctx.Err() == nil {
				logger.Error("no plan without the partition could be asked for: has this process the right to write to explorations?", zap.Error(err))
			}
			continue
		}
		logger.Warn("asked for a plan without the partition")
	}
}
