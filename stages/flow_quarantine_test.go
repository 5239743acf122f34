package stages_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/supervise"
)

// quickly sets a policy with short waits, for a worker with a failing partition.
func quickly(w *worker) {
	w.fails = true
	w.Env.Quarantine = supervise.Policy{
		First:    20 * time.Millisecond,
		Max:      100 * time.Millisecond,
		Healthy:  200 * time.Millisecond,
		Patience: 300 * time.Millisecond,
	}
}

// byRows makes explorations read all rows.
func byRows(s *stages.Settings) { s.Exploration.From = wire.FromEarliest }

// quarantinedOf lists the quarantined partitions of a stage of a worker.
func quarantinedOf(w *worker, stage meter.Stage) (partitions []int) {
	for _, q := range w.Env.Meter.Activity().Quarantined {
		if q.Stage == stage {
			partitions = append(partitions, q.Partition)
		}
	}
	return partitions
}

// notReady names the conditions about partitions that a worker does not meet.
func notReady(w *worker, names []meter.Stage) (failed []string) {
	for _, c := range w.Conditions(context.Background(), names, time.Minute) {
		if !c.OK && strings.HasPrefix(c.Name, "partitions ") {
			failed = append(failed, c.Name+": "+c.Detail)
		}
	}
	return failed
}

// without checks that a set was made without partition 1 of three, and reports the exclusion.
func without(t *testing.T, set *state.Set, reason string) {
	t.Helper()
	l := set.Set.Lineage
	if len(l.Excluded) != 1 || l.Excluded[0].Partition != 1 || !strings.Contains(l.Excluded[0].Reason, reason) {
		t.Errorf("made without %+v", l.Excluded)
	}
	if len(l.Partitions) != 3 || l.Partitions[1].ClosingOrdinal != 0 || l.Partitions[0].ClosingOrdinal == 0 ||
		l.Partitions[2].ClosingOrdinal == 0 {
		t.Errorf("partitions %+v", l.Partitions)
	}
}

func TestFlowAFailingPartitionIsQuarantined(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 3, byRows)
	for p := range 3 {
		f.sendRows(p, int64(p)*10_000, int64(p)*10_000+600)
	}
	poisoned := atomic.Bool{}
	poisoned.Store(true)
	broken := pipeline.Permanent(errors.New("what is this"))
	f.start([]meter.Stage{meter.StageCalibrate, meter.StageSelection}, quickly)
	rowStages := []meter.Stage{meter.StageSubsample, meter.StageFeaturize}
	w := f.start(rowStages, func(w *worker) {
		quickly(w)
		w.log.OnFetch = func(_ context.Context, topic string, partition int, _ int64) error {
			if topic == w.Settings.Topics.Events && partition == 1 && poisoned.Load() {
				return broken
			}
			return nil
		}
	})
	set := f.set(2) // the first plan read all three partitions
	without(t, set, "what is this")
	f.featurizedUpTo(0, 30)
	f.featurizedUpTo(2, 30)
	f.until(
		"the partition is quarantined",
		func() bool { return slices.Equal(quarantinedOf(w, meter.StageFeaturize), []int{1}) },
	)
	if faults := notReady(w, rowStages); !slices.ContainsFunc(faults, func(c string) bool {
		return strings.HasPrefix(c, "partitions featurize: partition 1 quarantined since") &&
			strings.Contains(c, "what is this")
	}) {
		t.Errorf("not ready: %q", faults)
	}
	poisoned.Store(false)
	f.featurizedUpTo(1, 30)
	f.until("no partition is quarantined", func() bool { return len(w.Env.Meter.Activity().Quarantined) == 0 })
	if faults := notReady(w, rowStages); len(faults) > 0 {
		t.Errorf("not ready: %q", faults)
	}
	f.request(wire.ActionStart, "all of them")
	if all := f.set(set.Set.Lineage.Sequence + 1); len(all.Set.Lineage.Excluded) != 0 ||
		all.Set.Lineage.Partitions[1].ClosingOrdinal == 0 {
		t.Errorf("without %+v, partitions %+v", all.Set.Lineage.Excluded, all.Set.Lineage.Partitions)
	}
}

// A plan excludes unreadable partitions and reports them.
func TestFlowAPlanGoesWithoutAPartitionThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, reason string
		fault        func(w *worker)
	}{
		{"fails", "what is this", func(w *worker) {
			w.log.OnFetch = func(_ context.Context, topic string, partition int, _ int64) error {
				if topic == w.Settings.Topics.Events && partition == 1 {
					return pipeline.Permanent(errors.New("what is this"))
				}
				return nil
			}
		}},
		{"has no leader", "no leader since", func(w *worker) {
			w.log.Unled = func(topic string) []int {
				if topic == w.Settings.Topics.Events {
					return []int{1}
				}
				return nil
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, 3, byRows)
			for p := range 3 {
				f.sendRows(p, int64(p)*10_000, int64(p)*10_000+600)
			}
			f.start(allButTrain, func(w *worker) {
				quickly(w)
				c.fault(w)
			})
			without(t, f.set(1), c.reason)
			f.featurizedUpTo(0, 30)
			f.featurizedUpTo(2, 30)
		})
	}
}

// A partition that loses its leader during an exploration is excluded after a while.
func TestFlowAPartitionLosesItsLeader(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"events", "scores", "samples"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, 3, byRows)
			for p := range 3 {
				f.sendRows(p, int64(p)*10_000, int64(p)*10_000+600)
			}
			topics := f.settings.Topics
			lost := map[string]string{"events": topics.Events, "scores": topics.Scores, "samples": topics.Samples}[role]
			var gone atomic.Bool
			w := f.start(exploring, func(w *worker) {
				quickly(w)
				w.log.Unled = func(topic string) []int {
					if topic == lost && gone.Load() {
						return []int{1}
					}
					return nil
				}
				w.log.OnProduce = func(_ context.Context, topic string, _ int, _ []pipeline.Record) error {
					if topic == topics.Explorations { // the plan is made
						gone.Store(true)
					}
					return nil
				}
			})
			without(t, f.set(2), "no leader since")
			w.stop()
		})
	}
}

// A trainer makes models from the readable partitions, and includes the others once they are
// readable.
func TestFlowATrainerQuarantinesAPartition(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, byRows)
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000, int64(p)*10_000+600)
	}
	f.start(allButTrain, nil)
	f.set(1)
	for p := range 2 {
		f.featurizedUpTo(p, 30)
	}
	poisoned := atomic.Bool{}
	poisoned.Store(true)
	w := f.start([]meter.Stage{meter.StageTrain}, func(w *worker) {
		quickly(w)
		w.log.OnFetch = func(_ context.Context, topic string, partition int, _ int64) error {
			if topic == w.Settings.Topics.Features && partition == 1 && poisoned.Load() {
				return pipeline.Permanent(errors.New("what is this"))
			}
			return nil
		}
	})
	f.until(
		"a model of one partition",
		func() bool { return w.Env.Meter.Activity().Model != nil && w.Env.Meter.Totals().Train.Rows == 600 },
	)
	if got := quarantinedOf(w, meter.StageTrain); !slices.Equal(got, []int{1}) {
		t.Errorf("set aside: %v", got)
	}
	poisoned.Store(false)
	f.until("the rows of both partitions", func() bool {
		return w.Env.Meter.Totals().Train.Rows == 1200 && len(w.Env.Meter.Activity().Quarantined) == 0
	})
}
