package calibrate

import (
	"context"
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/stages/state"
)

// elapsed holds from exploration.every after the last plan on. It uses the time of planning,
// because the record's own time changes when an exploration is cancelled.
type elapsed struct{}

func (elapsed) check(_ context.Context, p *Planner, now state.Snapshot) *trigger {
	every := p.Settings.Exploration.Every
	if every == 0 || now.Spec == nil || now.Running() != nil || !hasPassed(every, now.Spec.PlannedAt, p.Env.Clock()) {
		return nil
	}
	return &trigger{reason: fmt.Sprintf("%v since the last plan", every)}
}

// wrongLead is by how much a time on a topic is ahead of the clock if another, wrong clock made it.
const wrongLead = 24 * time.Hour

// hasPassed reports whether a duration has passed since a time on a topic. A wrong time is no
// reason to wait until it has come, which could take years.
func hasPassed(d time.Duration, since, now time.Time) bool {
	return now.Sub(since) >= d || since.Sub(now) > wrongLead
}
