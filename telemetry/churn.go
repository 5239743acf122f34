package telemetry

import "github.com/eerf-stream/eerf/stages/state"

// churnOf is the share of the features in use that are not in the set with the next lower sequence number. It is
// unknown if the topic has no such set.
func churnOf(now state.Snapshot) float64 {
	current := now.CurrentSet()
	if current == nil {
		return unknown
	}
	entry := now.Sets[current.ID]
	if before, ok := now.Before(entry); !ok || before.ID != entry.Before {
		return unknown
	}
	return entry.Churn
}
