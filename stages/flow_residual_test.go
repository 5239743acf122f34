package stages_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
)

// byResidual makes an exploration by residual that reads the rows again in every pass and saves scores in the middle.
func byResidual(s *stages.Settings) {
	s.Exploration.RowMemory = 0
	s.Exploration.Criterion, s.Exploration.Rounds = scoring.Residual, 3
	s.Exploration.Features, s.Exploration.Candidates, s.Exploration.SampleRows = 7, 96, 800
	s.Subsample.CheckpointRows = 300
}

// checkResidual fails where the passes were not put to the test.
func checkResidual(t *testing.T, set *wire.FeatureSet) {
	t.Helper()
	l := set.Lineage
	if l.Criterion != scoring.Residual || l.Rounds != 3 || l.ByResidual < 5 || l.Sequence != 1 || l.Counts.Scored != 800 || !l.Counts.Reconciles() {
		t.Errorf("lineage %+v", l)
	}
}

func TestFlowResidualFileAndStreamGiveTheSameSet(t *testing.T) {
	t.Parallel()
	events := rows(0, 4500, nil)
	t.Cleanup(events.Release) // the subtests go on after this function
	settings := testSettings(1)
	byResidual(&settings)
	want := explored(t, settings, events)
	checkResidual(t, want)
	settings.Exploration.RowMemory = 1 << 20
	if again := explored(t, settings, events); again.ID() != want.ID() {
		t.Errorf("set %s from rows in memory, %s from rows read again", again.ID(), want.ID())
	}
	for _, run := range []struct{ perMessage, memory int64 }{{7, 0}, {4096, 0}, {20, 1 << 10}, {20, 1 << 20}} { // too little, enough
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, 1, func(s *stages.Settings) {
				byResidual(s)
				s.Exploration.RowMemory = run.memory
			})
			f.send(0, events, run.perMessage)
			f.start(exploring, nil)
			got := f.set(1)
			checkResidual(t, got.Set)
			a, b := got.Set.Lineage, want.Lineage
			if got.ID != want.ID() || a.Counts.Rows != b.Counts.Rows || a.Partitions[0].ClosingOrdinal != b.Partitions[0].ClosingOrdinal {
				t.Errorf("set %s, from the file %s; lineage %+v, from the file %+v", got.ID, want.ID(), a, b)
			}
			f.noCheckpoints("")
		})
	}
}

// TestFlowResidualKilledAgainAndAgain is TestFlowKilledAgainAndAgain for an exploration of six passes.
func TestFlowResidualKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	ids := make([]string, 6)
	t.Run("runs", func(t *testing.T) {
		for seed := range uint64(len(ids)) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				f := newFlow(t, 2, byResidual)
				for p := range 2 {
					f.sendRows(p, int64(p)*10_000, int64(p)*10_000+1800)
				}
				random := rand.New(rand.NewPCG(seed, 2))
				for kills := 0; kills < 20 && seed > 0 && f.watch.State().Current == nil; kills++ {
					w := f.start(exploring, func(w *worker) {
						w.log.killAt, w.log.killAfter = 1+random.Int64N(5), random.IntN(2) == 0
					})
					f.until("killed or done", func() bool { return f.watch.State().Current != nil || w.log.dead.Load() })
					w.kill()
				}
				for range 1 + seed%2 {
					f.start(exploring, nil)
				}
				set := f.set(1)
				checkResidual(t, set.Set)
				ids[seed] = set.ID
			})
		}
	})
	for seed, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("run %d: set %s, undisturbed %s", seed, id, ids[0])
		}
	}
}

// TestFlowResidualKilledAtEveryWrite kills a process at its first, second, … write and lets another one finish.
func TestFlowResidualKilledAtEveryWrite(t *testing.T) {
	t.Parallel()
	explore := func(t *testing.T, killAt int64, after bool) (id string, writes int64) {
		f := newFlow(t, 1, byResidual)
		f.sendRows(0, 0, 1800)
		w := f.start(exploring, func(w *worker) {
			w.log.killAt, w.log.killAfter = max(killAt, 1<<40*(1-min(killAt, 1))), after
		})
		f.until("killed or done", func() bool { return f.watch.State().Current != nil || w.log.dead.Load() })
		writes = w.log.produced.Load()
		if killAt > 0 {
			w.kill()
			f.start(exploring, nil)
		}
		set := f.set(1)
		checkResidual(t, set.Set)
		return set.ID, writes
	}
	want, writes := explore(t, 0, false)
	if writes < 12 {
		t.Fatalf("%d writes, the passes make more", writes)
	}
	for killAt := int64(1); killAt <= writes; killAt++ {
		t.Run(fmt.Sprint(killAt), func(t *testing.T) {
			t.Parallel()
			if id, _ := explore(t, killAt, killAt%2 == 0); id != want {
				t.Errorf("set %s, undisturbed %s", id, want)
			}
		})
	}
}

// pause holds workers up before they read events in a pass after the first one.
type pause struct {
	f                *flow
	once             sync.Once
	reached, release chan struct{}
}

func newPause(f *flow) *pause {
	return &pause{f: f, reached: make(chan struct{}), release: make(chan struct{})}
}

