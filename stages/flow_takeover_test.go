package stages_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// A second process with the pipeline's name and another label once replaced its feature sets and
// models, with the old label as a feature.
func TestFlowAPipelineIsNotTakenOverByAccident(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, nil)
	f.sendRows(0, 0, 400)
	first := f.start(allButTrain, nil)
	f.set(1)

	ours := f.settings
	theirs := f.settings
	theirs.Events.Label = []string{"x0"}
	theirs.Events.Exclude = []string{"y"}
	refuses := func(w *worker) (detail string) {
		f.t.Helper()
		f.until("the worker is not ready and names the change", func() bool {
			for _, c := range w.Conditions(f.ctx, exploring, time.Second) {
				if c.Name == stages.ConditionPlanning && !c.OK {
					detail = c.Detail
				}
			}
			return detail != ""
		})
		return detail
	}
	f.settings = theirs
	standby := f.start(exploring, nil) // a rolling update: the first pod of another configuration
	refuses(standby)
	first.stop() // the standby becomes the planner
	f.until("the planner refuses", func() bool { return standby.Env.Meter.Activity().Planning.Takeover != "" })
	f.request("start", "whoever")
	detail := refuses(standby)
	standby.stop()

	once := stages.NewProcess(f.dial(), f.settings, stagestest.Logger(t)) // a one-shot job
	once.Env.FailFast = true
	var takeover *calibrate.TakeoverError
	if err := once.Run(f.ctx, exploring...); !errors.As(err, &takeover) || !strings.Contains(detail, takeover.Hash) {
		t.Fatalf("one-shot: %v; readyz: %s", err, detail)
	}
	if spec := f.follower.Snapshot().Spec; spec.Sequence != 1 {
		t.Fatalf("explorations %d were planned", spec.Sequence)
	}

	f.settings.Pipeline.AcceptChange = takeover.Hash
	accepted := f.start(allButTrain, nil)
	second := f.set(2)
	if label := second.Set.Encoder.Label.Columns; label[0] != "x0" {
		t.Errorf("label %v", label)
	}
	f.settings = ours
	refuses(f.start(exploring, nil)) // the way back is another change
	accepted.stop()
	if sequence := f.follower.Snapshot().Spec.Sequence; sequence != 2 {
		t.Errorf("the newest exploration is %d", sequence)
	}
}
