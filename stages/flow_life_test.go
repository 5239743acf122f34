package stages_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
)

// sendRows sends rows first up to, not including, next in messages of 20.
func (f *flow) sendRows(partition int, first, next int64) {
	f.t.Helper()
	batch := rows(first, next, nil)
	defer batch.Release()
	f.send(partition, batch, 20)
}

// request asks the planner for something.
func (f *flow) request(action wire.Action, id string) {
	f.t.Helper()
	r := stages.NewRuntime(f.client, f.settings, testLogger(f.t))
	err := stages.SendRequest(f.ctx, r, wire.Request{Action: action, ID: id, Time: time.Now()})
	if err != nil {
		f.t.Fatal(err)
	}
}

// newestByKey is what compaction would leave of a partition.
func (f *flow) newestByKey(topic string, partition int) map[string]pipeline.Record {
	f.t.Helper()
	newest := map[string]pipeline.Record{}
	for _, rec := range f.all(topic, partition) {
		newest[string(rec.Key)] = rec
	}
	return newest
}

// noCheckpoints waits until the checkpoints of every exploration but one are tombstoned.
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
	state := f.state("second exploration", func(s stages.State) bool { return s.Spec != nil && s.Spec.Sequence == 2 })
	if state.Running() == nil || state.CurrentSet() == nil || state.CurrentSet().ID != first.ID {
		t.Fatalf("running %v, current %v", state.Running(), state.Current)
	}
	f.start([]string{stages.StageFeaturize}, nil)
	f.sendRows(0, 1500, 1600) // featurized with the current set while the other one is being found
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
	if sets := f.watch.State().Sets; len(sets) != 2 {
		t.Errorf("%d sets are kept", len(sets))
	}
	f.noCheckpoints("")
}

func TestFlowExplorationsByTimeGoOnWhereTheLastOneStopped(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) {
		s.Exploration.SampleRows, s.Exploration.Every = 100, 10*time.Millisecond
	})
	f.sendRows(0, 0, 3000)
	f.start(exploring, nil)
	last := f.set(1)
	for sequence := int64(2); sequence <= 3; sequence++ {
		spec := f.state("next exploration", func(s stages.State) bool { return s.Spec != nil && s.Spec.Sequence >= sequence }).Spec
		if spec.Sequence == sequence && spec.Partitions[0].StartOffset != last.Set.Lineage.Partitions[0].NextOffset {
			t.Errorf("exploration %d starts at %d, the one before stopped at %d", sequence,
				spec.Partitions[0].StartOffset, last.Set.Lineage.Partitions[0].NextOffset)
		}
		if sequence == 3 && spec.PlannedAt.IsZero() {
			t.Error("not planned at any time")
		}
		last = f.set(sequence)
	}
}

func TestFlowExplorationsByOffsets(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) {
		s.Exploration.SampleRows, s.Exploration.EveryOffsets = 100, 30
	})
	f.sendRows(0, 0, 400)
	f.start(exploring, nil)
	stopped := f.set(1).Set.Lineage.Partitions[0].NextOffset
	var next int64
	f.until("the second exploration", func() bool { // a message at a time
		state := f.watch.State()
		if state.Spec.Sequence > 1 {
			return true
		}
		f.sendRows(0, 400+20*next, 420+20*next)
		next++
		return false
	})
	if sent := 20 + next - stopped; sent < 30 {
		t.Errorf("started %d offsets after the last one stopped", sent)
	}
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	for _, rec := range f.all(f.settings.Topics.Explorations, 0) {
		spec, err := wire.DecodeSpec(decoder, rec.Value)
		if err != nil {
			t.Fatal(err)
		}
		if start := spec.Partitions[0].StartOffset; spec.Sequence == 2 && start != stopped {
			t.Errorf("it starts at %d, the last one stopped at %d", start, stopped)
		}
	}
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
	state := f.state("cancelled", func(s stages.State) bool { return s.Spec != nil && s.Spec.Status == wire.StatusCancelled })
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
	// A request that is answered is not answered again by the next owner, nor is one that came to nothing.
	f.request(wire.ActionCancel, "c2")
	w.stop()
	f.start(exploring, nil)
	f.request(wire.ActionStart, "s2")
	if again := f.set(3); again.ID != set.ID || again.Set.Lineage.Sequence != 3 {
		t.Errorf("set %s of sequence %d, before %s", again.ID, again.Set.Lineage.Sequence, set.ID)
	}
}

func TestFlowRequestsThatCannotBeMetAreTombstoned(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) {
		s.Exploration.SampleRows, s.Exploration.Until = 0, "end"
	})
	f.sendRows(0, 0, 400)
	f.start(exploring, nil)
	f.set(1)
	r := stages.NewRuntime(f.client, f.settings, testLogger(t))
	for _, request := range []wire.Request{
		{Action: wire.ActionStart, ID: "endless", Until: wire.UntilQuota},
		{Action: wire.ActionCancel, ID: "nothing"},
		{Action: wire.ActionRestart, ID: "over", Exploration: "flow.1.x"},
	} {
		if err := stages.SendRequest(f.ctx, r, request); err != nil {
			t.Fatal(err)
		}
	}
	f.until("the requests are tombstoned", func() bool {
		newest := f.newestByKey(f.settings.Topics.Explorations, 0)
		for _, id := range []string{"endless", "nothing", "over"} {
			if rec, ok := newest["flow/request/"+id]; !ok || rec.Value != nil {
				return false
			}
		}
		return true
	})
	state := f.state("no request is left", func(s stages.State) bool { return len(s.Requests) == 0 })
	if state.Spec.Sequence != 1 || state.Running() != nil {
		t.Errorf("exploration %d, running %v", state.Spec.Sequence, state.Running())
	}
	// Not again and again, and the planner goes on. A write whose acknowledgement is lost may be there twice.
	if n := len(f.all(f.settings.Topics.Explorations, 0)); n < 7 || n > 9 {
		t.Errorf("%d records, want the spec, three requests and three tombstones", n)
	}
	f.request(wire.ActionStart, "s1")
	f.set(2)
}

