package stages_test

import (
	"context"
	"errors"
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

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
)

// TestFlowKilledAgainAndAgain kills the one process at its nth write, for all stages at once, and starts it again: with
// the write at the broker or not.
func TestFlowKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	ids := make([]string, 4)
	t.Run("runs", func(t *testing.T) {
		for seed := range uint64(len(ids)) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				f := newFlow(t, 2, func(s *stages.Settings) {
					s.Exploration.SampleRows = 800
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
				if set.Set.Lineage.Sequence != 1 || counts.Scored != 800 || !counts.Reconciles() {
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
// is to be rejected, in the dead letters.
func (f *flow) checkAllButRejected(partition int) {
	f.t.Helper()
	seen := map[source]int{}
	for _, out := range f.features(partition) {
		for _, row := range out.rows {
			seen[source{out.SourcePartition, out.SourceOffset, row}]++
		}
	}
	lettered := map[int64]bool{}
	for _, l := range f.letters(partition, stages.StageFeaturize) {
		lettered[l.Offset] = true
	}
	for n := range int64(1800) {
		at := source{int32(partition), n / 30, int32(n % 30)}
		want := 1
		if (int64(partition)*10_000+n)%97 == 5 {
			want = 0
			if !lettered[at.offset] {
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
		s.Train.Promote.Rule = stages.PromoteAlways
	})
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000, int64(p)*10_000+400)
	}
	w := f.start(stages.Stages(), nil)
	first := f.set(1)
	f.request(wire.ActionStart, "again")
	f.set(2)
	f.until("a model", func() bool { return f.currentModel() != nil })
	f.noCheckpoints("")
	w.stop()
	f.server.Compact()
	f.stopServer()
	f.startServer()
	f.watch = f.follow(f.client)
	w = f.start(stages.Stages(), nil)
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000+400, int64(p)*10_000+600)
		f.featurizedUpTo(p, 30)
	}
	state := f.state("all that there was", func(s stages.State) bool { return s.CurrentSet() != nil })
	if state.Spec.Sequence != 2 || state.Running() != nil || state.CurrentSet().ID != first.ID || len(state.Requests) != 0 {
		t.Errorf("%+v", state)
	}
	f.until("a model of all rows", func() bool { return rangeRows(f.currentModel()) == 1200 })
	w.stop()
	for p := range 2 {
		f.checkOnce(p, 20, 30)
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
			if topic == w.Settings.Topics.Events && offset >= 110 {
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
	if n := len(f.letters(0, stages.StageSubsample)); n < 50 {
		t.Errorf("only %d of 100 dead letters are out", n)
	}
	close(release)
	if c := f.set(1).Set.Lineage.Counts; c.Undecodable != 100 || c.Scored != 600 || !c.Reconciles() {
		t.Errorf("%+v", c)
	}
	if n := len(f.letters(0, stages.StageSubsample)); n != 100 {
		t.Errorf("%d dead letters", n)
	}
}

// shifted is a clock that a test sets forward.
func shifted(shift *atomic.Int64) func(*worker) {
	return func(w *worker) {
		w.Now = func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }
	}
}

func TestFlowAPlanThatFailsIsMadeLater(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, everyRow)
	f.sendRows(0, 0, 200)
	var shift atomic.Int64
	looked := make(chan struct{}, 1<<10)
	f.start(exploring, func(w *worker) {
		shifted(&shift)(w)
		w.log.looked = func(topic string) {
			if topic == w.Settings.Topics.Events {
				looked <- struct{}{}
			}
		}
	})
	f.set(1)
	// Nothing is left to calibrate on when somebody asks for a start.
	f.deleteRecords(f.settings.Topics.Events, 0, 10)
	for len(looked) > 0 {
		<-looked
	}
	f.request(wire.ActionStart, "s")
	<-looked // the end of the log that the plan is bound to is what it is now
	f.sendRows(0, 200, 400)
	shift.Store(int64(time.Minute))
	set := f.set(2)
	if set.Set.Lineage.Partitions[0].StartOffset != 10 || set.Set.Lineage.Counts.Scored == 0 {
		t.Errorf("%+v", set.Set.Lineage)
	}
	if state := f.watch.State(); len(state.Requests) != 0 {
		t.Errorf("requests left: %+v", state.Requests)
	}
}

func TestFlowAnExplorationThatGivesNoSet(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) { s.Exploration.SampleRows = 100 })
	constant := rows(0, 600, func(_ int64, r *row) { r.y = 3.0 })
	defer constant.Release()
	f.send(0, constant, 20)
	var shift atomic.Int64
	f.start(exploring, shifted(&shift))
	state := f.state("abandoned", func(s stages.State) bool { return s.Spec != nil && s.Spec.Status == wire.StatusAbandoned })
	if state.Spec.Sequence != 1 || state.Current != nil {
		t.Errorf("%+v", state)
	}
	f.noCheckpoints("")
	f.deleteRecords(f.settings.Topics.Events, 0, 30)
	f.sendRows(0, 600, 1200)
	shift.Store(int64(time.Minute))
	if set := f.set(2); set.Set.Lineage.Counts.Scored != 100 {
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
	state := f.state("abandoned", func(s stages.State) bool { return s.Spec != nil && s.Spec.Status == wire.StatusAbandoned })
	if state.Spec.Sequence != 1 || state.Current != nil {
		t.Errorf("%+v", state)
	}
	fits.Store(true)
	shift.Store(int64(time.Minute))
	f.set(2)
	w.stop()
}

func TestFlowADeadlineWithoutAScoredRow(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) {
		s.Exploration.SampleRate, s.Exploration.Deadline = 1e-12, 10*time.Millisecond
	})
	f.sendRows(0, 0, 400)
	core, logs := observer.New(zap.ErrorLevel)
	f.start(exploring, func(w *worker) { w.Logger = zap.New(core) })
	state := f.state("abandoned", func(s stages.State) bool { return s.Spec != nil && s.Spec.Status == wire.StatusAbandoned })
	if state.Spec.Sequence != 1 || state.Current != nil {
		t.Errorf("%+v", state)
	}
	said := logs.FilterMessageSnippet("abandoned").All()
	if len(said) != 1 || !strings.Contains(fmt.Sprint(said[0].ContextMap()["error"]), "no row was scored") {
		t.Errorf("logged %v", said)
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
	f.start(exploring, func(w *worker) {
		w.log.fetch = func(ctx context.Context, topic string, _ int, _ int64) error {
			select {
			case <-planned: // then it is subsampling that reads
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
				close(planned)
			}
			return nil
		}
	})
	f.state("planned", func(s stages.State) bool { return s.Spec != nil })
	for n := range int64(5) { // one fetch brings these with the others
		f.sendRows(0, 100+20*n, 120+20*n)
	}
	close(release)
	lineage := f.set(1).Set.Lineage
	if p := lineage.Partitions[0]; p.NextOffset != 5 || p.ClosingOrdinal != 100 || p.CloseReason != wire.CloseEnd || lineage.Counts.Rows != 100 {
		t.Errorf("%+v", lineage)
	}
}

