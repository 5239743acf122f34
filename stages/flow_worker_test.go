package stages_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// worker is a process: its own client, a runtime, and the requested stages.
type worker struct {
	*stages.Process
	t      *testing.T
	client *kafka.Client
	log    *faultyLog
	cancel context.CancelFunc
	done   chan error
	once   sync.Once
	err    error
	fails  bool // a partition of it may fail in the moment in which it is stopped
}

// faultyLog is a broker from which a process can be cut off, as if by kill -9.
type faultyLog struct {
	pipeline.Broker
	dead    atomic.Bool
	fetch   func(ctx context.Context, topic string, partition int, offset int64) error // nil = no faults
	produce func(ctx context.Context, topic string, partition int, records []pipeline.Record) error

	leaderless func(topic string) []int // nil = all partitions have leaders
}

var errKilled = pipeline.Permanent(errors.New("killed"))

func (l *faultyLog) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	if l.dead.Load() {
		return pipeline.Fetched{}, errKilled
	}
	if err := l.led(topic, partition); err != nil {
		return pipeline.Fetched{}, err
	}
	if l.fetch != nil {
		if err := l.fetch(ctx, topic, partition, offset); err != nil {
			return pipeline.Fetched{}, err
		}
	}
	return l.Broker.Fetch(ctx, topic, partition, offset)
}

func (l *faultyLog) Offsets(ctx context.Context, topic string, partition int) (first, next int64, err error) {
	if err := l.led(topic, partition); err != nil {
		return 0, 0, err
	}
	return l.Broker.Offsets(ctx, topic, partition)
}

// errNoLeader is a client's error for a partition without a leader; it is retried.
var errNoLeader = errors.New("the partition has no leader")

// led fails if the partition has no leader.
func (l *faultyLog) led(topic string, partition int) error {
	if l.leaderless != nil && slices.Contains(l.leaderless(topic), partition) {
		return errNoLeader
	}
	return nil
}

func (l *faultyLog) Leaderless(_ context.Context, topic string) ([]int, error) {
	if l.leaderless == nil {
		return nil, nil
	}
	return l.leaderless(topic), nil
}

func (l *faultyLog) Produce(ctx context.Context, topic string, partition int, records []pipeline.Record) (int64, error) {
	if l.dead.Load() {
		return 0, errKilled
	}
	if l.produce != nil {
		if err := l.produce(ctx, topic, partition, records); err != nil {
			return 0, err
		}
	}
	return l.Broker.Produce(ctx, topic, partition, records)
}

// OpenWriter returns the broker itself.
func (l *faultyLog) OpenWriter(context.Context, *pipeline.WriterID, ...pipeline.Target) (pipeline.Producer, error) {
	return l, nil
}

// allButTrain lists the stages that make feature sets and features.
var allButTrain = []string{meter.StageCalibrate, meter.StageSubsample, meter.StageSelect, meter.StageFeaturize}

// exploring lists the stages that make feature sets.
var exploring = allButTrain[:3]

// start runs a worker until it is stopped, killed, or the test ends. prepare, which may be nil, is called with it before
// it runs.
func (f *flow) start(names []string, prepare func(*worker)) *worker {
	f.t.Helper()
	client := f.dial()
	log := &faultyLog{Broker: client}
	w := &worker{Process: stages.NewProcess(log, f.settings, stagestest.Logger(f.t)), t: f.t, client: client, log: log, done: make(chan error, 1)}
	w.DrainTimeout = 5 * time.Second
	if prepare != nil {
		prepare(w)
	}
	ctx, cancel := context.WithCancel(f.ctx)
	w.cancel = cancel
	go func() {
		err := w.Run(ctx, names...)
		if err != nil && !w.log.dead.Load() && !(w.fails && errors.Is(err, meter.ErrUnfinished)) {
			f.t.Errorf("worker: %v", err)
			f.giveUp()
		}
		w.done <- err
	}()
	f.t.Cleanup(func() {
		w.end()
	})
	return w
}

func (w *worker) end() error {
	w.once.Do(func() {
		w.cancel()
		w.err = <-w.done
		w.client.Close()
	})
	return w.err
}

// stop ends the worker in an orderly way.
func (w *worker) stop() {
	w.t.Helper()
	if err := w.end(); err != nil {
		w.t.Fatalf("worker: %v", err)
	}
}

// kill cuts the worker off: nothing that it still does reaches the broker.
func (w *worker) kill() {
	w.log.dead.Store(true)
	w.end()
}
