package offline_test

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A file and a topic of one partition with the same rows give the same set, however the rows are cut into
// messages.
func TestFileAndStreamGiveOneSet(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Classes, 1500, 24, stagestest.SomeFaults)
	for _, criterion := range []scoring.Criterion{scoring.Correlation, scoring.Residual, scoring.Adaptive} {
		s := settings(stagestest.Classes)
		s.Exploration.Criterion, s.Exploration.Sigma = criterion, 0
		s.Exploration.SampleRate, s.Exploration.SampleRows = calibrate.RateAuto, 600
		want := explore(t, s, stagestest.Cut(t, rows, stagestest.Every(400))...).Set
		for _, perMessage := range []int{1, 64, 4096} {
			for _, from := range wire.Froms() {
				if perMessage == 1 && from != wire.FromRecent {
					continue // slow
				}
				t.Run(fmt.Sprintf("%v, messages of %d rows, from %s", criterion, perMessage, from), func(t *testing.T) {
					exploration := s.Exploration
					exploration.From = from
					w := explored.NewWorld(t, 1, s.Events, exploration)
					w.Send(0, stagestest.Cut(t, rows, stagestest.Every(perMessage))...)
					w.Start(nil, meter.Stages()[:3]...)
					got := w.Set()
					if got.ID != want.ID() {
						t.Errorf("set %s, from the file %s", got.ID, want.ID())
					}
					a, b := got.Set.Lineage, want.Lineage
					a.Counts.Messages = b.Counts.Messages
					if a.Counts != b.Counts || a.Rows != b.Rows || a.Rows < 400 || !a.Counts.Reconciles() ||
						a.Partitions[0].ClosingOrdinal != b.Partitions[0].ClosingOrdinal || a.SampleRate != b.SampleRate || a.LabelledRows != b.LabelledRows {
						t.Errorf("lineage %+v, from the file %+v", a, b)
					}
				})
			}
		}
	}
}
