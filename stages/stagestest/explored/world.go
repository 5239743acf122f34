package explored

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/subsample"
	"github.com/eerf-stream/eerf/stages/topics"
)

// World is an in-memory broker with the topics of a pipeline, on which workers explore. Its clock
// stands at noon, so nothing depends on the time.
type World struct {
	*pipelinetest.Broker
	Topics    topics.Config
	Settings  calibrate.Settings
	Subsample subsample.Config
	State     *state.Follower // only observes
	// MaxOutputs is the number of outputs for which the workers have memory; 0 = any.
	MaxOutputs int

	t testing.TB
}

// NewWorld makes a world with the given number of events partitions.
func NewWorld(t testing.TB, partitions int, e events.Config, c calibrate.Config) *World {
	t.Helper()
	w := &World{
		Broker: pipelinetest.NewBroker(), Topics: topics.Default(), Subsample: subsample.Default(), t: t,
		Settings: calibrate.Settings{
			Pipeline:    "test",
			Events:      e,
			Exploration: c,
			Limits:      events.DefaultLimits(),
			EventsTopic: "events",
		},
	}
	w.Settings.Exploration.MinRows = 0
	for _, spec := range w.Topics.Specs(partitions) {
		w.AddTopic(spec.Name, spec.Partitions)
	}
	w.State = w.Follower(w.Broker)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.State.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return w
}

// Follower returns a follower of the pipeline. The caller runs it.
func (w *World) Follower(broker state.Broker) *state.Follower {
	return state.New(broker, stagestest.Logger(w.t), state.Config{
		Pipeline:        w.Settings.Pipeline,
		Explorations:    w.Topics.Explorations,
		FeatureSets:     w.Topics.FeatureSets,
		Models:          w.Topics.Models,
		Scores:          w.Topics.Scores,
		MaxMessageBytes: w.Topics.MaxMessageBytes,
		KeepFeatureSets: 10,
		KeepModels:      10,
		Retention:       time.Hour,
	})
}

// Send writes messages to a partition of events.
func (w *World) Send(partition int, batches ...arrow.Record) {
	w.t.Helper()
	for _, batch := range batches {
		w.Append(w.Topics.Events, partition, pipeline.Record{Value: stagestest.Message(w.t, batch), Time: stagestest.Noon})
	}
}

// Append writes records to a topic.
func (w *World) Append(topic string, partition int, records ...pipeline.Record) {
	w.t.Helper()
	pipelinetest.Produce(w.t, w.Broker, topic, partition, records...)
}

// Wait returns the first snapshot that ok accepts.
func (w *World) Wait(what string, ok func(state.Snapshot) bool) state.Snapshot {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), stagestest.Patience)
	defer cancel()
	now, err := w.State.Wait(ctx, ok)
	if err != nil {
		w.t.Fatalf("%s: %v; spec %+v, current %+v", what, err, now.Spec, now.Current)
	}
	return now
}

// Set waits for the first feature set.
func (w *World) Set() *state.Set {
	w.t.Helper()
	return w.Wait("feature set", func(s state.Snapshot) bool {
		if s.Spec != nil && s.Spec.Status == wire.StatusAbandoned {
			w.t.Errorf("abandoned: %s", s.Spec.Reason)
			return true
		}
		return s.CurrentSet() != nil
	}).CurrentSet()
}

// Abandoned waits until the exploration is abandoned and returns the reason.
func (w *World) Abandoned() string {
	w.t.Helper()
	return w.Wait(
		"abandoned",
		func(s state.Snapshot) bool { return s.Spec != nil && s.Spec.Status == wire.StatusAbandoned },
	).Spec.Reason
}

// Spec waits for the plan.
func (w *World) Spec() *wire.Spec {
	w.t.Helper()
	return w.Wait("plan", func(s state.Snapshot) bool { return s.Spec != nil }).Spec
}

// Checkpoints returns the checkpoints on a partition of scores, in topic order.
func (w *World) Checkpoints(partition int) (all []*wire.Checkpoint) {
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	for _, record := range w.Records(w.Topics.Scores, partition) {
		if c, err := wire.DecodeCheckpoint(decoder, record.Value); err == nil {
			all = append(all, c)
		}
	}
	return all
}

// Closed waits until the last record of a partition of scores is the checkpoint of a closed
// partition, and returns it.
func (w *World) Closed(partition int) *wire.Checkpoint {
	w.t.Helper()
	var last *wire.Checkpoint
	stagestest.Until(w.t, "last checkpoint", func() bool {
		records := w.Records(w.Topics.Scores, partition)
		if len(records) == 0 {
			return false
		}
		c, err := wire.DecodeCheckpoint(arrowio.NewDecoder(arrowio.DefaultLimits()), records[len(records)-1].Value)
		if err == nil {
			last = c
		}
		return err == nil && c.Closed
	})
	return last
}

// errKilled is the answer to all requests of a killed worker.
var errKilled = pipeline.Permanent(errors.New("killed"))

// Worker is a process of the exploration: its view of the broker, and its stages.
type Worker struct {
	*pipelinetest.Broker
	Meter *meter.Meter
	// Owns, if set, selects the worker's partitions of a topic.
	Owns func(topic string, partition int) bool
	// OnProduce, if set, is called before each request. It may change the records. If it removes
	// all, nothing is written, and the worker believes that the write succeeded.
	OnProduce func(topic string, partition int, records []pipeline.Record) []pipeline.Record
	// KillAt is the produce request, counted from 1, at which the worker is killed: before the
	// broker has the records or, with KillAfter, after it. 0 = never.
	KillAt    int64
	KillAfter bool

	t        testing.TB
	requests atomic.Int64
	dead     atomic.Bool
	cancel   context.CancelFunc
	done     chan error
	once     sync.Once

	mu        sync.Mutex
	rebalance context.CancelFunc // of the ownerships
}

