package calibrate_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// TestPlannerReportsUnusableEvents: before the first exploration, the planner is the only stage
// that reads events. It names what it cannot use, and sends each dead letter once, across restarts.
func TestPlannerReportsUnusableEvents(t *testing.T) {
	send := func(r *room, n int, value string) {
		for range n {
			pipelinetest.Produce(r.t, r.Broker, r.Env.Topics.Events, 0, pipeline.Record{Value: []byte(value)})
		}
	}
	letters := func(r *room) (of []string) {
		for _, rec := range r.Records(r.Env.Topics.DeadLetters, 0) {
			of = append(of, stagestest.Header(r.t, rec, "__eerf.errors.stage")+" "+
				stagestest.Header(r.t, rec, "__eerf.errors.offset"))
		}
		return of
	}
	label := func(s *calibrate.Settings) { s.Events.Label = []string{"y"} }
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, 1, label)
		send(r, 50, "hello")
		pipelinetest.Produce(t, r.Broker, r.Env.Topics.Events, 0, pipeline.Record{}) // a tombstone
		r.start()
		r.still()
		if got := r.planning().String(); !strings.Contains(got, "50 messages, none could be read: no known format") ||
			!strings.Contains(got, `looks like text: it begins with "hello"`) {
			t.Errorf("planning: %s", got)
		}
		if sent := letters(r); len(sent) != 50 || sent[0] != string(meter.StageCalibrate)+" 0" {
			t.Errorf("%d dead letters: %v", len(sent), sent)
		}
		send(r, 10, `{"x": 1, "why": 2}`)
		send(r, 3, "hello again")
		r.still()
		if got := r.planning().String(); !strings.Contains(got, "53 of 64 messages could not be read, the first because:") ||
			!strings.Contains(got, `no row has the label column "y"; columns are "x", "why"`) {
			t.Errorf("planning: %s", got)
		}
		if err := r.stop(); err != nil {
			t.Error(err)
		}
		r.start()
		send(r, 1, "bye")
		r.still()
		if sent := letters(r); len(sent) != 54 || sent[53] != "calibrate 64" {
			t.Errorf("%d dead letters after a restart: %v", len(sent), sent)
		}
		for i := range 150 {
			send(r, 1, fmt.Sprintf(`{"x": %d.5, "y": %d.25}`, i*i%97, i*i%89))
		}
		spec := r.spec(1)
		if note := spec.Note(0); !note.Reported(0, true) || !note.Reported(64, true) || note.Reported(0, false) {
			t.Errorf("note %+v", note)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		most := -1.0
		r := newRoom(t, 1, func(s *calibrate.Settings) {
			label(s)
			s.Events.LabelMax = &most
		})
		send(r, 20, `{"x": 1, "y": 0.5}`)
		send(r, 5, `{"x": 1}`)
		r.start()
		r.still()
		if got := r.planning().String(); !strings.Contains(got, "5 rows lack the label column \"y\"; 20 labels are out of "+
			`bounds, not finite, or of no configured class, such as "0.5"`) {
			t.Errorf("planning: %s", got)
		}
	})
}
