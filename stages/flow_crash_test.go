package stages_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/train"
)

// TestFlowKilledAgainAndAgain kills the single process with all stages at its nth write, before or after the broker has
// written it, and starts it again.
func TestFlowKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	ids := make([]string, 4)
	t.Run("runs", func(t *testing.T) {
		for seed := range uint64(len(ids)) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				f := newFlow(t, 2, func(s *stages.Settings) {
					s.Exploration.SampleRows, s.Events.NaN = 800, encoder.NaNReject
					s.Subsample.CheckpointRows = 20
					s.Featurize.MaxOutputBytes = 12 * (4*8 + 64)
				})
				for p := range 2 {
					batch := rows(int64(p)*10_000, int64(p)*10_000+1800, func(n int64, r *row) {
						if n%97 == 5 {
							r.x[0] = math.NaN() // dead letters are written before what follows them
						}
					})
					f.send(p, batch, 30)
					batch.Release()
				}
				random := rand.New(rand.NewPCG(seed, 1))
				for kills := 0; kills < 8 && seed > 0; kills++ {
					w := f.start(allButTrain, func(w *worker) {
						w.log.killAt, w.log.killAfter = 1+random.Int64N(25), random.IntN(2) == 0
					})
					done := false
					f.until("killed or done", func() bool {
						_, a, err := f.client.Offsets(f.ctx, f.settings.Topics.Features, 0)
						_, b, err2 := f.client.Offsets(f.ctx, f.settings.Topics.Features, 1)
						done = err == nil && err2 == nil && a+b >= 2*60*3
						return done || w.log.dead.Load()
					})
					w.kill()
					if done {
						break
					}
				}
				f.start(allButTrain, nil)
				set := f.set(1)
				ids[seed] = set.ID
				counts := set.Set.Lineage.Counts
				if set.Set.Lineage.Sequence != 1 || counts.Scored < 700 || counts.Scored > 900 || !counts.Reconciles() {
					t.Errorf("lineage %+v", set.Set.Lineage)
				}
				for p := range 2 {
					f.featurizedUpTo(p, 60)
					f.checkAllButRejected(p)
				}
			})
		}
	})
	for seed, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("run %d: set %s, undisturbed %s", seed, id, ids[0])
		}
	}
}

// checkAllButRejected checks that every row of a partition of TestFlowKilledAgainAndAgain is in the output once or, if it
// should be rejected, in the dead letters.
func (f *flow) checkAllButRejected(partition int) {
	f.t.Helper()
	seen := map[source]int{}
	for _, out := range f.features(partition) {
		for _, row := range out.rows {
			seen[source{out.SourcePartition, out.SourceOffset, row}]++
		}
	}
	refused := map[int64]bool{}
	for _, l := range f.deadLetters(partition, meter.StageFeaturize) {
		refused[l.Offset] = true
	}
	for n := range int64(1800) {
		at := source{int32(partition), n / 30, int32(n % 30)}
		want := 1
		if (int64(partition)*10_000+n)%97 == 5 {
			want = 0
			if !refused[at.offset] {
				f.t.Errorf("%+v has no dead letter", at)
			}
		}
		if seen[at] != want {
			f.t.Errorf("%+v is in the output %d times, want %d", at, seen[at], want)
		}
	}
}

func TestFlowARestartAfterCompaction(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, func(s *stages.Settings) {
		smallParts(s)
		s.Train.Promote.Rule = train.PromoteAlways
	})
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000, int64(p)*10_000+400)
	}
	w := f.start(meter.Stages(), nil)
	f.set(1)
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000+400, int64(p)*10_000+600)
	}
	f.request(wire.ActionStart, "again")
	second := f.set(2)
	f.until("a model", func() bool { return f.currentModel() != nil })
	f.noCheckpoints("")
	w.stop()
	f.server.Compact()
	f.server.Stop()
	f.server.Start()
	f.follower = f.follow(f.client)
	w = f.start(meter.Stages(), nil)
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000+600, int64(p)*10_000+800)
		f.featurizedUpTo(p, 40)
	}
	state := f.state("all that there was", func(s state.Snapshot) bool { return s.CurrentSet() != nil })
	if state.Spec.Sequence != 2 || state.Running() != nil || state.CurrentSet().ID != second.ID || len(state.Requests) != 0 {
		t.Errorf("%+v", state)
	}
	f.until("a model of all rows of the set", func() bool {
		m := f.currentModel()
		return m.FeatureSetID == second.ID && len(m.Ranges) == 2 && m.Ranges[0].NextOffset == 40 && m.Ranges[1].NextOffset == 40
	})
	w.stop()
	for p := range 2 {
		f.checkOnce(p, 20, 40)
	}
}

func TestFlowDeadLettersDoNotPileUp(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) {
		s.Subsample.CheckpointRows, s.Subsample.CheckpointInterval = 1e6, time.Hour
	})
	f.sendRows(0, 0, 200)
	noise := make([]byte, 100<<10)
	for range 100 {
		f.produce(f.settings.Topics.Events, 0, pipeline.Record{Value: noise})
	}
	f.sendRows(0, 200, 2000)
	reached, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	f.start(exploring, func(w *worker) {
		w.log.fetch = func(ctx context.Context, topic string, _ int, offset int64) error {
			if topic == w.Settings.Topics.Events && offset >= 110 && f.follower.Snapshot().Spec != nil { // not during the plan
				once.Do(func() { close(reached) })
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return ctx.Err()
		}
	})
	<-reached
	if n := len(f.deadLetters(0, meter.StageSubsample)); n < 50 {
		t.Errorf("only %d of 100 dead letters are out", n)
	}
	close(release)
	if c := f.set(1).Set.Lineage.Counts; c.Undecodable != 100 || c.Scored < 500 || !c.Reconciles() {
		t.Errorf("%+v", c)
	}
	if n := len(f.deadLetters(0, meter.StageSubsample)); n != 100 {
		t.Errorf("%d dead letters", n)
	}
}

