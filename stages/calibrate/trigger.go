package calibrate

import (
	"context"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

// trigger describes why and how an exploration starts.
type trigger struct {
	reason      string
	from        wire.From // empty = as configured
	extends     bool      // read the ranges of the last exploration and the rows after them
	asked       bool      // started by a request
	atLeast     int64     // labelled rows needed to be worthwhile; 0 = any number
	classesOnly bool      // started only by requests that name classes
	replan      bool      // replan the running exploration with one more partition excluded
	force       bool      // even if it reads the same rows as the last exploration
}

// reason is a condition under which an exploration starts without a request.
type reason interface {
	// check returns a trigger if the reason holds in a state.
	check(ctx context.Context, p *Planner, now state.Snapshot) *trigger
}

// reasons returns all reasons; the first one that holds counts. For requests see [answer].
func reasons() []reason {
	return []reason{
		noSet{},
		specLost{},
		setLost{},
		configChanged{},
		abandoned{},
		leaderless{},
		&stalled{},
		elapsed{},
		&logGrown{},
	}
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
