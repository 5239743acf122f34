package stages_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/subsample"
)

// sendRows sends rows first up to, not including, next in messages of 20.
func (f *flow) sendRows(partition int, first, next int64) {
	f.t.Helper()
	batch := rows(first, next, nil)
	defer batch.Release()
	f.send(partition, batch, 20)
}

// request sends the planner a request.
func (f *flow) request(action wire.Action, id string) {
	f.t.Helper()
	if err := f.follower.SendRequest(f.ctx, wire.Request{Action: action, ID: id, Time: time.Now()}); err != nil {
		f.t.Fatal(err)
	}
}

// newestByKey returns what compaction would leave of a partition.
func (f *flow) newestByKey(topic string, partition int) map[string]pipeline.Record {
	f.t.Helper()
	newest := map[string]pipeline.Record{}
	for _, rec := range f.all(topic, partition) {
		newest[string(rec.Key)] = rec
	}
	return newest
}

// noCheckpoints waits until the checkpoints of all explorations but one are tombstoned.
func (f *flow) noCheckpoints(but string) {
	f.t.Helper()
	f.until("checkpoints tombstoned", func() bool {
		for p := range f.settings.Topics.Partitions {
			for key, rec := range f.newestByKey(f.settings.Topics.Scores, p) {
				if key != but && rec.Value != nil {
					return false
				}
			}
		}
		return true
	})
}

func TestFlowAChangedSpecStartsAnExplorationBesideTheCurrentSet(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, nil)
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000, int64(p)*10_000+1500)
	}
	w := f.start(allButTrain, nil)
	first := f.set(1)
	f.noCheckpoints("")
	w.stop()

	f.settings.Exploration.Features = 6
	m := newMiddle(4)
	f.start(exploring, m.prepare)
	m.wait(f)
	state := f.state("second exploration", func(s state.Snapshot) bool { return s.Spec != nil && s.Spec.Sequence == 2 })
	if state.Running() == nil || state.CurrentSet() == nil || state.CurrentSet().ID != first.ID {
		t.Fatalf("running %v, current %v", state.Running(), state.Current)
	}
	f.start([]string{meter.StageFeaturize}, nil)
	f.sendRows(0, 1500, 1600) // featurized with the current set during the next exploration
	f.settings.Exploration.Features = 8
	f.featurizedUpTo(0, 80)
	for _, out := range f.features(0) {
		if out.FeatureSetID != first.ID {
			t.Fatalf("offset %d has set %s", out.SourceOffset, out.FeatureSetID)
		}
	}
	close(m.release)
	second := f.set(2)
	if second.ID == first.ID || second.Set.Set.Features.Len() != 6 || second.Set.Lineage.Sequence != 2 {
		t.Errorf("second set %s of %d features", second.ID, second.Set.Set.Features.Len())
	}
	if sets := f.follower.Snapshot().Sets; len(sets) != 2 {
		t.Errorf("%d sets are kept", len(sets))
	}
	f.noCheckpoints("")
}

func TestFlowRequestsStartAndCancel(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, nil)
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000, int64(p)*10_000+2500)
	}
	m := newMiddle(4)
	w := f.start(exploring, m.prepare)
	m.wait(f)
	f.request(wire.ActionCancel, "c1")
	state := f.state("cancelled", func(s state.Snapshot) bool { return s.Spec != nil && s.Spec.Status == wire.StatusCancelled })
	if state.Running() != nil || state.Spec.Sequence != 1 || len(state.Requests) != 0 {
		t.Errorf("%+v", state)
	}
	f.noCheckpoints("")
	close(m.release)

	f.request(wire.ActionStart, "s1")
	set := f.set(2)
	if set.Set.Lineage.Sequence != 2 || !set.Set.Lineage.Counts.Reconciles() {
		t.Errorf("%+v", set.Set.Lineage)
	}
	// A request that was answered, even without effect, is not answered again by the next owner.
	f.request(wire.ActionCancel, "c2")
	w.stop()
	f.start(exploring, nil)
	f.sendRows(0, 2500, 2600) // something new to read
	f.request(wire.ActionStart, "s2")
	if again := f.set(3); again.Set.Lineage.Sequence != 3 {
		t.Errorf("set %s of sequence %d, before %s", again.ID, again.Set.Lineage.Sequence, set.ID)
	}
}

// A first message with another shape does not stop the pipeline.
func TestFlowAStrayFirstMessage(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, nil)
	batch := rows(0, 1, nil)
	defer batch.Release()
	lone := wire.SelectColumns(batch, []string{batch.ColumnName(0)})
	defer lone.Release()
	f.produce(f.settings.Topics.Events, 0, message(t, lone, 0, 1))
	f.sendRows(0, 0, 2000)
	f.start(exploring, nil)
	if counts := f.set(1).Set.Lineage.Counts; counts.Scored < 500 || !counts.Reconciles() {
		t.Errorf("%+v", counts)
	}
}

