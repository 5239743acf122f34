package selection_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/state"
)

// newWorld returns a world with three partitions of events with many bad rows, and an empty fourth
// one.
func newWorld(t testing.TB, edit func(*calibrate.Config)) *explored.World {
	t.Helper()
	c := explored.Exploration()
	c.Criterion, c.SampleRate, c.CalibrationRows = scoring.Residual, 0.5, 100
	if edit != nil {
		edit(&c)
	}
	w := explored.NewWorld(t, 4, explored.Events(stagestest.Classes), c)
	w.Subsample.CheckpointRows = 120
	w.Topics.MaxMessageBytes = 4 << 10 // several messages of samples per checkpoint
	for p := range 3 {
		rows := stagestest.Events(t, stagestest.Classes, 400, uint64(40+p), stagestest.SomeFaults)
		w.Send(p, stagestest.Cut(t, rows, stagestest.Every(50))...)
	}
	return w
}

// planned returns a world with a plan that no worker executes yet.
func planned(t testing.TB, edit func(*calibrate.Config)) *explored.World {
	t.Helper()
	w := newWorld(t, edit)
	planner := w.Start(nil, meter.StageCalibrate)
	w.Spec()
	planner.Stop()
	return w
}

// undisturbed returns the set of that world without disturbances.
func undisturbed(t testing.TB, edit func(*calibrate.Config)) *state.Set {
	t.Helper()
	w := newWorld(t, edit)
	w.Start(nil, meter.StageCalibrate, meter.StageSubsample, meter.StageSelection)
	return w.Set()
}

// isProgress reports whether records report the progress of a selection.
func isProgress(records []pipeline.Record) bool {
	return slices.ContainsFunc(
		records,
		func(r pipeline.Record) bool { return string(r.Key) == string(wire.ProgressKey("test")) },
	)
}

// rounds counts the rounds that a worker begins, and calls do in the second.
func rounds(count *atomic.Int64, do func()) func(*explored.Worker) {
	return func(worker *explored.Worker) {
		worker.OnProduce = func(_ string, _ int, records []pipeline.Record) []pipeline.Record {
			if isProgress(records) && count.Add(1) == 2 && do != nil {
				do()
			}
			return records
		}
	}
}

func TestARebalanceDoesNotBeginASelectionAgainAndACrashDoes(t *testing.T) {
	for name, edit := range map[string]func(*calibrate.Config){
		"residual": nil,
		// reports of steps depend on the clock
		"adaptive": func(c *calibrate.Config) { c.Criterion, c.RefineSteps = scoring.Adaptive, 0 },
	} {
		t.Run(name, func(t *testing.T) { rebalanceAndCrash(t, edit) })
	}
}

func rebalanceAndCrash(t *testing.T, edit func(*calibrate.Config)) {
	closed := func() *explored.World {
		w := planned(t, edit)
		w.Start(nil, meter.StageSubsample)
		return w
	}
	var wanted, rebalanced, crashed, again atomic.Int64
	w := closed()
	w.Start(rounds(&wanted, nil), meter.StageSelection)
	want := w.Set()
	if wanted.Load() < 2 {
		t.Fatalf("%d rounds", wanted.Load())
	}
	t.Run("rebalance", func(t *testing.T) {
		w := closed()
		w.Start(func(worker *explored.Worker) { rounds(&rebalanced, worker.Rebalance)(worker) }, meter.StageSelection)
		if got := w.Set(); got.ID != want.ID || rebalanced.Load() > wanted.Load() {
			t.Errorf(
				"set %s after %d rounds with a rebalance, want %s after %d",
				got.ID,
				rebalanced.Load(),
				want.ID,
				wanted.Load(),
			)
		}
	})
	t.Run("crash", func(t *testing.T) {
		w := closed()
		w.Start(func(worker *explored.Worker) {
			rounds(&crashed, func() { worker.KillAt = worker.Produced() })(worker)
		}, meter.StageSelection).
			Killed()
		w.Start(rounds(&again, nil), meter.StageSelection)
		if got := w.Set(); got.ID != want.ID || again.Load() != wanted.Load() {
			t.Errorf("set %s after %d rounds after a crash, want %s after %d", got.ID, again.Load(), want.ID, wanted.Load())
		}
	})
}

