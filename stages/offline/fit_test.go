package offline_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/train"
	"github.com/eerf-stream/eerf/training"
)

// However a file is cut into batches, its model is the same, and better than a constant.
func TestFitGivesOneModelForAnyBatches(t *testing.T) {
	for _, task := range stagestest.Tasks {
		rows := stagestest.Events(t, task, 2200, 31, stagestest.Faults{BadFeature: 0.02, NoLabel: 0.05})
		for _, criterion := range []scoring.Criterion{scoring.Correlation, scoring.Adaptive} {
			for _, loss := range []string{training.LossSquared, training.LossLogistic} {
				if task == stagestest.Regression && loss == training.LossLogistic {
					continue
				}
				s := settings(task)
				s.Exploration.Criterion, s.Exploration.SampleRate, s.Exploration.Features, s.Exploration.Candidates = criterion, 0.3, 20, 400
				set := explore(t, s, rows).Set
				config := train.Default()
				config.Loss = loss
				id := ""
				for _, size := range []int{64, 4096} {
					model, counts, err := offline.Fit(t.Context(), set, config, "file", explored.File(stagestest.Cut(t, rows, stagestest.Every(size))...))
					if err != nil {
						t.Fatal(err)
					}
					if id == "" {
						id = model.ID
					}
					measured := model.Metrics.Misclassification
					if measured == nil {
						measured = model.Metrics.UnexplainedVariance
					}
					if model.ID != id || counts.Rows != 2200 || model.Pipeline != "test" || *measured >= *model.Metrics.ConstantError {
						t.Errorf("%s, %v, %s loss, batches of %d: model %s of %+v errs in %v, want %s", task, criterion, loss, size, model.ID, counts, *measured, id)
					}
					if (len(model.NotHeldOut) > 0) != (criterion == scoring.Adaptive && set.Lineage.Learned()) {
						t.Errorf("%s, %v: not held out %v", task, criterion, model.NotHeldOut)
					}
				}
			}
		}
	}
}

func TestFitSaysWhatIsWrong(t *testing.T) {
	fault := errors.New("disk on fire")
	rows := stagestest.Events(t, stagestest.Binary, 300, 32, stagestest.Faults{})
	set := explore(t, settings(stagestest.Binary), rows).Set
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context //nolint:containedctx // a table
		open func() (events.RowReader, error)
		says string
	}{
		"no rows":      {t.Context(), explored.File(), train.ErrTooFewRows.Error()},
		"broken":       {t.Context(), func() (events.RowReader, error) { return &brokenReader{rows, fault}, nil }, fault.Error()},
		"no label":     {t.Context(), explored.File(events.WithoutColumns(rows, "y")), "label"},
		"other label":  {t.Context(), explored.File(stagestest.Events(t, stagestest.Regression, 50, 33, stagestest.Faults{})), "y"},
		"stopped":      {ended, explored.File(rows), context.Canceled.Error()},
		"no row count": {t.Context(), explored.File([]arrow.Record{rows.NewSlice(0, 0)}...), train.ErrTooFewRows.Error()},
	} {
		if model, _, err := offline.Fit(c.ctx, set, train.Default(), "file", c.open); err == nil || model != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: model %v, %v; want %q", name, model, err, c.says)
		}
	}
}
