package train

import (
	"context"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
)

// rowsPerEvent is the number of rows of a message of events.
const rowsPerEvent = 20

// flow is a pipeline with a current feature set. The tests write its events and features.
type flow struct {
	*pipelinetest.Broker
	t        *testing.T
	topics   topics.Config
	config   Config
	logger   *zap.Logger
	set      *wire.FeatureSet
	follower *state.Follower
	meter    *meter.Meter // of the newest runner
}

// newFlow returns a flow with a number of partitions of events and features.
func newFlow(t *testing.T, partitions int) *flow {
	t.Helper()
	k := &flow{
		Broker: pipelinetest.NewBroker(),
		t:      t,
		topics: topics.Default(),
		config: trainConfig(),
		logger: zap.NewNop(),
	}
	k.topics.Partitions = partitions
	if _, err := topics.Create(t.Context(), k, k.topics); err != nil {
		t.Fatal(err)
	}
	k.followOn(k.Broker)
	k.use(1, 1)
	return k
}

// followOn follows the topics as another process, with the current settings, until the test ends.
func (k *flow) followOn(log state.Broker) {
	c := k.topics
	k.follower = state.New(log, zap.NewNop(), state.Config{
		Pipeline: "test", Explorations: c.Explorations, FeatureSets: c.FeatureSets, Models: c.Models, Scores: c.Scores,
		MaxMessageBytes: c.MaxMessageBytes, KeepFeatureSets: c.KeepFeatureSets,
		KeepModels: c.KeepModels, Retention: c.FeaturesRetention,
	})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- k.follower.Run(ctx, state.TopicExplorations, state.TopicFeatureSets, state.TopicModels)
	}()
	k.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			k.t.Error(err)
		}
	})
}

// use makes the feature set of a seed current.
func (k *flow) use(sequence int64, seed uint64) {
	k.t.Helper()
	exploration := explored.Exploration()
	exploration.Seed = seed
	k.set = explored.FeatureSet(k.t, explored.Events(stagestest.Regression), exploration,
		stagestest.Events(k.t, stagestest.Regression, 400, 61, stagestest.Faults{}))
	k.set.Lineage.Sequence = sequence
	id, err := k.follower.PublishSet(k.t.Context(), k.set, stagestest.Noon)
	if err != nil {
		k.t.Fatal(err)
	}
	if err := k.follower.PointSet(k.t.Context(), &wire.Current{ID: id, Sequence: sequence, Time: stagestest.Noon},
		stagestest.Noon); err != nil {
		k.t.Fatal(err)
	}
}

// rows returns the events from first to before next. An event has the same values in every test.
func (k *flow) rows(first, next int64) arrow.Record {
	return stagestest.Events(k.t, stagestest.Regression, int(next), 62, stagestest.Faults{}).NewSlice(first, next)
}

// sendRows appends the events of some rows, and their features by the current set.
func (k *flow) sendRows(partition int, first, next int64) {
	k.t.Helper()
	rows := k.rows(first, next)
	defer rows.Release()
	for _, batch := range stagestest.Cut(k.t, rows, stagestest.Every(rowsPerEvent)) {
		offset := k.produce(k.topics.Events, partition, pipeline.Record{Value: stagestest.Message(k.t, batch)})
		k.produce(k.topics.Features, partition, featuresOf(k.t, k.set, partition, offset, []arrow.Record{batch}, whole)...)
	}
}

// sendFeatures appends the features of some rows of events that do not exist. Their offsets are the
// numbers of their first rows.
func (k *flow) sendFeatures(partition int, first, next, perMessage int64) {
	k.t.Helper()
	for ; first < next; first += perMessage {
		rows := k.rows(first, min(next, first+perMessage))
		k.produce(k.topics.Features, partition, featuresOf(k.t, k.set, partition, first, []arrow.Record{rows}, whole)...)
		rows.Release()
	}
}

func (k *flow) produce(topic string, partition int, records ...pipeline.Record) int64 {
	k.t.Helper()
	first, err := k.Produce(k.t.Context(), topic, partition, records)
	if err != nil {
		k.t.Fatal(err)
	}
	return first
}

// runner returns the trainer of a process that has just started.
func (k *flow) runner(broker pipeline.Broker) *Runner {
	k.meter = meter.New()
	return &Runner{
		Env: env.Env{
			Broker:   broker,
			State:    k.follower,
			Live:     live.NewFollower(broker, k.logger, time.Now, k.topics.Live, "test"),
			Meter:    k.meter,
			Logger:   k.logger,
			Clock:    func() time.Time { return stagestest.Noon },
			Pipeline: "test",
			Group:    "test-train",
			Topics:   k.topics,
		},
		Config: k.config,
	}
}

// fit trains a model and returns its outcome.
func (k *flow) fit(r *Runner) *Fitted {
	k.t.Helper()
	fitted, err := r.Fit(k.t.Context())
	if err != nil {
		k.t.Fatal(err)
	}
	return fitted
}

// models returns the current state of the models topic.
func (k *flow) models() state.Models {
	k.t.Helper()
	now, err := k.follower.CatchUp(k.t.Context(), state.TopicModels)
	if err != nil {
		k.t.Fatal(err)
	}
	return now.Models
}

func (k *flow) inUse() wire.Current {
	k.t.Helper()
	if current := k.models().Current; current != nil {
		return *current
	}
	return wire.Current{}
}

func rangeRows(m *wire.Model) (rows int64) {
	for _, r := range m.Ranges {
		rows += r.Rows
	}
	return rows
}
