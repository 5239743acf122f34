package crash

import (
	"context"
	"fmt"
)

// Kind is a kind of disturbance in addition to crashes. Each has its own file.
type Kind string

// The kinds of schedules.
const (
	KindCrashes  Kind = "crashes"  // no other disturbance
	KindRecreate Kind = "recreate" // topics are deleted and recreated
)

// kindRules are the differences of a kind from KindCrashes.
type kindRules struct {
	kind   Kind
	draw   func(drawer, *Plan)                       // adds to a plan of crashes, in any order; nil = nothing
	topics func(context.Context, *run) error         // creates topics differently from the programs; nil = none
	act    func(context.Context, *run, Action) error // performs its own acts; nil = none
}

// kinds lists the kinds in the order of --kind all.
func kinds() []kindRules {
	return []kindRules{
		{kind: KindCrashes},
		{kind: KindClock, draw: drawClocks, topics: makeTolerantEvents},
		{kind: KindRecreate, draw: drawRecreate, act: recreate},
		{kind: KindLost, draw: drawLost, act: actLost},
	}
}

// Kinds lists the kinds of schedules.
func Kinds() []Kind {
	var all []Kind
	for _, k := range kinds() {
		all = append(all, k.kind)
	}
	return all
}

// topic returns the name of the topic in the slot of an action.
func (r *run) topic(slot string) string {
	names := r.loaded.Stages.Topics
	return map[string]string{
		"events": names.Events, "scores": names.Scores, "samples": names.Samples,
		"feature-sets": names.FeatureSets, "features": names.Features, "models": names.Models,
	}[slot]
}

func (k Kind) rules() kindRules {
	for _, rules := range kinds() {
		if rules.kind == k {
			return rules
		}
	}
	panic(fmt.Sprintf("crash: unknown kind of schedules %q", k))
}