// A first message of another shape does not stop the pipeline.
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
	if counts := f.set(1).Set.Lineage.Counts; counts.Scored != 600 || !counts.Reconciles() {
		t.Errorf("%+v", counts)
	}
}

func TestFlowADeadlineClosesWhatIsNotFilled(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 3, func(s *stages.Settings) {
		s.Exploration.SampleRows, s.Exploration.SampleRate, s.Exploration.Deadline = 300, 1, 1500*time.Millisecond
	})
	f.sendRows(0, 0, 400)
	f.sendRows(1, 10_000, 10_060) // partition 2 has nothing
	f.start(allButTrain, nil)
	set := f.set(1)
	lineage := set.Set.Lineage
	want := []wire.LineagePartition{
		{Partition: 0, NextOffset: 5, ClosingOrdinal: 100, CloseReason: wire.CloseQuota, CalibrationRows: 100},
		{Partition: 1, NextOffset: 3, ClosingOrdinal: 60, CloseReason: wire.CloseDeadline, CalibrationRows: 60},
		{Partition: 2, NextOffset: 0, ClosingOrdinal: 0, CloseReason: wire.CloseDeadline},
	}
	if fmt.Sprint(lineage.Partitions) != fmt.Sprint(want) {
		t.Errorf("lineage %+v, want %+v", lineage.Partitions, want)
	}
	// The log and the closing ordinals give the set again.
	spec := f.watch.State().Spec
	bank := stages.NewBank(spec, 0, 1)
	var checkpoints []*wire.Checkpoint
	for _, line := range lineage.Partitions {
		core, err := stages.NewSubsampler(spec, bank, wire.Partition{Partition: line.Partition, Quota: 0, EndOffset: -1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if line.ClosingOrdinal > 0 {
			batch := rows(int64(line.Partition)*10_000, int64(line.Partition)*10_000+line.ClosingOrdinal, nil)
			for row := range batch.NumRows() { // one by one
				slice := batch.NewSlice(row, row+1)
				if _, err := core.Add(row, []arrow.Record{slice}); err != nil {
					t.Fatal(err)
				}
				slice.Release()
			}
			batch.Release()
		}
		checkpoints = append(checkpoints, core.Checkpoint(time.Now()))
	}
	again, err := stages.SelectFeatures(spec, checkpoints, time.Now())
	if err != nil || again.ID() != set.ID {
		t.Errorf("computed again: %v, %v; published: %s", again.ID(), err, set.ID)
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
				s.Exploration.SampleRows = 100
				s.Topics.KeepFeatureSets, s.Topics.FeaturesRetention = 2, c.retention
			})
			f.sendRows(0, 0, 400)
			ids := map[string]bool{}
			for seed := range uint64(4) {
				f.settings.Exploration.Seed = seed
				w := f.start(exploring, nil)
				ids[f.set(int64(seed+1)).ID] = true
				f.until("as many sets as are kept", func() bool {
					return len(f.watch.State().Sets) == min(int(seed+1), c.left)
				})
				w.stop()
			}
			state := f.watch.State()
			if len(ids) != 4 || len(state.Sets) != c.left || state.CurrentSet() == nil {
				t.Errorf("%d sets made, %d left, current %v", len(ids), len(state.Sets), state.Current)
			}
			for _, set := range state.Sets {
				if c.left == 2 && set.Set.Lineage.Sequence < 3 {
					t.Errorf("set %s of exploration %d is left", set.ID, set.Set.Lineage.Sequence)
				}
			}
		})
	}
}

func TestFlowRetentionRestartsTheExploration(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, nil)
	f.sendRows(0, 0, 3000)
	f.sendRows(1, 10_000, 10_300) // too few for its quota
	m := newMiddle(1)
	w := f.start(exploring, m.prepare)
	m.wait(f)
	w.stop()
	lost := f.watch.State().Running().Exploration
	f.sendRows(1, 10_300, 13_000)
	f.deleteRecords(f.settings.Topics.Events, 1, 60)
	f.start(exploring, nil)
	set := f.set(2)
	if set.Set.Lineage.Exploration == lost || set.Set.Lineage.Partitions[1].StartOffset != 60 || !set.Set.Lineage.Counts.Reconciles() {
		t.Errorf("%+v", set.Set.Lineage)
	}
	if _, ok := f.newestByKey(f.settings.Topics.Explorations, 0)["flow/request/"+lost]; !ok {
		t.Error("nobody asked for it")
	}
	f.noCheckpoints("")
}