// spoil changes the samples that a worker sends for partition 1. change receives each message and
// its number.
func spoil(
	t *testing.T,
	w *explored.World,
	change func(number int, record pipeline.Record) []pipeline.Record,
) func(*explored.Worker) {
	t.Helper()
	return func(worker *explored.Worker) {
		number := 0 // one goroutine sends the samples of a partition
		worker.OnProduce = func(topic string, partition int, records []pipeline.Record) []pipeline.Record {
			if topic != w.Topics.Samples || partition != 1 {
				return records
			}
			number++
			return change(number, records[0])
		}
	}
}

// damaged returns a message of samples with a changed x in its last row.
func damaged(t *testing.T, record pipeline.Record) pipeline.Record {
	t.Helper()
	headers := record.Headers
	samples, err := wire.DecodeSamples(arrowio.NewDecoder(arrowio.DefaultLimits()), record.Value, headers)
	if err != nil {
		t.Error(err)
		return record
	}
	samples.X[len(samples.X)-1]++
	value, _, err := wire.EncodeSamples(samples)
	if err != nil {
		t.Error(err)
	}
	record.Value = value
	return record
}

func TestSamplesThatAreNotThoseThatWereScoredAreReadAgain(t *testing.T) {
	want := undisturbed(t, nil)
	for _, test := range []struct {
		name    string
		change  func(number int, record pipeline.Record) []pipeline.Record
		attempt int
	}{
		{"twice", func(_ int, r pipeline.Record) []pipeline.Record { return []pipeline.Record{r, r} }, 0},
		{"lost", func(number int, r pipeline.Record) []pipeline.Record {
			return []pipeline.Record{r}[stagestest.Bit(number == 2):]
		}, 1},
		{"lost, the first", func(number int, r pipeline.Record) []pipeline.Record {
			return []pipeline.Record{r}[stagestest.Bit(number == 1):]
		}, 1},
		{"damaged", func(number int, r pipeline.Record) []pipeline.Record {
			if number == 2 {
				r = damaged(t, r)
			}
			return []pipeline.Record{r}
		}, 1},
		{"not samples", func(number int, r pipeline.Record) []pipeline.Record {
			if number == 2 {
				r.Value = []byte("noise")
			}
			return []pipeline.Record{r}
		}, 1},
		{"without a value", func(number int, r pipeline.Record) []pipeline.Record {
			if number == 3 {
				r.Value = nil
			}
			return []pipeline.Record{r}
		}, 1},
		{
			"a damaged copy after it",
			func(_ int, r pipeline.Record) []pipeline.Record { return []pipeline.Record{r, damaged(t, r)} },
			0,
		},
		{"noise before", func(_ int, r pipeline.Record) []pipeline.Record {
			noise := r
			noise.Value = []byte("noise")
			return []pipeline.Record{noise, r}
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := planned(t, nil)
			w.Start(spoil(t, w, test.change), meter.StageSubsample, meter.StageSelection)
			if got := w.Set(); got.ID != want.ID {
				t.Errorf("set %s, want %s", got.ID, want.ID)
			}
			attempts := 0
			for _, c := range w.Checkpoints(1) {
				attempts = max(attempts, c.Attempt)
			}
			if attempts != test.attempt {
				t.Errorf("attempt %d, want %d", attempts, test.attempt)
			}
		})
	}
}

func TestThreeRefusalsAbandonTheExploration(t *testing.T) {
	w := planned(t, nil)
	w.Start(spoil(t, w, func(number int, r pipeline.Record) []pipeline.Record {
		return []pipeline.Record{damaged(t, r)}
	}), meter.StageSubsample, meter.StageSelection)
	if reason := w.Abandoned(); !strings.Contains(reason, "partition 1, attempt 2") ||
		!strings.Contains(reason, "checksum") {
		t.Errorf("reason %q", reason)
	}
	attempts := map[int]bool{}
	for _, c := range w.Checkpoints(1) {
		attempts[c.Attempt] = true
	}
	if len(attempts) != 3 || w.State.Snapshot().Current != nil {
		t.Errorf("attempts %v", attempts)
	}
}

func TestSamplesThatHaveExpiredAreReadAgain(t *testing.T) {
	want := undisturbed(t, nil)
	for name, lose := range map[string]func(w *explored.World, end int64){
		"some":                func(w *explored.World, end int64) { w.Expire(w.Topics.Samples, 1, end/2) },
		"all":                 func(w *explored.World, end int64) { w.Expire(w.Topics.Samples, 1, end) },
		"the topic made anew": func(w *explored.World, _ int64) { w.LoseEnd(w.Topics.Samples, 1, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			w := planned(t, nil)
			w.Start(nil, meter.StageSubsample)
			for p := range 3 {
				w.Closed(p)
			}
			_, end, err := w.Offsets(t.Context(), w.Topics.Samples, 1)
			if err != nil {
				t.Fatal(err)
			}
			lose(w, end)
			w.Start(nil, meter.StageSelection)
			if got := w.Set(); got.ID != want.ID {
				t.Errorf("set %s, want %s", got.ID, want.ID)
			}
			checkpoints := w.Checkpoints(1)
			if last := checkpoints[len(checkpoints)-1]; last.Attempt != 1 || !last.Closed {
				t.Errorf("last checkpoint %+v", last)
			}
		})
	}
}