func TestFlowCompactionPassesTheWatchedCheckpoints(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, func(s *stages.Settings) { s.Exploration.SampleRows = 300 })
	f.sendRows(0, 0, 1000)
	f.sendRows(1, 10_000, 10_100) // not enough yet
	var once sync.Once
	passed := make(chan struct{})
	var closed atomic.Bool
	f.start(exploring, func(w *worker) {
		w.log.fetch = func(_ context.Context, topic string, partition int, offset int64) (err error) {
			if topic == w.Settings.Topics.Scores && partition == 0 && closed.Load() {
				once.Do(func() { // a record comes, and is gone before it is read
					_, produced := f.client.Produce(f.ctx, topic, 0, []pipeline.Record{{Key: []byte("another.1.x"), Value: []byte("passed over")}})
					err = errors.Join(produced, &pipeline.OffsetOutOfRangeError{Topic: topic, Offset: offset, First: offset + 1, Next: offset + 1})
					close(passed)
				})
			}
			return err
		}
	})
	spec := f.state("exploration", func(s stages.State) bool { return s.Running() != nil }).Spec
	f.until("partition 0 is closed", func() bool {
		rec := f.newestByKey(f.settings.Topics.Scores, 0)[spec.Exploration]
		if rec.Value == nil {
			return false
		}
		c, err := wire.DecodeCheckpoint(arrowio.NewDecoder(arrowio.DefaultLimits()), rec.Value)
		return err == nil && c.Closed
	})
	closed.Store(true)
	<-passed
	f.sendRows(1, 10_100, 11_000)
	if counts := f.set(1).Set.Lineage.Counts; counts.Scored != 300 {
		t.Errorf("%+v", counts)
	}
}
