package calibrate

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/stages/state"
)

// leaderless holds while the running exploration waits for a partition without a leader. Once features are being chosen,
// all of its rows have been read.
type leaderless struct{}

func (leaderless) check(_ context.Context, p *Planner, now state.Snapshot) *trigger {
	spec := now.Running()
	if spec == nil || now.Progress != nil && now.Progress.Exploration == spec.Exploration {
		return nil
	}
	for _, gone := range p.leaders.Gone() {
		if spec.Reads(gone.Partition) {
			return &trigger{
				reason: fmt.Sprintf("planned again without partition %d: %s", gone.Partition, gone.Reason), from: spec.From, replan: true,
			}
		}
	}
	return nil
}
