package calibrate

import (
	"context"

	"github.com/eerf-stream/eerf/stages/state"
)

// configChanged holds if the configuration hash differs from the newest exploration's.
type configChanged struct{}

func (configChanged) check(_ context.Context, p *Planner, now state.Snapshot) *trigger {
	if now.Spec == nil || now.Spec.ConfigHash == p.Settings.hash() {
		return nil
	}
	return &trigger{reason: "the configured spec has changed"}
}
