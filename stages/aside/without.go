package aside

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

// Asker asks the planner for explorations that do not wait for a partition.
type Asker struct {
	State  *state.Follower
	Logger *zap.Logger
	Clock  func() time.Time
}

// Ask asks, until ctx ends, for every exploration that reads the partition to be planned again without it. It serves as
// [Keeper.Overdue].
func (a Asker) Ask(ctx context.Context, partition int, cause error) {
	asked := ""
	for {
		now, err := a.State.Wait(ctx, func(s state.Snapshot) bool {
			running := s.Running()
			return running != nil && running.Exploration != asked && running.Reads(int32(partition))
		})
		if err != nil {
			return
		}
		spec := now.Running()
		asked = spec.Exploration
		request := wire.Request{
			Action: wire.ActionWithout, ID: wire.WithoutRequestID(spec.Sequence, int32(partition)), Exploration: spec.Exploration,
			Partition: int32(partition), Reason: cause.Error(), Time: a.Clock(),
		}
		if now.HasRequest(request.ID) {
			continue
		}
		logger := a.Logger.With(zap.Int("partition", partition), zap.String("exploration", spec.Exploration))
		if err := a.State.SendRequest(ctx, request); err != nil {
			if ctx.Err() == nil {
				logger.Error("no plan without the partition could be asked for: has this process the right to write to explorations?", zap.Error(err))
			}
			continue
		}
		logger.Warn("asked for a plan without the partition")
	}
}
