package stages_test

import (
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/state"
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

// newestByKey returns the records of a partition that compaction would keep.
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
	f.produce(
		f.settings.Topics.Explorations,
		0,
		pipeline.Record{Key: wire.SpecKey("flow"), Value: value, Time: time.Now()},
	)
	f.state(
		"the other plan",
		func(s state.Snapshot) bool { return s.Spec != nil && s.Spec.Exploration == spec.Exploration },
	)
	close(m.release)
	if set := f.set(1); set.Set.Lineage.Exploration != spec.Exploration || set.Set.Candidates.Seed != 77 {
		t.Errorf("%+v", set.Set.Lineage)
	}
	f.noCheckpoints("")
}
