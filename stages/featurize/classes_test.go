package featurize

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/state"
)

// watched is the class watch of a pipeline whose newest exploration knows east, north, south and
// west.
type watched struct {
	*classWatch
	t      *testing.T
	broker *pipelinetest.Broker
	spec   wire.Spec
}

func newWatched(t *testing.T, enough int64) *watched {
	t.Helper()
	w := &watched{t: t, broker: pipelinetest.NewBroker()}
	config := state.Config{Pipeline: "test", Explorations: "explorations", FeatureSets: "sets", MaxMessageBytes: 1 << 20}
	w.broker.AddTopic(config.Explorations, 1)
	w.broker.AddTopic(config.FeatureSets, 1)
	follower := state.New(w.broker, zap.NewNop(), config)
	w.classWatch = newClassWatch(&Runner{
		Env:          env.Env{State: follower, Meter: meter.New(), Logger: zap.NewNop(), Clock: time.Now},
		ClassMinRows: enough,
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	for _, run := range []func(context.Context) error{
		func(ctx context.Context) error { return follower.Run(ctx) },
		w.run,
	} {
		go func() {
			_ = run(ctx) // ends with ctx
			done <- struct{}{}
		}()
	}
	t.Cleanup(func() { cancel(); <-done; <-done })
	events := explored.Events(stagestest.Classes)
	events.Classes = nil
	w.spec = *explored.Spec(t, events, explored.Exploration(),
		stagestest.Events(t, stagestest.Classes, 400, 41, stagestest.Faults{}))
	w.plan(func(*wire.Spec) {})
	return w
}

// plan publishes the exploration after a change.
func (w *watched) plan(change func(*wire.Spec)) {
	w.t.Helper()
	change(&w.spec)
	if err := w.state.PublishSpec(w.t.Context(), &w.spec, stagestest.Noon); err != nil {
		w.t.Fatal(err)
	}
}

// rows reports rows of a class.
func (w *watched) rows(class string, n int64) { w.saw([]encoder.ClassRows{{Class: class, Rows: n}}) }

// asked waits until a number of requests are open.
func (w *watched) asked(n int) []state.Request {
	w.t.Helper()
	now, err := w.state.Wait(pipelinetest.Context(w.t), func(s state.Snapshot) bool { return len(s.Requests) >= n })
	if err != nil || len(now.Requests) != n {
		w.t.Fatalf("requests %+v, want %d: %v", now.Requests, n, err)
	}
	return now.Requests
}

func TestClassWithEnoughRowsIsRequested(t *testing.T) {
	w := newWatched(t, 100)
	w.rows("few", 99)
	w.rows("many", 60)
	w.rows("many", 60)
	if got := w.asked(1)[0]; got.Class != "many" || got.ID != wire.ClassRequestID(1, "many") ||
		got.Reason != `class "many", unknown to the last plan, had 120 rows since then` {
		t.Errorf("request %+v", got)
	}
	w.rows("many", 500) // already requested
	w.rows("few", 1)
	w.asked(2)
	stagestest.Until(t, "both requests counted", func() bool { return w.meter.Activity().ClassRequests == 2 })

	// The next plan knows one of them, declines another and starts counting again.
	w.plan(func(s *wire.Spec) {
		s.Sequence, s.Exploration, s.HandledOffset = 2, "test.2", 3 // after both
		s.DeclinedClasses = []string{"many"}
	})
	w.rows("few", 99)
	w.rows("many", 1000)
	w.rows("east", 1000) // of the previous set
	w.rows("other", 100)
	if got := w.asked(1)[0]; got.Class != "other" {
		t.Errorf("request %+v", got)
	}
}

func TestClassesAreNotRequestedWithoutPermission(t *testing.T) {
	w := newWatched(t, 10)
	w.broker.FailNext(pipeline.OpProduce, pipeline.Permanent(pipeline.ErrDenied))
	w.rows("new", 10)
	stagestest.Until(t, "a refusal", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.failed
	})
	w.rows("new", 10) // not before the next plan
	w.plan(func(s *wire.Spec) { s.Sequence, s.Exploration = 2, "test.2" })
	w.rows("new", 10)
	w.asked(1)
}