func TestRetentionThatPassesTheRangeAbandonsTheExploration(t *testing.T) {
	w := planned(t, nil)
	w.Expire(w.Topics.Events, 2, 3)
	w.Start(nil, meter.StageSubsample, meter.StageSelection)
	if reason := w.Abandoned(); !strings.Contains(reason, "the log of partition 2 lost offsets") {
		t.Errorf("reason %q", reason)
	}
	lost := slices.ContainsFunc(w.Checkpoints(2), func(c *wire.Checkpoint) bool { return c.CloseReason == wire.CloseLost })
	if !lost {
		t.Errorf("no checkpoint with this close reason")
	}
}

func TestAnExplorationWithoutUsableRowsIsAbandoned(t *testing.T) {
	w := planned(t, func(c *calibrate.Config) { c.SampleRate = 1e-12 })
	w.Start(nil, meter.StageSubsample, meter.StageSelection)
	if reason := w.Abandoned(); !strings.Contains(reason, "no row was scored") {
		t.Errorf("reason %q", reason)
	}
	spec := w.State.Snapshot().Spec
	for _, part := range spec.Partitions {
		note := spec.Note(part.Partition)
		if !part.Empty() && (!note.Reported(part.StartOffset, false) || !note.Reported(part.EndOffset-1, false)) {
			t.Errorf("dead letters of %+v would be sent again: %+v", part, note)
		}
	}
}

// The selection waits until scores has all partitions of the exploration.
func TestSelectionWaitsForScoresToGrow(t *testing.T) {
	want := undisturbed(t, nil)
	w := planned(t, nil)
	w.AddTopic(w.Topics.Scores, 2)
	w.Start(nil, meter.StageSubsample, meter.StageSelection)
	w.Closed(1)
	if err := w.GrowPartitions(t.Context(), w.Topics.Scores, 4); err != nil {
		t.Fatal(err)
	}
	if got := w.Set(); got.ID != want.ID {
		t.Errorf("set %s, want %s", got.ID, want.ID)
	}
}

// If events is truncated after the plan, the exploration yields no set, whether or not the log has
// grown past the old end and whether or not it was scored before: the rows read before and after
// would come from two logs.
func TestEventsThatAreLostBehindThePlanAbandonTheExploration(t *testing.T) {
	for _, c := range []struct {
		name          string
		scored, again bool
	}{
		{"gone", true, false},
		{"others in their place", true, true},
		{"others in their place before they are scored", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := planned(t, nil)
			if c.scored {
				worker := w.Start(nil, meter.StageSubsample)
				for p := range 3 {
					w.Closed(p)
				}
				worker.Stop()
			}
			records := w.Records(w.Topics.Events, 1)
			w.LoseEnd(w.Topics.Events, 1, int64(len(records)-2))
			if c.again {
				for _, r := range w.Records(w.Topics.Events, 2)[:2] {
					w.Append(w.Topics.Events, 1, pipeline.Record{Value: r.Value})
				}
			}
			w.Start(nil, meter.StageSubsample, meter.StageSelection)
			if reason := w.Abandoned(); !strings.Contains(
				reason,
				"partition 1 of events no longer holds the rows of the exploration",
			) {
				t.Errorf("reason %q", reason)
			}
		})
	}
}

// A plan of more outputs than a process has memory for is abandoned before any partition is scored.
func TestPlanOfTooManyClassesIsAbandoned(t *testing.T) {
	w := planned(t, nil)
	w.MaxOutputs = w.Spec().Encoder.Outputs()
	w.Start(nil, meter.StageSubsample, meter.StageSelection)
	w.Set()

	w = planned(t, nil)
	w.MaxOutputs = w.Spec().Encoder.Outputs() - 1
	w.Start(nil, meter.StageSelection)
	if reason := w.Abandoned(); !strings.Contains(reason, "events.max_classes") {
		t.Errorf("reason %q", reason)
	}
	if n := len(w.Checkpoints(0)); n > 0 {
		t.Errorf("%d checkpoints", n)
	}
}
