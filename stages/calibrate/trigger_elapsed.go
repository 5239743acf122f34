package calibrate

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/stages/state"
)

// elapsed holds from exploration.every after the last plan on. It uses the time of planning,
// because the record's own time changes when an exploration is cancelled.
type elapsed struct{}

func (elapsed) check(_ context.Context, p *Planner, now state.Snapshot) *trigger {
	every := p.Settings.Exploration.Every
	if every == 0 || now.Spec == nil || now.Running() != nil || p.Env.Clock().Sub(now.Spec.PlannedAt) < every {
		return nil
	}
	return &trigger{reason: fmt.Sprintf("%v since the last plan", every)}
}
