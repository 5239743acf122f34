package calibrate

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/stages/state"
)

// noSet holds before the first exploration.
type noSet struct{}

func (noSet) check(_ context.Context, _ *Planner, now state.Snapshot) *trigger {
	if now.Current != nil || now.Spec != nil || now.SpecLost() {
		return nil
	}
	return &trigger{reason: "the pipeline has no feature set"}
}

// specLost holds if the spec of the last exploration is unreadable, for instance because a build
// with another format version planned it.
type specLost struct{}

func (specLost) check(_ context.Context, _ *Planner, now state.Snapshot) *trigger {
	if now.Spec != nil || !now.SpecLost() && now.Current == nil {
		return nil
	}
	return &trigger{reason: "the spec of the last exploration cannot be read"}
}

// setLost holds if the current set is unreadable and no exploration is about to replace it.
type setLost struct{}

func (setLost) check(_ context.Context, _ *Planner, now state.Snapshot) *trigger {
	if now.Current == nil || now.CurrentSet() != nil || now.Status() != state.StatusPublished {
		return nil
	}
	return &trigger{reason: fmt.Sprintf("current feature set %s cannot be read", now.Current.ID), force: true}
}
