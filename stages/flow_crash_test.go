package stages_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/train"
)

func TestFlowARestartAfterCompaction(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, func(s *stages.Settings) {
		smallParts(s)
		s.Train.Promote.Rule = train.PromoteAlways
	})
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000, int64(p)*10_000+400)
	}
	w := f.start(meter.Stages(), nil)
	f.set(1)
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000+400, int64(p)*10_000+600)
	}
	f.request(wire.ActionStart, "again")
	second := f.set(2)
	f.until("a model", func() bool { return f.currentModel() != nil })
	f.noCheckpoints("")
	w.stop()
	f.server.Compact()
	f.server.Stop()
	f.server.Start()
	f.follower = f.follow(f.client)
	w = f.start(meter.Stages(), nil)
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000+600, int64(p)*10_000+800)
		f.featurizedUpTo(p, 40)
	}
	state := f.state("all that there was", func(s state.Snapshot) bool { return s.CurrentSet() != nil })
	if state.Spec.Sequence != 2 || state.Running() != nil || state.CurrentSet().ID != second.ID || len(state.Requests) != 0 {
		t.Errorf("%+v", state)
	}
	f.until("a model of all rows of the set", func() bool {
		m := f.currentModel()
		return m.FeatureSetID == second.ID && len(m.Ranges) == 2 && m.Ranges[0].NextOffset == 40 && m.Ranges[1].NextOffset == 40
	})
	w.stop()
	for p := range 2 {
		f.checkOnce(p, 20, 40)
	}
}

// shifted gives a worker a clock that the test can move forward.
func shifted(shift *atomic.Int64) func(*worker) {
	return func(w *worker) {
		w.Now = func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }
	}
}

func TestFlowAnExplorationThatGivesNoSet(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) { s.Exploration.SampleRows = 100 })
	// Of 600 labelled rows one is different, and it is not among the hundred or so in the sample.
	const labelled, rate = 600, 100.0 / 600
	odd := int64(0)
	for scoring.Sampled(scoring.Hash(f.settings.Exploration.Seed, 0, odd), rate) {
		odd++
	}
	constant := rows(0, labelled, func(n int64, r *row) {
		if r.y = 3.0; n == odd {
			r.y = 4.0
		}
	})
	defer constant.Release()
	f.send(0, constant, 20)
	var shift atomic.Int64
	f.start(exploring, shifted(&shift))
	state := f.state("abandoned", func(s state.Snapshot) bool { return s.Spec != nil && s.Spec.Status == wire.StatusAbandoned })
	if state.Spec.Sequence != 1 || state.Current != nil {
		t.Errorf("%+v", state)
	}
	f.noCheckpoints("")
	f.deleteRecords(f.settings.Topics.Events, 0, 30)
	f.sendRows(0, 600, 1200)
	shift.Store(int64(time.Minute))
	if set := f.set(2); set.Set.Lineage.Counts.Scored == 0 {
		t.Errorf("%+v", set.Set.Lineage)
	}
}

func TestFlowASetThatTheBrokerDoesNotTake(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) { s.Exploration.SampleRows = 100 })
	f.sendRows(0, 0, 400)
	var shift atomic.Int64
	var fits atomic.Bool
	w := f.start(exploring, func(w *worker) {
		shifted(&shift)(w)
		w.log.produce = func(_ context.Context, topic string, _ int, _ []pipeline.Record) error {
			if topic == w.Settings.Topics.FeatureSets && !fits.Load() {
				return pipeline.ErrMessageTooLarge
			}
			return nil
		}
	})
	state := f.state("abandoned", func(s state.Snapshot) bool { return s.Spec != nil && s.Spec.Status == wire.StatusAbandoned })
	if state.Spec.Sequence != 1 || state.Current != nil {
		t.Errorf("%+v", state)
	}
	fits.Store(true)
	shift.Store(int64(time.Minute))
	f.set(2)
	w.stop()
}
