package stages_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/state"
)

// shifted gives a worker a clock that the test can move forward.
func shifted(shift *atomic.Int64) func(*worker) {
	return func(w *worker) {
		w.Env.Clock = func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }
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
		w.log.OnProduce = func(_ context.Context, topic string, _ int, _ []pipeline.Record) error {
			if topic == w.Settings.Topics.FeatureSets && !fits.Load() {
				return pipeline.ErrMessageTooLarge
			}
			return nil
		}
	})
	state := f.state(
		"abandoned",
		func(s state.Snapshot) bool { return s.Spec != nil && s.Spec.Status == wire.StatusAbandoned },
	)
	if state.Spec.Sequence != 1 || state.Current != nil {
		t.Errorf("%+v", state)
	}
	fits.Store(true)
	shift.Store(int64(time.Minute))
	f.set(2)
	w.stop()
}
