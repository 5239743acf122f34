package crash

import (
	"context"
	"fmt"
)

// Kind says what schedules do in addition to crashes. What a kind adds is in its own file.
type Kind string

// The kinds of schedules.
const (
	KindCrashes  Kind = "crashes"  // nothing else
	KindRecreate Kind = "recreate" // topics are deleted and created again
)

// kindRules is what a kind of schedules does differently.
type kindRules struct {
	kind      Kind
	draw      func(drawer, *Plan)                       // adds to a plan of crashes, in any order; nil = nothing
	configure func(values map[string]any)               // sets keys of the configuration; nil = none
	topics    func(context.Context, *run) error         // creates topics differently from the programs; nil = none
	act       func(context.Context, *run, Action) error // performs its own act; nil if there is none
	rest      func(context.Context, *run)               // ends the plan: waits until the pipeline is at rest, or reports why it is not
	check     func(ctx context.Context, r *run) error   // compares the topics with the input
}

// kinds lists the kinds in the order of --kind all.
func kinds() []kindRules {
	return []kindRules{
		{kind: KindCrashes, rest: comeToRest, check: check},
		{kind: KindClock, draw: drawClocks, topics: makeTolerantEvents, rest: comeToRest, check: check},
		{kind: KindRecreate, draw: drawRecreate, act: recreate, rest: comeToRest, check: check},
		{kind: KindTruncate, draw: drawTruncate, act: truncate, rest: comeToRest, check: check},
		{kind: KindPoison, draw: drawPoison, act: actPoison, rest: comeToRest, check: check},
		{kind: KindTransaction, draw: drawTransactions, act: actTransaction, rest: comeToRest, check: check},
		{kind: KindLost, draw: drawLost, act: actLost, rest: comeToRest, check: check},
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

// topic is the name of the topic that the slot of an action means.
func (r *run) topic(slot string) string {
	names := r.loaded.Stages.Topics
	return map[string]string{
		"events": names.Events, "explorations": names.Explorations, "scores": names.Scores, "samples": names.Samples,
		"feature-sets": names.FeatureSets, "features": names.Features, "models": names.Models, "dead-letters": names.DeadLetters,
	}[slot]
}

func (k Kind) rules() kindRules {
	for _, rules := range kinds() {
		if rules.kind == k {
			return rules
		}
	}
	panic(fmt.Sprintf("crash: kind of schedules %q", k))
}
