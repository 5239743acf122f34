package subsample_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/subsample"
)

// planned returns a log of one partition with some undecodable messages, and a plan for it.
func planned(t testing.TB, task string) *explored.World {
	t.Helper()
	e, c := settings(task)
	c.SampleRate, c.CalibrationRows = 0.5, 100
	w := explored.NewWorld(t, 1, e, c)
	w.Subsample.CheckpointRows = 90
	w.Topics.MaxMessageBytes = 3 << 10 // several messages of samples per checkpoint
	for i, batch := range stagestest.Cut(t, eventsOf(t, task, 400, 5, stagestest.SomeFaults), stagestest.Every(40)) {
		w.Send(0, batch)
		if i%3 == 0 {
			w.Append(w.Topics.Events, 0, pipeline.Record{Value: []byte("noise")})
		}
	}
	for offset := range int64(14) { // checkpoints are written between fetches
		w.Split(w.Topics.Events, 0, offset)
	}
	planner := w.Start(nil, meter.StageCalibrate)
	w.Spec()
	planner.Stop()
	return w
}

// outcome is the result of a closed partition.
type outcome struct {
	checkpoint *wire.Checkpoint
	id         string
	letters    map[string]bool // the distinct dead letters
}

// finish waits until the partition is closed and selects the set: the selection compares samples
// and checkpoint.
func finish(t testing.TB, w *explored.World) outcome {
	t.Helper()
	o := outcome{checkpoint: w.Closed(0), letters: map[string]bool{}}
	w.Start(nil, meter.StageSelection)
	o.id = w.Set().ID
	for _, r := range w.Records(w.Topics.DeadLetters, 0) {
		d, err := wire.ParseDeadLetterHeaders(r.Headers)
		if err != nil {
			t.Fatal(err)
		}
		o.letters[fmt.Sprint(d.Offset, d.Reason, len(r.Value))] = true
	}
	return o
}

// An owner is killed at each of its requests, before or after the broker has written it. The next
// owner gets the same result.
func TestPartitionOutlivesItsOwners(t *testing.T) {
	for _, task := range []string{outputs, stagestest.Classes} {
		w := planned(t, task)
		worker := w.Start(nil, meter.StageSubsample)
		w.Closed(0)
		requests := worker.Produced() // tombstones follow later
		want := finish(t, w)
		if requests < 10 {
			t.Fatalf("%d requests", requests)
		}
		for at := int64(1); at <= requests; at++ {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, request %d, after %v", task, at, after), func(t *testing.T) {
					w := planned(t, task)
					w.Start(func(worker *explored.Worker) { worker.KillAt, worker.KillAfter = at, after }, meter.StageSubsample).
						Killed()
					w.Start(nil, meter.StageSubsample)
					sameOutcome(t, finish(t, w), want)
				})
			}
		}
	}
}

func sameOutcome(t *testing.T, got, want outcome) {
	t.Helper()
	sameCheckpoint(t, got.checkpoint, want.checkpoint)
	if got.checkpoint.Counts != want.checkpoint.Counts || got.id != want.id {
		t.Errorf("set %s of %+v, want %s of %+v", got.id, got.checkpoint.Counts, want.id, want.checkpoint.Counts)
	}
	for letter := range want.letters {
		if !got.letters[letter] {
			t.Errorf("no dead letter %s", letter)
		}
	}
	if len(got.letters) < len(want.letters) {
		t.Errorf("%d dead letters, want %d", len(got.letters), len(want.letters))
	}
}

// A plan of more outputs than a process has memory for is refused before anything is read.
func TestPlanOfTooManyOutputsIsRefused(t *testing.T) {
	rows := eventsOf(t, stagestest.Classes, 400, 5, stagestest.Faults{})
	spec := plan(t, stagestest.Classes, rows, nil, fullSpan(10))
	r := &subsample.Runner{MaxOutputs: spec.Encoder.Outputs() - 1}
	if err := r.TakePart(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "events.max_classes") {
		t.Error(err)
	}
}