// shifted gives a worker a clock that the test can move forward.
func shifted(shift *atomic.Int64) func(*worker) {
	return func(w *worker) {
		w.Now = func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }
	}
}

// A plan that finds too few rows is made when they have arrived.
func TestFlowAPlanThatFailsIsMadeLater(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, everyRow)
	f.sendRows(0, 0, 200)
	var shift atomic.Int64
	w := f.start(exploring, shifted(&shift))
	f.set(1)
	// At the time of a request to start, nothing is left to calibrate on.
	f.deleteRecords(f.settings.Topics.Events, 0, 10)
	f.request(wire.ActionStart, "s")
	f.until("the planner has looked", func() bool { return w.Meter.Activity().Planning.MissingRows == 100 })
	f.sendRows(0, 200, 400)
	shift.Store(int64(time.Minute))
	set := f.set(2)
	if set.Set.Lineage.Partitions[0].StartOffset != 10 || set.Set.Lineage.Counts.Scored == 0 {
		t.Errorf("%+v", set.Set.Lineage)
	}
	f.state("no request is left", func(s state.Snapshot) bool { return len(s.Requests) == 0 })
	if missing := w.Meter.Activity().Planning.MissingRows; missing != 0 {
		t.Errorf("%d rows missing", missing)
	}
}

func TestFlowAnExplorationThatGivesNoSet(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) { s.Exploration.SampleRows = 100 })
	// Of 600 labelled rows one is different, and it is not among the hundred or so in the sample.
	const labelled, rate = 600, 100.0 / 600
	odd := int64(0)
	for scoring.Sampled(scoring.Hash(f.settings.Exploration.Seed, 0, odd), rate) {
		odd++
	}
	constant := rows(0, labelled, func(n int64, r *row) {
		if r.y = 3.0; n == odd {
			r.y = 4.0
		}
	})
	defer constant.Release()
	f.send(0, constant, 20)
	var shift atomic.Int64
	f.start(exploring, shifted(&shift))
	state := f.state("abandoned", func(s state.Snapshot) bool { return s.Spec != nil && s.Spec.Status == wire.StatusAbandoned })
	if state.Spec.Sequence != 1 || state.Current != nil {
		t.Errorf("%+v", state)
	}
	f.noCheckpoints("")
	f.deleteRecords(f.settings.Topics.Events, 0, 30)
	f.sendRows(0, 600, 1200)
	shift.Store(int64(time.Minute))
	if set := f.set(2); set.Set.Lineage.Counts.Scored == 0 {
		t.Errorf("%+v", set.Set.Lineage)
	}
}

func TestFlowASetThatTheBrokerDoesNotTake(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) { s.Exploration.SampleRows = 100 })
	f.sendRows(0, 0, 400)
	var shift atomic.Int64
	var fits atomic.Bool
	w := f.start(exploring, func(w *worker) {
		shifted(&shift)(w)
		w.log.produce = func(_ context.Context, topic string, _ int, _ []pipeline.Record) error {
			if topic == w.Settings.Topics.FeatureSets && !fits.Load() {
				return pipeline.ErrMessageTooLarge
			}
			return nil
		}
	})
	state := f.state("abandoned", func(s state.Snapshot) bool { return s.Spec != nil && s.Spec.Status == wire.StatusAbandoned })
	if state.Spec.Sequence != 1 || state.Current != nil {
		t.Errorf("%+v", state)
	}
	fits.Store(true)
	shift.Store(int64(time.Minute))
	f.set(2)
	w.stop()
}

func TestFlowAnExplorationWithoutAScoredRow(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) { s.Exploration.SampleRate = 1e-12 })
	f.sendRows(0, 0, 400)
	core, logs := observer.New(zap.ErrorLevel)
	f.start(exploring, func(w *worker) { w.Logger = zap.New(core) })
	now := f.state("abandoned", func(s state.Snapshot) bool { return s.Spec != nil && s.Spec.Status == wire.StatusAbandoned })
	if now.Spec.Sequence != 1 || now.Current != nil || !strings.Contains(now.Spec.Reason, "no row was scored") {
		t.Errorf("%+v", now)
	}
	if logged := logs.FilterMessageSnippet("abandoned").All(); len(logged) != 1 {
		t.Errorf("logged %v", logged)
	}
	f.noCheckpoints("")
}

func TestFlowAnExplorationEndsAtTheEndOfItsPlan(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, everyRow)
	for n := range int64(5) {
		f.sendRows(0, 20*n, 20*n+20)
	}
	planned, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	f.start(exploring, func(w *worker) {
		w.log.fetch = func(ctx context.Context, topic string, _ int, _ int64) error {
			select {
			case <-planned: // now subsample reads
			default:
				return nil
			}
			if topic == w.Settings.Topics.Events {
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return ctx.Err()
		}
		w.log.produce = func(_ context.Context, topic string, _ int, _ []pipeline.Record) error {
			if topic == w.Settings.Topics.Explorations {
				once.Do(func() { close(planned) })
			}
			return nil
		}
	})
	f.state("planned", func(s state.Snapshot) bool { return s.Spec != nil })
	for n := range int64(5) { // one fetch returns these with the others
		f.sendRows(0, 100+20*n, 120+20*n)
	}
	close(release)
	lineage := f.set(1).Set.Lineage
	if p := lineage.Partitions[0]; p.NextOffset != 5 || p.ClosingOrdinal != 100 || p.CloseReason != wire.CloseEnd || lineage.Counts.Rows != 100 {
		t.Errorf("%+v", lineage)
	}
}
