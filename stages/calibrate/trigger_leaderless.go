package calibrate

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/stages/state"
)

// leaderless holds while the running exploration waits for a partition without a leader. It does
// not hold once the selection has begun, because all rows have been read by then.
type leaderless struct{}

func (leaderless) check(_ context.Context, p *Planner, now state.Snapshot) *trigger {
	spec := now.Running()
	if spec == nil || now.Progress != nil && now.Progress.Exploration == spec.Exploration {
		return nil
	}
	for _, gone := range p.leaders.Gone() {
		if spec.Reads(gone.Partition) {
			return &trigger{
				reason: fmt.Sprintf(
					"planned again without partition %d: %s",
					gone.Partition,
					gone.Reason,
				), from: spec.From, replan: true,
			}
		}
	}
	return nil
}