// Produced is the number of produce requests so far.
func (w *Worker) Produced() int64 { return w.requests.Load() }

// Fetch implements [pipeline.Log].
func (w *Worker) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	if w.dead.Load() {
		return pipeline.Fetched{}, errKilled
	}
	return w.Broker.Fetch(ctx, topic, partition, offset)
}

// Produce implements [pipeline.Log].
func (w *Worker) Produce(ctx context.Context, topic string, partition int, records []pipeline.Record) (int64, error) {
	if w.dead.Load() {
		return 0, errKilled
	}
	number := w.requests.Add(1)
	if w.OnProduce != nil {
		if records = w.OnProduce(topic, partition, records); len(records) == 0 {
			_, next, err := w.Offsets(ctx, topic, partition)
			return next, err
		}
	}
	if w.KillAt > 0 && number >= w.KillAt {
		w.dead.Store(true)
		if w.KillAfter {
			_, _ = w.Broker.Produce(ctx, topic, partition, records)
		}
		return 0, errKilled
	}
	return w.Broker.Produce(ctx, topic, partition, records)
}

// OpenWriter returns the broker itself.
func (w *Worker) OpenWriter(context.Context, *pipeline.WriterID, ...pipeline.Target) (pipeline.Producer, error) {
	return w, nil
}

// Own implements [pipeline.Broker]. Each partition has one worker unless Owns selects otherwise.
func (w *Worker) Own(
	ctx context.Context,
	group, topic string,
	run func(context.Context, pipeline.Ownership) error,
) error {
	for ctx.Err() == nil {
		generation, end := context.WithCancel(ctx)
		w.mu.Lock()
		w.rebalance = end
		w.mu.Unlock()
		err := w.Broker.Own(generation, group, topic, func(ctx context.Context, o pipeline.Ownership) error {
			if w.Owns != nil && !w.Owns(topic, o.Partition) {
				<-ctx.Done()
				return nil
			}
			return run(ctx, o)
		})
		end()
		if err != nil {
			return err
		}
	}
	return nil
}

// Rebalance revokes the partitions of a worker with one stage, and reassigns them when it has
// released them.
func (w *Worker) Rebalance() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rebalance()
}

// Start runs a worker with some of the stages calibrate, subsample and selection until it is
// stopped or killed, or the test ends. prepare, if not nil, may change it before it runs.
func (w *World) Start(prepare func(*Worker), stages ...meter.Stage) *Worker {
	worker := &Worker{Broker: w.Broker, Meter: meter.New(), t: w.t, done: make(chan error, 1)}
	if prepare != nil {
		prepare(worker)
	}
	ctx, cancel := context.WithCancel(context.Background())
	worker.cancel = cancel
	group, ctx := errgroup.WithContext(ctx)
	follower := w.Follower(worker)
	group.Go(func() error { return follower.Run(ctx) })
	for _, stage := range stages {
		run := w.stage(worker, follower, stage)
		group.Go(func() error { return run(ctx) })
	}
	go func() { worker.done <- group.Wait() }()
	w.t.Cleanup(worker.Stop)
	return worker
}

// stage runs a stage of a worker.
func (w *World) stage(worker *Worker, follower *state.Follower, name meter.Stage) func(context.Context) error {
	e := env.Env{
		Broker:       worker,
		Topics:       w.Topics,
		Pipeline:     w.Settings.Pipeline,
		State:        follower,
		Meter:        worker.Meter,
		Logger:       stagestest.Logger(w.t),
		Clock:        func() time.Time { return stagestest.Noon },
		DrainTimeout: 5 * time.Second,
	}.For(name)
	switch name {
	case meter.StageCalibrate:
		return (&calibrate.Planner{Env: e, Settings: w.Settings}).Run
	case meter.StageSubsample:
		candidates := w.Settings.Exploration.CandidateMemory
		runner := &subsample.Runner{Env: e, Config: w.Subsample, CandidateMemory: candidates, MaxOutputs: w.MaxOutputs}
		return runner.Run
	case meter.StageSelection:
		memory := w.Settings.Exploration.SampleMemory
		return (&selection.Runner{Env: e, SampleMemory: memory, MaxOutputs: w.MaxOutputs}).Run
	}
	panic(fmt.Sprintf("explored: no stage %q", name))
}

// Stop ends the worker in an orderly way; a killed worker has ended by itself.
func (w *Worker) Stop() {
	w.once.Do(func() {
		w.cancel()
		if err := <-w.done; err != nil && !w.dead.Load() {
			w.t.Errorf("worker: %v", err)
		}
	})
}

// Kill disconnects the worker: none of its later requests reach the broker.
func (w *Worker) Kill() {
	w.dead.Store(true)
	w.Stop()
}

// Killed waits until a worker with a KillAt has ended.
func (w *Worker) Killed() {
	w.t.Helper()
	select {
	case err := <-w.done:
		if w.done <- err; !w.dead.Load() {
			w.t.Fatalf("worker ended without being killed: %v", err)
		}
	case <-time.After(stagestest.Patience):
		w.t.Fatal("the worker was not killed")
	}
	w.Stop()
}

// reader reads batches like a file.
type reader struct{ left []arrow.Record }

func (r *reader) Next() (arrow.Record, error) {
	if len(r.left) == 0 {
		return nil, io.EOF
	}
	batch := r.left[0]
	r.left = r.left[1:]
	batch.Retain()
	return batch, nil
}

// File opens the batches as a file, any number of times.
func File(batches ...arrow.Record) func() (events.RowReader, error) {
	return func() (events.RowReader, error) { return &reader{batches}, nil }
}
