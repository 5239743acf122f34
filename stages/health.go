package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/topics"
)

// Names of the conditions in [Process.Conditions]. The name of a group's condition is "group" and
// the stage.
const (
	ConditionBroker     = "broker"
	ConditionTopics     = "topics"
	ConditionFeatureSet = "feature_set"
	ConditionRegistry   = "registry"
	ConditionPlanning   = "planning"
)

// Condition must hold for a process to do its work.
type Condition struct {
	Name   string
	OK     bool
	Detail string // reason for the failure, or details of the good state
}

// Conditions reports whether the broker and the schema registry answer, the topics exist, the
// groups of the stages are joined (with or without partitions), and featurize has a feature set. A
// joined group may lose this process for the duration rejoin, because a rebalance caused by another
// process is no failure of this one. Stages that cannot compute the exploration or have quarantined
// partitions report it; the others are unaffected. Progress of the stages is not a condition. A
// reason for planning no exploration is reported without making any process unready, because the
// current feature set remains valid.
func (p *Process) Conditions(ctx context.Context, stages []meter.Stage, rejoin time.Duration) []Condition {
	conditions := p.brokerConditions(ctx)
	if p.Env.Registry != nil {
		conditions = append(conditions, registryCondition(p.Env.Registry.Away()))
	}
	for _, stage := range stages {
		conditions = append(conditions, p.groupCondition(stage, rejoin))
	}
	conditions = append(conditions, partitionConditions(p.Env.Meter.Activity().Quarantined)...)
	planning := p.Env.Meter.Activity().Planning
	switch err := p.takeover(stages); {
	case planning.Takeover != "":
		conditions = append(conditions, Condition{ConditionPlanning, false, planning.Takeover})
	case err != nil:
		conditions = append(conditions, Condition{ConditionPlanning, false, err.Error()})
	case planning.String() != "":
		conditions = append(conditions, Condition{ConditionPlanning, true, planning.String()})
	}
	if slices.Contains(stages, meter.StageFeaturize) {
		conditions = append(conditions, p.setCondition(planning.String() != ""))
	}
	return conditions
}

// takeover returns why a process with the stage calibrate must not plan for its pipeline. Standby
// processes report it too, so that a rolling update with another label stops at its first pod.
func (p *Process) takeover(stages []meter.Stage) error {
	if !slices.Contains(stages, meter.StageCalibrate) {
		return nil
	}
	return p.PlanSettings().CheckTakeover(p.Env.State.Snapshot().Spec)
}

func (p *Process) brokerConditions(ctx context.Context) []Condition {
	_, err := p.Env.Broker.Partitions(ctx, p.Settings.Topics.Events)
	if err != nil && !errors.Is(err, pipeline.ErrUnknownTopic) {
		detail := err.Error()
		if ctx.Err() != nil {
			detail = "no answer in time: " + detail
		}
		return []Condition{{ConditionBroker, false, detail}, {ConditionTopics, false, "the broker does not answer"}}
	}
	return []Condition{{ConditionBroker, true, ""}, topicsCondition(topics.Check(ctx, p.Env.Broker, p.Settings.Topics))}
}

// topicsCondition judges the result of a check of the topics. If only some partitions of events
// lack counterparts, the stages still process the others.
func topicsCondition(err error) Condition {
	if err == nil {
		return Condition{ConditionTopics, true, ""}
	}
	works := errors.Is(err, topics.ErrNotCoPartitioned) && !errors.Is(err, topics.ErrCompactedEvents) &&
		!errors.Is(err, pipeline.ErrUnknownTopic)
	return Condition{
		ConditionTopics,
		works,
		err.Error() + " (`featurizer topics check` lists all problems, `topics create` creates missing topics)",
	}
}

// registryCondition judges the last answer of the schema registry. Messages with unknown schemas
// wait for the registry.
func registryCondition(away error) Condition {
	if away == nil {
		return Condition{ConditionRegistry, true, ""}
	}
	return Condition{ConditionRegistry, false, "the schema registry does not answer: " + away.Error()}
}

// groupCondition checks the group of a stage.
func (p *Process) groupCondition(stage meter.Stage, rejoin time.Duration) Condition {
	condition := Condition{Name: "group " + string(stage)}
	group, ok := p.Groups()[stage]
	away := time.Since(group.Since).Round(time.Millisecond)
	switch wrongKernel := p.Env.Meter.Activity().WrongKernel[stage]; {
	case wrongKernel != "":
		condition.Detail = wrongKernel
	case !ok:
		condition.Detail = "not started: waiting for the topics, or ended"
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

// quarantinesShown is how many quarantined partitions a condition describes.
const quarantinesShown = 3

// partitionConditions returns a condition for each stage with quarantined partitions.
func partitionConditions(list []meter.Quarantine) (conditions []Condition) {
	for _, stage := range Names() {
		var of []string
		for _, q := range list {
			if q.Stage == stage {
				of = append(of, fmt.Sprintf("partition %d quarantined since %s, next retry at %s: %s",
					q.Partition, q.Since.UTC().Format(time.RFC3339), q.RetryAt.UTC().Format(time.RFC3339), q.Cause))
			}
		}
		if more := len(of) - quarantinesShown; more > 0 {
			of = append(of[:quarantinesShown], fmt.Sprintf("and %d more", more))
		}
		if len(of) > 0 {
			conditions = append(conditions, Condition{Name: "partitions " + string(stage), Detail: strings.Join(of, "; ")})
		}
	}
	return conditions
}

// setCondition reports whether a feature set exists; planning is set if another condition reports
// why no exploration is planned.
func (p *Process) setCondition(planning bool) Condition {
	set, from := p.Env.State.Snapshot().CurrentSet(), p.Settings.Featurize.SetsFrom
	switch {
	case set != nil:
		return Condition{ConditionFeatureSet, true, set.ID}
	case from != "":
		return Condition{
			ConditionFeatureSet,
			false,
			fmt.Sprintf("pipeline %s (featurize.sets_from) has no feature set yet", from),
		}
	case planning:
		return Condition{ConditionFeatureSet, false, "none yet: see " + ConditionPlanning}
	}
	return Condition{ConditionFeatureSet, false, "none yet: the first exploration has not finished"}
}

// Groups returns the consumer groups of the stages, by stage.
func (p *Process) Groups() map[meter.Stage]pipeline.GroupStatus {
	groups := map[meter.Stage]pipeline.GroupStatus{}
	if p.Env.Broker == nil { // a server of files
		return groups
	}
	statuses := p.Env.Broker.Groups()
	for _, stage := range Names() {
		for _, status := range statuses {
			if status.Group == p.Settings.Group(stage) {
				groups[stage] = status
			}
		}
	}
	return groups
}
