package offline_test

import (
	"errors"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/train"
)

// backtest runs batches of rows through a stream whose set was explored on the first 2,000.
func backtest(t *testing.T, every int64, batches ...arrow.Record) (*offline.Backtested, error) {
	t.Helper()
	config := train.Default()
	config.MinRows = 500
	b := offline.Backtest{
		Set:   explore(t, settings(stagestest.Regression), batches[0].NewSlice(0, 2000)).Set,
		Train: config,
		Skip:  2000,
		Every: every,
	}
	return b.Run(t.Context(), explored.File(batches...))
}

// Every labelled row after the exploration is predicted once, by a model of earlier rows, however
// the file is cut into batches.
func TestBacktestPredictsBeforeItLearns(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 5000, 101, stagestest.Faults{NoLabel: 0.1})
	whole, err := backtest(t, 1000, rows)
	if err != nil {
		t.Fatal(err)
	}
	if n := whole.All.Forgets.Rows; n < 2600 || n > 2800 || whole.All.Never.Rows != n || whole.All.Rows != 5000 ||
		len(whole.Intervals) != 3 {
		t.Errorf("%d and %d rows of %d in %d intervals", n, whole.All.Never.Rows, whole.All.Rows, len(whole.Intervals))
	}
	if e := whole.All.Forgets.Error; e >= 90 {
		t.Errorf("error %.1f %%", e)
	}
	cut, err := backtest(t, 1000,
		append([]arrow.Record{rows.NewSlice(0, 2000)},
			stagestest.Cut(t, rows.NewSlice(2000, 5000), stagestest.Every(500))...)...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole.Intervals {
		if a, b := whole.Intervals[i].Forgets, cut.Intervals[i].Forgets; a.Rows != b.Rows || a.Error != b.Error {
			t.Errorf("interval %d: %.3f %% of %d rows in one batch, %.3f %% of %d in several", i, a.Error, a.Rows, b.Error,
				b.Rows)
		}
	}
}

func TestBacktestNeedsRows(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 2000, 102, stagestest.Faults{})
	if done, err := backtest(t, 1000, rows); !errors.Is(err, offline.ErrNothingCompared) {
		t.Errorf("%+v, %v", done, err)
	}
}
