package subsample_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
)

// planned is a log of one partition with some undecodable messages, and a plan for it.
func planned(t testing.TB, task string) *explored.World {
	t.Helper()
	e, c := settings(task)
	c.SampleRate, c.CalibrationRows = 0.5, 100
	w := explored.NewWorld(t, 1, e, c)
	w.Subsample.CheckpointRows = 90
	w.Topics.MaxMessageBytes = 3 << 10 // several messages of samples for a checkpoint
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

// finish waits until the partition is closed, selects the set, and checks the topics.
func finish(t testing.TB, w *explored.World) outcome {
	t.Helper()
	o := outcome{checkpoint: w.Closed(0), letters: map[string]bool{}}
	w.Start(nil, meter.StageSelect)
	o.id = w.Set().ID
	for _, r := range w.Records(w.Topics.DeadLetters, 0) {
		d, err := wire.ParseDeadLetterHeaders(events.Headers(r.Headers))
		if err != nil {
			t.Fatal(err)
		}
		o.letters[fmt.Sprint(d.Offset, d.Reason, len(r.Value))] = true
	}
	checkSamples(t, w, o.checkpoint)
	return o
}

// checkSamples compares the samples topic with the events, row by row.
func checkSamples(t testing.TB, w *explored.World, c *wire.Checkpoint) {
	t.Helper()
	spec, decoder := w.Spec(), arrowio.NewDecoder(arrowio.DefaultLimits())
	type row struct {
		x []float32
		y []float64
	}
	sampled := map[int64]row{}
	for _, r := range w.Records(w.Topics.Samples, 0) {
		s, err := wire.DecodeSamples(decoder, r.Value, events.Headers(r.Headers))
		if err != nil || !bytes.Equal(r.Key, wire.CheckpointKey(spec.Exploration)) {
			t.Fatalf("samples at offset %d: %v", r.Offset, err)
		}
		for i, ordinal := range s.Ordinal {
			one := row{x: s.X[i*s.Dim : (i+1)*s.Dim]}
			for k := range s.Targets.Outputs {
				if s.Targets.Class != nil {
					one.y = append(one.y, float64(stagestest.Bit(int(s.Targets.Class[i]) == k)))
				} else {
					one.y = append(one.y, float64(s.Targets.Values[i*s.Targets.Outputs+k]))
				}
			}
			if before, ok := sampled[ordinal]; ok && (!slices.Equal(before.x, one.x) || !slices.Equal(before.y, one.y)) {
				t.Fatalf("ordinal %d stands there twice, with other bits", ordinal)
			}
			sampled[ordinal] = one
		}
	}
	near := func(a, b float64) bool { return a-b < 1e-5*max(1, b, -b) && b-a < 1e-5*max(1, b, -b) }
	ordinal, found := int64(0), 0
	for _, r := range w.Records(w.Topics.Events, 0) {
		batches, err := events.NewReader(spec.Limits, spec.Encoder).Read(r.Value)
		if err != nil {
			continue
		}
		for i := range int(batches[0].NumRows()) {
			want := stagestest.EncodeRow(spec.Encoder, batches[0], i)
			got, ok := sampled[ordinal]
			if ok != (stagestest.OutcomeOf(spec, 0, ordinal, want) == stagestest.Scored) {
				t.Fatalf("row %d sampled: %v", ordinal, ok)
			}
			if ok {
				found++
				if !slices.EqualFunc(want.X, got.x, func(a float64, b float32) bool { return near(a, float64(b)) }) || !slices.EqualFunc(want.Y, got.y, near) {
					t.Fatalf("row %d is sampled as %+v, want %+v", ordinal, got, want)
				}
			}
			ordinal++
		}
		events.Release(batches)
	}
	if found != len(sampled) || int64(found) != c.Samples.Rows || int64(found) != c.Counts.Scored || found < 50 {
		t.Fatalf("%d rows sampled, %d expected, checkpoint %+v", len(sampled), found, c.Samples)
	}
}

func TestTheSampleIsTheRowsOfTheEvents(t *testing.T) {
	for _, task := range tasks {
		t.Run(task, func(t *testing.T) {
			w := planned(t, task)
			worker := w.Start(nil, meter.StageSubsample)
			o := finish(t, w)
			c := o.checkpoint.Counts
			if !c.Reconciles() || c.Rows != 400 || c.Undecodable != 4 || c.Rejected == 0 || c.Unlabelled == 0 || c.NotSampled == 0 {
				t.Errorf("counts %+v", c)
			}
			if totals := worker.Meter.Totals().Scoring; totals != c {
				t.Errorf("meter says %+v, checkpoint %+v", totals, c)
			}
		})
	}
}

// An owner is killed at each of its requests, before or after the broker has written it: the next one gets the same result.
func TestPartitionOutlivesItsOwners(t *testing.T) {
	for _, task := range []string{outputs, stagestest.Classes} {
		w := planned(t, task)
		worker := w.Start(nil, meter.StageSubsample)
		w.Closed(0)
		requests := worker.Produced() // tombstones come after them
		want := finish(t, w)
		if requests < 10 {
			t.Fatalf("%d requests", requests)
		}
		for at := int64(1); at <= requests; at++ {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, request %d, after %v", task, at, after), func(t *testing.T) {
					w := planned(t, task)
					w.Start(func(worker *explored.Worker) { worker.KillAt, worker.KillAfter = at, after }, meter.StageSubsample).Killed()
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

// What an owner still writes after losing the partition, samples and an older checkpoint, changes nothing.
func TestAZombieChangesNothing(t *testing.T) {
	w := planned(t, stagestest.Classes)
	w.Start(nil, meter.StageSubsample)
	want := finish(t, w)
	w = planned(t, stagestest.Classes)
	w.Start(nil, meter.StageSubsample)
	w.Closed(0)
	samples, scores := w.Records(w.Topics.Samples, 0), w.Records(w.Topics.Scores, 0)
	if len(scores) < 3 {
		t.Fatalf("%d checkpoints", len(scores))
	}
	w.Append(w.Topics.Samples, 0, samples[:2]...)
	w.Append(w.Topics.Scores, 0, scores[0])
	w.Append(w.Topics.Samples, 0, samples[1])
	w.Append(w.Topics.Scores, 0, scores[1])
	stagestest.Until(t, "written again", func() bool {
		all := w.Checkpoints(0)
		return len(all) > len(scores)+2 && all[len(all)-1].Closed
	})
	sameOutcome(t, finish(t, w), want)
}

// Unreadable records under the exploration's key, written before it, while it is read and when it is closed, stop nobody.
func TestNoiseOnScoresEndsNobody(t *testing.T) {
	w := planned(t, stagestest.Classes)
	w.Start(nil, meter.StageSubsample)
	want := finish(t, w)
	w = planned(t, stagestest.Classes)
	noise := pipeline.Record{Key: wire.CheckpointKey(w.Spec().Exploration), Value: []byte("noise")}
	w.Append(w.Topics.Scores, 0, noise)
	worker := w.Start(func(worker *explored.Worker) {
		worker.OnProduce = func(topic string, _ int, records []pipeline.Record) []pipeline.Record {
			if topic == w.Topics.Scores {
				return append(slices.Clone(records), noise)
			}
			return records
		}
		worker.KillAt, worker.KillAfter = 12, true
	}, meter.StageSubsample)
	worker.Killed()
	if n := worker.Meter.Activity().Undecodable[w.Topics.Scores]; n == 0 {
		t.Error("noise was not counted")
	}
	w.Start(nil, meter.StageSubsample)
	w.Closed(0)
	w.Append(w.Topics.Scores, 0, noise)
	sameOutcome(t, finish(t, w), want)
}
