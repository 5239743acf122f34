package stages_test

import (
	"context"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/state"
)

func TestFlowOlderSpecsAndPointersAreWrittenOver(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) { s.Exploration.SampleRows = 100 })
	f.sendRows(0, 0, 400)
	w := f.start(exploring, nil)
	first := f.set(1)
	topics := f.settings.Topics
	oldSpec := f.newestByKey(topics.Explorations, 0)["flow"]
	oldCurrent := f.newestByKey(topics.FeatureSets, 0)["flow/current"]
	w.stop()
	f.settings.Exploration.Seed = 7
	f.start(exploring, nil)
	second := f.set(2)

	f.produce(topics.Explorations, 0, oldSpec)
	f.produce(topics.FeatureSets, 0, oldCurrent)
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	f.until("the newer spec and pointer are the last again", func() bool {
		spec, err := wire.DecodeSpec(decoder, f.newestByKey(topics.Explorations, 0)["flow"].Value)
		if err != nil {
			t.Fatal(err)
		}
		current, err := wire.DecodeCurrent(decoder, f.newestByKey(topics.FeatureSets, 0)["flow/current"].Value)
		if err != nil {
			t.Fatal(err)
		}
		return spec.Sequence == 2 && current.Sequence == 2 && current.ID == second.ID
	})
	state := f.follower.Snapshot()
	if state.Spec.Sequence != 2 || state.CurrentSet().ID != second.ID || state.CurrentSet().ID == first.ID || state.Running() != nil {
		t.Errorf("spec %d, current %s", state.Spec.Sequence, state.Current.ID)
	}
}

func TestFlowAnOlderCheckpointIsWrittenOver(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, nil)
	f.sendRows(0, 0, 1000)
	f.sendRows(1, 10_000, 11_000)
	release := make(chan struct{})
	f.start(exploring, func(w *worker) { // partition 1 waits, and so does the exploration
		w.log.fetch = func(ctx context.Context, topic string, partition int, _ int64) error {
			if topic == w.Settings.Topics.Events && partition == 1 && f.follower.Snapshot().Spec != nil {
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return ctx.Err()
		}
	})
	spec := f.state("exploration", func(s state.Snapshot) bool { return s.Running() != nil }).Spec
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	newest := func() *wire.Checkpoint {
		rec := f.newestByKey(f.settings.Topics.Scores, 0)[spec.Exploration]
		if rec.Value == nil {
			return nil
		}
		c, err := wire.DecodeCheckpoint(decoder, rec.Value)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	closed := func() bool { c := newest(); return c != nil && c.Closed }
	f.until("partition 0 is closed", closed)
	older := f.all(f.settings.Topics.Scores, 0)[0]
	if c, err := wire.DecodeCheckpoint(decoder, older.Value); err != nil || c.Closed {
		t.Fatalf("the first checkpoint is closed already, %v", err)
	}
	f.produce(f.settings.Topics.Scores, 0, older) // by an owner that lost its partition
	f.until("partition 0 is closed again", closed)
	older.Value = nil
	f.produce(f.settings.Topics.Scores, 0, older)
	f.until("partition 0 is closed once more", closed)
	close(release)
	if counts := f.set(1).Set.Lineage.Counts; counts.Scored < 500 || !counts.Reconciles() {
		t.Errorf("%+v", counts)
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