func (p *pause) prepare(w *worker) {
	w.log.fetch = func(ctx context.Context, topic string, _ int, _ int64) error {
		spec := p.f.watch.State().Spec
		if topic != w.Settings.Topics.Events || spec == nil || spec.Pass == 0 {
			return nil
		}
		p.once.Do(func() { close(p.reached) })
		select {
		case <-p.release:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
}

func (p *pause) wait() {
	p.f.t.Helper()
	select {
	case <-p.reached:
	case <-p.f.ctx.Done():
		p.f.t.Fatal("no worker reads events in a later pass")
	}
}

func TestFlowResidualRetentionPassesARow(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, byResidual)
	f.sendRows(0, 0, 1800)
	p := newPause(f)
	f.start(exploring, p.prepare)
	p.wait()
	f.deleteRecords(f.settings.Topics.Events, 0, 5)
	f.sendRows(0, 1800, 2400)
	close(p.release)
	set := f.set(2)
	if l := set.Set.Lineage; l.Partitions[0].StartOffset != 5 || l.Counts.Scored != 800 {
		t.Errorf("lineage %+v", l)
	}
	f.noCheckpoints("")
}

func TestFlowResidualAnOlderPassBehindTheNewest(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, byResidual)
	f.sendRows(0, 0, 1800)
	p := newPause(f)
	f.start(exploring, p.prepare)
	p.wait()
	second := f.state("the second pass", func(s stages.State) bool { return s.Spec.Pass > 0 }).Spec
	first := *second
	first.Pass, first.Residual, first.FirstPass = 0, nil, nil
	value, err := wire.EncodeSpec(&first)
	if err != nil {
		t.Fatal(err)
	}
	offset := f.produce(f.settings.Topics.Explorations, 0, pipeline.Record{Key: wire.SpecKey(first.Pipeline), Value: value})
	f.until("written again", func() bool {
		newest := f.newestByKey(f.settings.Topics.Explorations, 0)[first.Pipeline]
		return newest.Offset > offset
	})
	if now := f.watch.State().Spec; now.Pass != second.Pass {
		t.Errorf("pass %d took the place of pass %d", now.Pass, second.Pass)
	}
	close(p.release)
	checkResidual(t, f.set(1).Set)
}

func TestFlowResidualCancelledInALaterPass(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, byResidual)
	f.sendRows(0, 0, 1800)
	p := newPause(f)
	f.start(exploring, p.prepare)
	p.wait()
	running := *f.state("the second pass", func(s stages.State) bool { return s.Spec.Pass > 0 }).Spec
	f.request(wire.ActionCancel, "enough")
	f.state("cancelled", func(s stages.State) bool { return s.Spec.Status == wire.StatusCancelled })
	// What a selector writes that has not heard of it does not start the exploration again.
	running.Pass++
	value, err := wire.EncodeSpec(&running)
	if err != nil {
		t.Fatal(err)
	}
	offset := f.produce(f.settings.Topics.Explorations, 0, pipeline.Record{Key: wire.SpecKey(running.Pipeline), Value: value})
	f.until("written again", func() bool {
		return f.newestByKey(f.settings.Topics.Explorations, 0)[running.Pipeline].Offset > offset
	})
	close(p.release)
	f.noCheckpoints("")
	if s := f.watch.State(); s.Spec.Status != wire.StatusCancelled || s.Current != nil {
		t.Errorf("%+v", s)
	}
}

// A partition that fills no quota is closed by the deadline; later passes take its rows so far, of however many there are now.
func TestFlowResidualAfterADeadline(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 3, func(s *stages.Settings) {
		byResidual(s)
		s.Exploration.SampleRows, s.Exploration.Deadline = 1200, time.Hour
		s.Exploration.RowMemory = 1 << 20
	})
	f.sendRows(0, 0, 1800)
	f.sendRows(1, 10_000, 10_300) // partition 2 stays empty
	var shift atomic.Int64
	p := newPause(f)
	f.start(exploring, func(w *worker) {
		shifted(&shift)(w)
		p.prepare(w)
	})
	spec := f.state("exploration", func(s stages.State) bool { return s.Running() != nil }).Spec
	f.until("checkpoints", func() bool {
		for partition := range 2 {
			rec := f.newestByKey(f.settings.Topics.Scores, partition)[spec.Exploration]
			c, err := wire.DecodeCheckpoint(arrowio.NewDecoder(arrowio.DefaultLimits()), rec.Value)
			if err != nil || !c.Closed && (partition == 0 || c.NextOrdinal < 300) {
				return false
			}
		}
		return true
	})
	shift.Store(int64(2 * time.Hour))
	f.state("the second pass", func(s stages.State) bool { return s.Spec.Pass > 0 })
	f.sendRows(1, 10_300, 10_600)
	close(p.release)
	l := f.set(1).Set.Lineage
	if l.ByResidual < 5 || l.Partitions[0].CloseReason != wire.CloseQuota || l.Partitions[1].CloseReason != wire.CloseDeadline ||
		l.Partitions[1].ClosingOrdinal != 300 || l.Partitions[2].ClosingOrdinal != 0 || !l.Counts.Reconciles() {
		t.Errorf("lineage %+v", l)
	}
}
