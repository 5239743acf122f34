package calibrate

import (
	"context"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

// trigger says why an exploration starts, and how.
type trigger struct {
	reason      string
	from        wire.From // empty = as configured
	extends     bool      // what the last one read, and what came after
	asked       bool      // by a request
	atLeast     int64     // labelled rows needed to be worthwhile; 0 = any number
	classesOnly bool      // only by requests that name classes
	replan      bool      // the running one, with one more partition left out
	force       bool      // even if it reads the same rows as the last one
}

// reason is one of those for which an exploration starts unasked.
type reason interface {
	// check returns a trigger if the reason holds in a state.
	check(ctx context.Context, p *Planner, now state.Snapshot) *trigger
}

// reasons are all of them; the first that holds counts. For requests see [answer].
func reasons() []reason {
	return []reason{noSet{}, specLost{}, setLost{}, configChanged{}, abandoned{}, leaderless{}, &stalled{}, elapsed{}, &logGrown{}}
}

// scheduled returns the trigger of the first reason that holds, or nil.
func (p *Planner) scheduled(ctx context.Context, now state.Snapshot) *trigger {
	if p.reasons == nil {
		p.reasons = reasons()
	}
	for _, r := range p.reasons {
		if t := r.check(ctx, p, now); t != nil {
			return t
		}
	}
	return nil
}