// Partitions without rows hold nothing up, and the set can be reproduced from the log and the lineage.
func TestFlowIdlePartitionsHoldNothingUp(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 3, func(s *stages.Settings) { s.Exploration.SampleRate = 1 })
	f.sendRows(0, 0, 400)
	f.sendRows(1, 10_000, 10_060) // partition 2 is empty
	f.start(exploring, nil)
	set := f.set(1)
	lineage := set.Set.Lineage
	want := []wire.LineagePartition{
		{Partition: 0, NextOffset: 20, EndOffset: 20, ClosingOrdinal: 400, CloseReason: wire.CloseEnd, CalibrationRows: 100},
		{Partition: 1, NextOffset: 3, EndOffset: 3, ClosingOrdinal: 60, CloseReason: wire.CloseEnd, CalibrationRows: 60},
		{Partition: 2, CloseReason: wire.CloseEnd},
	}
	if fmt.Sprint(lineage.Partitions) != fmt.Sprint(want) {
		t.Errorf("lineage %+v, want %+v", lineage.Partitions, want)
	}
	spec := f.follower.Snapshot().Spec
	bank := subsample.NewBank(spec, 0, 1)
	checkpoints := map[int32]*wire.Checkpoint{}
	var samples []*wire.Samples
	for _, part := range spec.Partitions[:2] {
		part.EndOffset = 1000
		core, err := subsample.New(spec, bank, part, nil)
		if err != nil {
			t.Fatal(err)
		}
		first := int64(part.Partition) * 10_000
		batch := rows(first, first+lineage.Partitions[part.Partition].ClosingOrdinal, nil)
		for row := range batch.NumRows() { // one by one
			slice := batch.NewSlice(row, row+1)
			if _, err := core.Add(row, []arrow.Record{slice}); err != nil {
				t.Fatal(err)
			}
			slice.Release()
		}
		batch.Release()
		checkpoints[part.Partition] = core.Checkpoint(time.Now())
		samples = append(samples, core.Samples())
	}
	sums, again := selection.Merge(spec, checkpoints)
	computed, err := selection.Select(spec, sums, again, selection.NewSample(spec, samples...), time.Now(), selection.Options{})
	if err != nil || computed.ID() != set.ID {
		t.Errorf("computed again: %v, %v; published: %s", computed.ID(), err, set.ID)
	}
}

func TestFlowOldSetsAreRetired(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		retention time.Duration
		left      int
	}{{"by number", time.Millisecond, 2}, {"never too young", time.Hour, 4}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, 1, func(s *stages.Settings) {
				s.Exploration.SampleRows = 150
				s.Topics.KeepFeatureSets, s.Topics.FeaturesRetention = 2, c.retention
			})
			f.sendRows(0, 0, 400)
			ids := map[string]bool{}
			for seed := range uint64(4) {
				f.settings.Exploration.Seed = seed
				w := f.start(exploring, nil)
				ids[f.set(int64(seed+1)).ID] = true
				f.until("as many sets as are kept", func() bool {
					return len(f.follower.Snapshot().Sets) == min(int(seed+1), c.left)
				})
				w.stop()
			}
			state := f.follower.Snapshot()
			if len(ids) != 4 || len(state.Sets) != c.left || state.CurrentSet() == nil {
				t.Errorf("%d sets made, %d left, current %v", len(ids), len(state.Sets), state.Current)
			}
			for _, set := range state.Sets {
				if c.left == 2 && set.Lineage.Sequence < 3 {
					t.Errorf("set %s of exploration %d is left", set.ID, set.Lineage.Sequence)
				}
			}
		})
	}
}

func TestFlowRetentionHasTheExplorationPlannedAnew(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, nil)
	f.sendRows(0, 0, 3000)
	f.sendRows(1, 10_000, 13_000)
	m := newMiddle(1)
	w := f.start(exploring, m.prepare)
	m.wait(f)
	w.stop()
	lost := f.running().Exploration
	f.deleteRecords(f.settings.Topics.Events, 1, 100)
	var shift atomic.Int64
	shift.Store(int64(time.Hour)) // long after the exploration was given up
	f.start(exploring, func(w *worker) {
		w.Now = func() time.Time { return time.Now().Add(time.Duration(shift.Add(int64(10 * time.Second)))) }
	})
	set := f.set(2)
	if set.Set.Lineage.Exploration == lost || set.Set.Lineage.Partitions[1].StartOffset != 100 || !set.Set.Lineage.Counts.Reconciles() {
		t.Errorf("%+v", set.Set.Lineage)
	}
	f.noCheckpoints("")
}
func TestFlowTwoPlansOfOneSequenceNumber(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, nil)
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000, int64(p)*10_000+1500)
	}
	m := newMiddle(2)
	f.start(exploring, m.prepare)
	m.wait(f)
	// A planner that lost its ownership during calibration publishes its plan.
	spec := *f.state("a plan", func(s state.Snapshot) bool { return s.Running() != nil }).Spec
	spec.Candidates.Seed = 77
	spec.Exploration = "flow.1.other"
	value, err := wire.EncodeSpec(&spec)
	if err != nil {
		t.Fatal(err)
	}
	f.produce(f.settings.Topics.Explorations, 0, pipeline.Record{Key: wire.SpecKey("flow"), Value: value, Time: time.Now()})
	f.state("the other plan", func(s state.Snapshot) bool { return s.Spec != nil && s.Spec.Exploration == spec.Exploration })
	close(m.release)
	if set := f.set(1); set.Set.Lineage.Exploration != spec.Exploration || set.Set.Candidates.Seed != 77 {
		t.Errorf("%+v", set.Set.Lineage)
	}
	f.noCheckpoints("")
}
