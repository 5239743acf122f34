package offline_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func settings(task string) calibrate.Settings {
	return calibrate.Settings{
		Pipeline:    "test",
		Events:      explored.Events(task),
		Exploration: explored.Exploration(),
		Limits:      events.DefaultLimits(),
		EventsTopic: "file",
	}
}

func explore(t testing.TB, s calibrate.Settings, batches ...arrow.Record) *offline.Explored {
	t.Helper()
	found, err := offline.Explore(t.Context(), s, explored.File(batches...), selection.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// However a file is cut into batches, its set equals the result of the functions of the stages.
func TestExploreGivesOneSetForAnyBatches(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Classes, 900, 20, stagestest.SomeFaults)
	for _, criterion := range []scoring.Criterion{scoring.Correlation, scoring.Residual, scoring.Adaptive} {
		t.Run(criterion.String(), func(t *testing.T) {
			s := settings(stagestest.Classes)
			s.Exploration.Criterion, s.Exploration.Sigma = criterion, 0 // includes the bandwidth rule
			want := explored.FeatureSet(t, s.Events, s.Exploration, rows)
			for _, size := range []func() int{stagestest.Every(1), stagestest.UpTo(rand.New(rand.NewPCG(5, 6)), 150)} {
				got := explore(t, s, stagestest.Cut(t, rows, size)...).Set
				if got.ID() != want.ID() || got.Lineage.Counts.Scored != want.Lineage.Counts.Scored ||
					!got.Lineage.Counts.Reconciles() {
					t.Fatalf("set %s of %+v, want %s", got.ID(), got.Lineage.Counts, want.ID())
				}
			}
		})
	}
}

// A selection ends soon after its context, wherever it is.
func TestExploreEndsWithItsContext(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 3000, 5, stagestest.Faults{})
	for _, after := range []int{1, 3, 6} { // calls of Progress
		ctx, cancel := context.WithCancel(t.Context())
		calls, points := 0, 0
		o := selection.Options{Progress: func(selection.Progress) {
			calls++
			switch {
			case calls == after:
				cancel()
			case calls > after:
				points++
			}
		}}
		s := settings(stagestest.Regression)
		s.Exploration.Criterion, s.Exploration.Sigma = scoring.Adaptive, 0
		found, err := offline.Explore(ctx, s, explored.File(rows), o)
		if !errors.Is(err, context.Canceled) || found != nil {
			t.Errorf("canceled at call %d: %v, %v", after, found, err)
		}
		if points > 0 {
			t.Errorf("canceled at call %d: %d points later", after, points)
		}
		cancel()
	}
}
