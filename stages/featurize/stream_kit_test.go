package featurize

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
)

// stream is a broker with the topics of the pipeline test, and runners of the stage, observed from
// outside.
type stream struct {
	t      *testing.T
	broker *stagestest.Broker
	client *kafka.Client
	topics topics.Config
	config Config
}

// newStream makes topics with a number of partitions of events. A message of 30 rows becomes
// several outputs.
func newStream(t *testing.T, partitions int) *stream {
	t.Helper()
	s := &stream{t: t, broker: stagestest.NewBroker(t), topics: topics.Default(), config: Default()}
	s.client = s.broker.Dial(fetchLittle)
	s.topics.Partitions = partitions
	s.config.MaxOutputBytes, s.config.CommitInterval = 1800, 50*time.Millisecond
	if _, err := topics.Create(t.Context(), s.client, s.topics); err != nil {
		t.Fatal(err)
	}
	return s
}

// fetchLittle makes many small fetches.
func fetchLittle(c *kafka.Config) { c.FetchMaxBytes = 8 << 10 }

// publish makes another feature set current.
func (s *stream) publish(sequence int64) *wire.FeatureSet {
	s.t.Helper()
	config := explored.Exploration()
	config.Seed = uint64(sequence)
	set := explored.FeatureSet(s.t, explored.Events(stagestest.Regression), config,
		stagestest.Events(s.t, stagestest.Regression, 400, 41, stagestest.Faults{}))
	set.Lineage.Sequence = sequence
	value := stagestest.Must(wire.EncodeFeatureSet(set))
	current := stagestest.Must(wire.EncodeCurrent(&wire.Current{ID: set.ID(), Sequence: sequence}))
	pipelinetest.Produce(s.t, s.client, s.topics.FeatureSets, 0,
		pipeline.Record{Key: wire.SetKey("test", set.ID()), Value: value},
		pipeline.Record{Key: wire.CurrentKey("test"), Value: current})
	return set
}

// rowsOf are the rows from first up to, not including, next of the events of all tests.
func rowsOf(t *testing.T, first, next int64) arrow.Record {
	t.Helper()
	rows := stagestest.Events(t, stagestest.Regression, int(next), 50, stagestest.Faults{}).NewSlice(first, next)
	t.Cleanup(rows.Release)
	return rows
}

// send writes rows to a partition of events in messages of 30, whose key is the number of the first
// row, a few per request: what arrives together is fetched together.
func (s *stream) send(partition int, rows arrow.Record) {
	s.t.Helper()
	var records []pipeline.Record
	for i, batch := range stagestest.Cut(s.t, rows, stagestest.Every(30)) {
		records = append(records,
			pipeline.Record{Key: fmt.Appendf(nil, "row-%d", 30*i), Value: stagestest.Message(s.t, batch)})
	}
	for request := range slices.Chunk(records, 6) {
		pipelinetest.Produce(s.t, s.client, s.topics.Events, partition, request...)
	}
}

// features reads the outputs of a partition.
func (s *stream) features(partition int) []explored.Featurized {
	s.t.Helper()
	return explored.Features(s.t, s.client, s.topics.Features, partition, 10)
}

// featurizedUpTo waits until the output of a partition covers events before the offset.
func (s *stream) featurizedUpTo(partition int, next int64) {
	s.t.Helper()
	explored.FeaturizedUpTo(s.t, s.client, s.topics.Features, partition, next)
}

// checkOnce checks that every row of the events of a partition is featurized once, and returns the
// sets in order of use.
func (s *stream) checkOnce(partition int) (sets []string) {
	s.t.Helper()
	return explored.CheckOnce(s.t, stagestest.All(s.t, s.client, s.topics.Events, partition), s.features(partition), 30)
}

// worker is a process with the stage.
type worker struct {
	t      *testing.T
	runner *Runner
	log    *pipelinetest.Between
	cancel context.CancelFunc
	done   chan error
	once   sync.Once
	err    error
}

// start runs a worker until it is stopped, killed, or the test ends. prepare, which may be nil, is
// called with it first.
func (s *stream) start(prepare func(*worker)) *worker {
	s.t.Helper()
	log := &pipelinetest.Between{Broker: s.broker.Dial(fetchLittle)}
	logger := stagestest.Logger(s.t)
	follower := state.New(log, logger, state.Config{
		Pipeline: "test", Explorations: s.topics.Explorations, FeatureSets: s.topics.FeatureSets, Models: s.topics.Models,
		MaxMessageBytes: s.topics.MaxMessageBytes,
	})
	w := &worker{t: s.t, log: log, done: make(chan error, 1), runner: &Runner{
		Env: env.Env{
			Broker:       log,
			State:        follower,
			Meter:        meter.New(),
			Logger:       logger,
			Clock:        time.Now,
			Group:        "featurize",
			Topics:       s.topics,
			DrainTimeout: 5 * time.Second,
		},
		Config: s.config,
		Source: events.Source{Limits: events.DefaultLimits().Decoder()},
	}}
	if prepare != nil {
		prepare(w)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return follower.Run(ctx, state.TopicExplorations, state.TopicFeatureSets, state.TopicModels)
	})
	group.Go(func() error { return w.runner.Run(ctx) })
	go func() { w.done <- group.Wait() }()
	s.t.Cleanup(w.end)
	return w
}

func (w *worker) end() {
	w.once.Do(func() {
		w.cancel()
		w.err = <-w.done
		if w.err != nil && !w.log.Killed() {
			w.t.Errorf("worker: %v", w.err)
		}
	})
}

// kill disconnects the worker from the broker.
func (w *worker) kill() {
	w.log.Kill()
	w.end()
}

// holdUp stops the reading of events after a number of writes to features, and then closes the
// channel.
func (w *worker) holdUp(after int64) (reached chan struct{}) {
	var written atomic.Int64
	reached = make(chan struct{})
	w.log.OnProduce = func(_ context.Context, topic string, _ int, records []pipeline.Record) error {
		if n := int64(len(records)); topic == w.runner.Env.Topics.Features {
			if all := written.Add(n); all >= after && all-n < after {
				close(reached)
			}
		}
		return nil
	}
	w.log.OnFetch = func(ctx context.Context, topic string, _ int, _ int64) error {
		if topic == w.runner.Env.Topics.Events && written.Load() >= after {
			<-ctx.Done()
		}
		return nil
	}
	return reached
}
