package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// Names of what [Runtime.Conditions] looks at, besides those of groups, which are group and the stage.
const (
	ConditionBroker     = "broker"
	ConditionTopics     = "topics"
	ConditionFeatureSet = "feature_set"
)

// Condition is one thing that has to hold for a process to do its work.
type Condition struct {
	Name   string
	OK     bool
	Detail string // why not, or what there is
}

// Conditions tells whether the broker answers, the topics are there, the groups of the stages are joined,
// whether or not they give the process a partition, and the feature set is there that the stage featurize needs. A group that
// was joined may be without this process for as long as joining it again takes, at most for rejoin: another process that
// comes or goes is no fault of this one. How far the stages have come is not among the conditions.
func (r *Runtime) Conditions(ctx context.Context, stages []string, rejoin time.Duration) []Condition {
	conditions := r.brokerConditions(ctx)
	for _, stage := range stages {
		conditions = append(conditions, r.groupCondition(stage, rejoin))
	}
	if slices.Contains(stages, StageFeaturize) {
		conditions = append(conditions, r.setCondition())
	}
	return conditions
}

func (r *Runtime) brokerConditions(ctx context.Context) []Condition {
	_, err := r.Broker.Partitions(ctx, r.Settings.Topics.Events)
	if err != nil && !errors.Is(err, pipeline.ErrUnknownTopic) {
		detail := err.Error()
		if ctx.Err() != nil {
			detail = "no answer in time: " + detail
		}
		return []Condition{{ConditionBroker, false, detail}, {ConditionTopics, false, "the broker does not answer"}}
	}
	return []Condition{{ConditionBroker, true, ""}, topicsCondition(CheckTopics(ctx, r.Broker, r.Settings.Topics))}
}

// topicsCondition judges what a check of the topics found. Where only some partitions of events have no counterparts, the
// work in the others goes on.
func topicsCondition(err error) Condition {
	if err == nil {
		return Condition{ConditionTopics, true, ""}
	}
	works := errors.Is(err, ErrNotCoPartitioned) && !errors.Is(err, ErrCompactedEvents) && !errors.Is(err, pipeline.ErrUnknownTopic)
	return Condition{ConditionTopics, works, err.Error() + " (`featurizer topics check` says it all, `topics create` makes what is missing)"}
}

// groupCondition looks at the group of a stage.
func (r *Runtime) groupCondition(stage string, rejoin time.Duration) Condition {
	condition := Condition{Name: "group " + stage}
	group, ok := r.Groups()[stage]
	away := time.Since(group.Since).Round(time.Millisecond)
	switch {
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

func (r *Runtime) setCondition() Condition {
	condition := Condition{Name: ConditionFeatureSet}
	if set := r.Watch.State().CurrentSet(); set != nil {
		condition.OK, condition.Detail = true, set.ID
	} else {
		condition.Detail = "there is none yet: the first exploration has not ended, or has not begun"
	}
	return condition
}

// Groups tells of the consumer groups of the stages, by stage, as far as the broker tells.
func (r *Runtime) Groups() map[string]pipeline.GroupStatus {
	groups := map[string]pipeline.GroupStatus{}
	reporter, ok := r.Broker.(pipeline.GroupReporter)
	if !ok {
		return groups
	}
	statuses := reporter.Groups()
	for _, stage := range Stages() {
		for _, status := range statuses {
			if status.Group == r.group(stage) {
				groups[stage] = status
			}
		}
	}
	return groups
}
