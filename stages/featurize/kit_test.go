package featurize

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
)

// newCore returns a featurizer.
func newCore(t testing.TB, set *wire.FeatureSet, maxOutput int64, options ...func(*Settings)) *Featurizer {
	t.Helper()
	settings := Settings{Source: events.Source{Limits: testLimits}, MaxOutputBytes: maxOutput}
	for _, option := range options {
		option(&settings)
	}
	f, err := New(set, settings)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func withPredictions(s *Settings) { s.Predictions = true }

// comparing compares the predictions in a column with the labels.
func comparing(column string) func(*Settings) {
	return func(s *Settings) { s.PredictionColumn = column }
}

// testLimits are the limits of an empty configuration.
var testLimits = events.DefaultLimits().Decoder()

// setOf explores events of a task and returns the feature set.
func setOf(t testing.TB, task string, rows arrow.Record) *wire.FeatureSet {
	t.Helper()
	return explored.FeatureSet(t, explored.Events(task), explored.Exploration(), rows)
}

var errDied = pipeline.Permanent(errors.New("killed"))

// kit is partition 2 of events with its outputs.
type kit struct {
	*pipelinetest.Broker
	t         *testing.T
	runner    *Runner
	set       *wire.FeatureSet
	part      *partition
	committed int64
	reset     bool                                          // committed comes from an operator
	produced  func(topic string, records []pipeline.Record) // called for every request
	forget    bool                                          // features are not kept
	log       *zap.Logger
	models    *modelLoader // nil = none
	lost      func() bool  // whether the process dies before a request is written; nil = never
}

// newKit makes topics with limits on requests, 0 = none, and a current set.
func newKit(t *testing.T, maxOutput int64, featuresLimit, deadLettersLimit int) *kit {
	t.Helper()
	k := &kit{Broker: pipelinetest.NewBroker(), t: t, committed: -1, log: zap.NewNop()}
	k.set = setOf(t, stagestest.Regression, stagestest.Events(t, stagestest.Regression, 400, 41, stagestest.Faults{}))
	id := k.set.ID()
	still := state.Snapshot{Current: &wire.Current{ID: id}}.With(state.Set{ID: id, Set: k.set})
	k.runner = &Runner{
		Env: env.Env{
			Broker:       k,
			State:        state.Still(state.Config{Pipeline: "test"}, still),
			Meter:        meter.New(),
			Logger:       zap.NewNop(),
			Clock:        time.Now,
			Pipeline:     "test",
			Group:        "featurize",
			Topics:       topics.Default(),
			DrainTimeout: time.Second,
		},
		Config: Default(),
		Source: events.Source{Limits: events.DefaultLimits().Decoder()},
	}
	k.runner.Config.MaxOutputBytes, k.runner.Config.CommitInterval = maxOutput, 0
	k.AddTopic(k.runner.Env.Topics.Events, 3)
	k.AddConfiguredTopic(k.runner.Env.Topics.Features, 3,
		map[string]string{"max.message.bytes": fmt.Sprint(featuresLimit)})
	k.AddTopic(k.runner.Env.Topics.Live, 3)
	k.AddConfiguredTopic(k.runner.Env.Topics.DeadLetters, 3,
		map[string]string{"max.message.bytes": fmt.Sprint(deadLettersLimit)})
	k.restart()
	return k
}

func (k *kit) Produce(ctx context.Context, topic string, number int, records []pipeline.Record) (int64, error) {
	if k.produced != nil {
		k.produced(topic, records)
	}
	if k.lost != nil && k.lost() {
		return 0, errDied
	}
	if k.forget && topic == k.runner.Env.Topics.Features {
		return 0, nil
	}
	return k.Broker.Produce(ctx, topic, number, records)
}

// OpenWriter returns the broker itself.
func (k *kit) OpenWriter(context.Context, *pipeline.WriterID, ...pipeline.Target) (pipeline.Producer, error) {
	return k, nil
}

// Committed returns the committed offset of the partition.
func (k *kit) Committed(context.Context, string, string, int) (pipeline.Committed, error) {
	return pipeline.Committed{Next: k.committed, ByMember: !k.reset}, nil
}

// restart makes another owner of the partition.
func (k *kit) restart() {
	k.t.Helper()
	commit := func(_ context.Context, next int64, _ pipeline.LogID) error {
		k.committed, k.reset = next, false
		return nil
	}
	k.part = newPartition(k.runner, pipeline.Ownership{Partition: 2, Commit: commit}, k.runner.Env.Broker, k.models,
		newClassWatch(k.runner), k.log)
	k.part.hasLive = true
	k.part.committedAt = time.Time{}
	if err := k.part.resume(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
}

// send appends events to the log.
func (k *kit) send(records ...pipeline.Record) {
	k.t.Helper()
	if _, err := k.Broker.Produce(k.t.Context(), k.runner.Env.Topics.Events, 2, records); err != nil {
		k.t.Fatal(err)
	}
}

// step gives the partition one fetch.
func (k *kit) step() error {
	k.t.Helper()
	fetched, err := k.Fetch(k.t.Context(), k.runner.Env.Topics.Events, 2, k.part.NextOffset())
	if err != nil {
		k.t.Fatal(err)
	}
	defer fetched.Release()
	return k.part.Process(k.t.Context(), fetched)
}

// rows returns the rows of a message in the output, repeats included.
func (k *kit) rows(offset int64) []int32 {
	k.t.Helper()
	var rows []int32
	for _, r := range k.Records(k.runner.Env.Topics.Features, 2) {
		if out := explored.ReadFeatures(k.t, r, 10); out.SourceOffset == offset {
			rows = append(rows, out.Rows...)
		}
	}
	return rows
}

func (k *kit) deadLetters() []pipeline.Record {
	return k.Records(k.runner.Env.Topics.DeadLetters, 2)
}

func ascending(n int32) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

func sizes(records []pipeline.Record) (total int) {
	for i := range records {
		total += records[i].Size()
	}
	return total
}

// nulls is a small message with very many rows.
func nulls(t *testing.T, rows int) []byte {
	t.Helper()
	var fields []arrow.Field
	var columns []arrow.Array
	column := array.NewNull(rows)
	defer column.Release()
	for _, name := range []string{"a", "b", "color", "ok", "v", "id", "y"} {
		fields, columns = append(fields, arrow.Field{Name: name, Type: arrow.Null, Nullable: true}), append(columns, column)
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows))
	defer rec.Release()
	return stagestest.Message(t, rec)
}
