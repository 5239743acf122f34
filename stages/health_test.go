package stages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// cluster is a broker that knows only topics and groups.
type cluster struct {
	pipeline.Broker
	away       error
	partitions map[string]int
	cleanup    string // of events
	groups     []pipeline.GroupStatus
}

func (c *cluster) Partitions(_ context.Context, topic string) (int, error) {
	if c.away != nil {
		return 0, c.away
	}
	n, ok := c.partitions[topic]
	if !ok {
		return 0, fmt.Errorf("%s: %w", topic, pipeline.ErrUnknownTopic)
	}
	return n, nil
}

func (c *cluster) TopicConfig(context.Context, string) (map[string]string, error) {
	return map[string]string{"cleanup.policy": c.cleanup}, c.away
}

func (c *cluster) Groups() []pipeline.GroupStatus { return c.groups }

// A process is ready if it can work, even if it is idle or far behind.
func TestConditions(t *testing.T) {
	s := Default()
	topics := map[string]int{}
	for _, topic := range []string{
		s.Topics.Events,
		s.Topics.Explorations,
		s.Topics.Scores,
		s.Topics.Samples,
		s.Topics.FeatureSets,
		s.Topics.Features,
		s.Topics.Models,
		s.Topics.DeadLetters,
	} {
		topics[topic] = 2
	}
	const rejoin = 10 * time.Second
	group := func(change func(*pipeline.GroupStatus)) []pipeline.GroupStatus {
		status := pipeline.GroupStatus{
			Group:      "eerf-default-featurize",
			Joined:     true,
			Joins:      1,
			Since:      time.Now().Add(-time.Hour),
			Partitions: []int{1},
		}
		change(&status)
		return []pipeline.GroupStatus{status}
	}
	for name, c := range map[string]struct {
		change func(*cluster, *Process)
		faulty []string // names of the failed conditions
		detail string   // of one condition
	}{
		"all is well": {func(*cluster, *Process) {}, nil, "joined, partitions [1]"},
		"nothing assigned": {func(c *cluster, _ *Process) {
			c.groups = group(func(g *pipeline.GroupStatus) { g.Partitions = nil })
		}, nil, "joined, partitions []"},
		"the broker is away": {
			func(c *cluster, _ *Process) { c.away = errors.New("refused") },
			[]string{"broker", "topics"},
			"refused",
		},
		"a topic is missing": {
			func(c *cluster, _ *Process) { delete(c.partitions, s.Topics.Models) },
			[]string{"topics"},
			"models: unknown topic",
		},
		"events are missing": {
			func(c *cluster, _ *Process) { delete(c.partitions, s.Topics.Events) },
			[]string{"topics"},
			"events: unknown topic or partition: run `featurizer topics create` to create it",
		},
		"events are compacted": {func(c *cluster, _ *Process) { c.cleanup = "compact" }, []string{"topics"}, "compacted"},
		"events have grown": {
			func(c *cluster, _ *Process) { c.partitions[s.Topics.Events] = 3 },
			nil,
			"2 partitions, events has 3",
		},
		"events have grown and a topic is missing": {func(c *cluster, _ *Process) {
			c.partitions[s.Topics.Events] = 3
			delete(c.partitions, s.Topics.Models)
		}, []string{"topics"}, ""},
		"not started": {func(c *cluster, _ *Process) { c.groups = nil }, []string{"group featurize"}, "not started"},
		"another group": {func(c *cluster, _ *Process) {
			c.groups = group(func(g *pipeline.GroupStatus) { g.Group = "eerf-other-featurize" })
		}, []string{"group featurize"}, "not started"},
		"never joined": {func(c *cluster, _ *Process) {
			c.groups = group(func(g *pipeline.GroupStatus) {
				g.Joined, g.Joins, g.Since, g.Err = false, 0, time.Now(), errors.New("no right to")
			})
		}, []string{"group featurize"}, "no right to"},
		"joining again": {func(c *cluster, _ *Process) {
			c.groups = group(func(g *pipeline.GroupStatus) { g.Joined, g.Since = false, time.Now().Add(-rejoin/2) })
		}, nil, "joining again for 5"},
		"joining again for too long": {func(c *cluster, _ *Process) {
			c.groups = group(func(g *pipeline.GroupStatus) { g.Joined, g.Since = false, time.Now().Add(-2*rejoin) })
		}, []string{"group featurize"}, "not joined for 20"},
		"an exploration that it cannot compute": {func(_ *cluster, r *Process) {
			r.Env.Meter.WrongKernel(zap.NewNop(), meter.StageFeaturize, "go2", &wire.Spec{
				Exploration: "test.3.abc",
				Plan:        wire.Plan{Arithmetic: "fma1"},
			})
		}, []string{"group featurize"}, "exploration test.3.abc is for numeric kernel fma1, this process has go2"},
		"one that it can compute again": {func(_ *cluster, r *Process) {
			r.Env.Meter.WrongKernel(zap.NewNop(), meter.StageFeaturize, "go2", &wire.Spec{
				Exploration: "test.3.abc",
				Plan:        wire.Plan{Arithmetic: "fma1"},
			})
			r.Env.Meter.WrongKernel(zap.NewNop(), meter.StageFeaturize, "go2", nil)
		}, nil, ""},
		"no feature set": {
			func(_ *cluster, r *Process) { r.Env.State = state.Still(s.State(), state.Snapshot{}) },
			[]string{"feature_set"},
			"none yet",
		},
		"too few rows for a feature set": {
			func(_ *cluster, r *Process) {
				r.Env.State = state.Still(s.State(), state.Snapshot{})
				r.Env.Meter.SetPlanning(meter.Planning{MissingRows: 1360, Rows: 640})
			},
			[]string{"feature_set"},
			"1360 labelled rows are missing for an exploration: have 640, exploration.min_rows requires 2000",
		},
		"a plan that failed": {
			func(_ *cluster, r *Process) {
				at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
				r.Env.Meter.SetPlanning(meter.Planning{Fault: "the label has one class", At: at, RetryAt: at.Add(30 * time.Second)})
			},
			nil,
			"no exploration could be planned at 2026-03-01T12:00:00Z; next try at 2026-03-01T12:00:30Z: the label has one class",
		},
		"far behind": {func(_ *cluster, r *Process) {
			r.Env.Meter.Follow(meter.StageFeaturize, "events", 1, 0).Ends(1_000_000)
		}, nil, ""},
	} {
		broker := &cluster{partitions: maps.Clone(topics), cleanup: "delete", groups: group(func(*pipeline.GroupStatus) {})}
		r := NewProcess(broker, s, zap.NewNop())
		r.Env.State = state.Still(s.State(), state.Snapshot{Current: &wire.Current{ID: "set"}}.With(state.Set{ID: "set"}))
		c.change(broker, r)
		var faulty, details []string
		for _, condition := range r.Conditions(t.Context(), []meter.Stage{meter.StageFeaturize}, rejoin) {
			if details = append(details, condition.Detail); !condition.OK {
				faulty = append(faulty, condition.Name)
			}
		}
		if !slices.Equal(faulty, c.faulty) || !strings.Contains(strings.Join(details, "; "), c.detail) {
			t.Errorf("%s: faulty %v, want %v; details %q, want %q", name, faulty, c.faulty, details, c.detail)
		}
	}
}

func TestTheFeatureSetIsAConditionOfFeaturizeAlone(t *testing.T) {
	r := NewProcess(&cluster{away: errors.New("refused")}, Default(), zap.NewNop())
	for _, condition := range r.Conditions(t.Context(), []meter.Stage{
		meter.StageCalibrate,
		meter.StageSubsample,
		meter.StageSelection,
		meter.StageTrain,
	}, time.Second) {
		if condition.Name == ConditionFeatureSet {
			t.Errorf("%+v", condition)
		}
	}
}
