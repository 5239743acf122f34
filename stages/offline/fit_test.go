package offline_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/train"
)

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
		if model, _, err := offline.Fit(c.ctx, set, train.Default(), "file", nil, c.open); err == nil || model != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: model %v, %v; want %q", name, model, err, c.says)
		}
	}
}
