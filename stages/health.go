package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/topics"
)

// Names of what [Process.Conditions] looks at, besides those of groups, which are group and the stage.
const (
	ConditionBroker     = "broker"
	ConditionTopics     = "topics"
	ConditionFeatureSet = "feature_set"
	ConditionRegistry   = "registry"
)

// Condition is one thing that has to hold for a process to do its work.
type Condition struct {
	Name   string
	OK     bool
	Detail string // why not, or what there is
}

// Conditions reports whether the broker and the schema registry answer, the topics are there, the groups of the stages are joined,
// whether or not they give the process a partition, and the feature set is there that the stage featurize needs. A group that
// was joined may be without this process for as long as joining it again takes, at most for rejoin: another process that
// comes or goes is no fault of this one. A stage that stands aside, as the process cannot compute the exploration, says so. How far the stages have come is not among the conditions.
func (p *Process) Conditions(ctx context.Context, stages []string, rejoin time.Duration) []Condition {
	conditions := p.brokerConditions(ctx)
	if p.Registry != nil {
		conditions = append(conditions, registryCondition(p.Registry.Away()))
	}
	for _, stage := range stages {
		conditions = append(conditions, p.groupCondition(stage, rejoin))
	}
	if slices.Contains(stages, meter.StageFeaturize) {
		conditions = append(conditions, p.setCondition())
	}
	return conditions
}

func (p *Process) brokerConditions(ctx context.Context) []Condition {
	_, err := p.Broker.Partitions(ctx, p.Settings.Topics.Events)
	if err != nil && !errors.Is(err, pipeline.ErrUnknownTopic) {
		detail := err.Error()
		if ctx.Err() != nil {
			detail = "no answer in time: " + detail
		}
		return []Condition{{ConditionBroker, false, detail}, {ConditionTopics, false, "the broker does not answer"}}
	}
	return []Condition{{ConditionBroker, true, ""}, topicsCondition(topics.Check(ctx, p.Broker, p.Settings.Topics))}
}

// topicsCondition judges what a check of the topics found. Where only some partitions of events have no counterparts, the
// work in the others goes on.
func topicsCondition(err error) Condition {
	if err == nil {
		return Condition{ConditionTopics, true, ""}
	}
	works := errors.Is(err, topics.ErrNotCoPartitioned) && !errors.Is(err, topics.ErrCompactedEvents) && !errors.Is(err, pipeline.ErrUnknownTopic)
	return Condition{ConditionTopics, works, err.Error() + " (`featurizer topics check` says it all, `topics create` makes what is missing)"}
}

// registryCondition judges the last answer of the schema registry. A message of a schema that is not known waits for it.
func registryCondition(away error) Condition {
	if away == nil {
		return Condition{ConditionRegistry, true, ""}
	}
	return Condition{ConditionRegistry, false, "the schema registry does not answer: " + away.Error()}
}

// groupCondition looks at the group of a stage.
func (p *Process) groupCondition(stage string, rejoin time.Duration) Condition {
	condition := Condition{Name: "group " + stage}
	group, ok := p.Groups()[stage]
	away := time.Since(group.Since).Round(time.Millisecond)
	switch aside := p.Meter.Activity().Aside[stage]; {
	case aside != "":
		condition.Detail = aside
	case !ok:
		condition.Detail = "not started: it waits for the topics, or has ended"
	case group.Joined:
		condition.OK, condition.Detail = true, fmt.Sprintf("joined, partitions %v", group.Partitions)
	case group.Joins > 0 && away <= rejoin:
		condition.OK, condition.Detail = true, fmt.Sprintf("joining again for %v", away)
	default:
		condition.Detail = fmt.Sprintf("not joined for %v", away)
		if group.Err != nil {
			condition.Detail += ": " + group.Err.Error()
		}
	}
	return condition
}

func (p *Process) setCondition() Condition {
	condition := Condition{Name: ConditionFeatureSet}
	if set := p.State.Snapshot().CurrentSet(); set != nil {
		condition.OK, condition.Detail = true, set.ID
	} else {
		condition.Detail = "there is none yet: the first exploration has not ended, or has not begun"
		if from := p.Settings.Featurize.SetsFrom; from != "" {
			condition.Detail = fmt.Sprintf("pipeline %s (featurize.sets_from) has none yet", from)
		} else if planning := p.Meter.Activity().Planning; planning.MissingRows > 0 {
			condition.Detail = fmt.Sprintf("there is none yet: %d labelled rows are missing for the first exploration", planning.MissingRows)
		} else if planning.Fault != "" {
			condition.Detail = "there is none yet: " + planning.Fault
		}
	}
	return condition
}

// Groups returns the consumer groups of the stages, by stage, as far as the broker reports them.
func (p *Process) Groups() map[string]pipeline.GroupStatus {
	groups := map[string]pipeline.GroupStatus{}
	reporter, ok := p.Broker.(pipeline.GroupReporter)
	if !ok {
		return groups
	}
	statuses := reporter.Groups()
	for _, stage := range meter.Stages() {
		for _, status := range statuses {
			if status.Group == p.Settings.Group(stage) {
				groups[stage] = status
			}
		}
	}
	return groups
}
