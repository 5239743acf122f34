package stages_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// worker is a process: its own client, a runtime, and the requested stages.
type worker struct {
	*stages.Process
	t      *testing.T
	client *kafka.Client
	log    *pipelinetest.Between
	cancel context.CancelFunc
	done   chan error
	once   sync.Once
	err    error
	fails  bool // a partition may fail at the moment of stopping
}

// allButTrain lists the stages that make feature sets and features.
var allButTrain = []meter.Stage{meter.StageCalibrate, meter.StageSubsample, meter.StageSelection, meter.StageFeaturize}

// exploring lists the stages that make feature sets.
var exploring = allButTrain[:3]

// start runs a worker until it is stopped or killed, or the test ends. prepare, if not nil, is
// called with it before it runs.
func (f *flow) start(names []meter.Stage, prepare func(*worker)) *worker {
	f.t.Helper()
	client := f.dial()
	log := &pipelinetest.Between{Broker: client}
	w := &worker{
		Process: stages.NewProcess(log, f.settings, stagestest.Logger(f.t)),
		t:       f.t,
		client:  client,
		log:     log,
		done:    make(chan error, 1),
	}
	w.Env.DrainTimeout = 5 * time.Second
	if prepare != nil {
		prepare(w)
	}
	ctx, cancel := context.WithCancel(f.ctx)
	w.cancel = cancel
	go func() {
		err := w.Run(ctx, names...)
		if err != nil && !w.log.Killed() && !(w.fails && errors.Is(err, meter.ErrUnfinished)) {
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

// kill disconnects the worker: none of its later requests reach the broker.
func (w *worker) kill() {
	w.log.Kill()
	w.end()
}
