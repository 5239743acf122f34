package calibrate

import (
	"context"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

// abandoned holds from planRetry after an exploration was abandoned without a feature set.
type abandoned struct{}

func (abandoned) check(_ context.Context, p *Planner, now state.Snapshot) *trigger {
	if now.Spec == nil || now.Spec.Status != wire.StatusAbandoned || !hasPassed(planRetry, now.SpecTime, p.Env.Clock()) {
		return nil
	}
	return &trigger{reason: "the last exploration was abandoned: " + now.Spec.Reason}
}
