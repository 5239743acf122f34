package calibrate_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
)

// room is a planner running on an in-memory broker. Its clock stands still unless a test moves it.
// Timers use the clock of the test's bubble, so that a test can show that no timer was involved.
type room struct {
	*pipelinetest.Broker
	*calibrate.Planner

	t       *testing.T
	stop    func() error
	reads   atomic.Int64           // fetches of events
	reading atomic.Pointer[func()] // called once, by the next fetch
	away    atomic.Bool            // lookups of offsets fail
	after   atomic.Int64           // time on the clock since noon
	seed    uint64                 // seed of the last rows sent
	request int
}

// counted counts the fetches of a planner.
type counted struct {
	*pipelinetest.Broker
	room *room
}

func (c counted) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	c.room.reads.Add(1)
	if do := c.room.reading.Swap(nil); do != nil {
		(*do)()
	}
	return c.Broker.Fetch(ctx, topic, partition, offset)
}

func (c counted) Offsets(ctx context.Context, topic string, partition int) (first, next int64, err error) {
	if c.room.away.Load() {
		return 0, 0, errors.New("away")
	}
	return c.Broker.Offsets(ctx, topic, partition)
}

// newRoom creates the topics with the given number of partitions. The sample rate is auto.
func newRoom(t *testing.T, partitions int, change func(*calibrate.Settings)) *room {
	t.Helper()
	names := topics.Default()
	r := &room{Broker: pipelinetest.NewBroker(), t: t}
	r.SetFetchWait(time.Second)
	for _, spec := range names.Specs(partitions) {
		r.AddTopic(spec.Name, spec.Partitions)
	}
	settings := calibrate.Settings{
		Pipeline:        "test",
		Events:          explored.Events(stagestest.Regression),
		Exploration:     explored.Exploration(),
		Limits:          events.DefaultLimits(),
		EventsTopic:     names.Events,
		MaxMessageBytes: names.MaxMessageBytes,
	}
	settings.Exploration.SampleRate, settings.Exploration.MinRows = calibrate.RateAuto, 100
	if change != nil {
		change(&settings)
	}
	follower := state.New(r.Broker, zap.NewNop(), state.Config{
		Pipeline:        settings.Pipeline,
		Explorations:    names.Explorations,
		FeatureSets:     names.FeatureSets,
		Models:          names.Models,
		Scores:          names.Scores,
		MaxMessageBytes: names.MaxMessageBytes,
		KeepFeatureSets: 10,
		KeepModels:      10,
		Retention:       time.Hour,
	})
	r.Planner = &calibrate.Planner{
		Env: env.Env{
			Broker: counted{r.Broker, r},
			Topics: names,
			State:  follower,
			Meter:  meter.New(),
			Logger: zap.NewNop(),
			Group:  "test.calibrate",
			Clock:  func() time.Time { return stagestest.Noon.Add(time.Duration(r.after.Load())) },
		},
		Settings: settings,
	}
	r.run(func(ctx context.Context) error { return r.Env.State.Run(ctx) })
	return r
}

// run runs do until the test ends or the returned function is called.
func (r *room) run(do func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- do(ctx) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	r.t.Cleanup(func() {
		if err := stop(); err != nil {
			r.t.Error(err)
		}
	})
	return stop
}

// start runs the planner.
func (r *room) start() { r.stop = r.run(r.Planner.Run) }

// send appends rows to a partition, ten per message.
func (r *room) send(partition, rows int, faults stagestest.Faults) {
	r.t.Helper()
	r.seed++
	for _, batch := range stagestest.Cut(
		r.t, stagestest.Events(r.t, stagestest.Regression, rows, r.seed, faults), stagestest.Every(10),
	) {
		pipelinetest.Produce(r.t, r.Broker, "events", partition, pipeline.Record{Value: stagestest.Message(r.t, batch)})
	}
}

// until waits for a state.
func (r *room) until(what string, ok func(state.Snapshot) bool) state.Snapshot {
	r.t.Helper()
	now, err := r.Env.State.Wait(pipelinetest.Context(r.t), ok)
	if err != nil {
		r.t.Fatalf("%s: %v; spec %+v, requests %+v", what, err, now.Spec, now.Requests)
	}
	return now
}

// spec waits for the exploration with a sequence number.
func (r *room) spec(sequence int64) *wire.Spec {
	r.t.Helper()
	return r.until("an exploration", func(s state.Snapshot) bool { return s.Sequence() >= sequence }).Spec
}

// still lets two minutes pass and returns the resulting state.
func (r *room) still() state.Snapshot {
	<-time.After(2 * time.Minute)
	return r.Env.State.Snapshot()
}

// planning returns the reported obstacle to planning.
func (r *room) planning() meter.Planning { return r.Env.Meter.Activity().Planning }

// ask sends a request.
func (r *room) ask(action wire.Action, from wire.From) {
	r.t.Helper()
	r.request++
	request := wire.Request{
		Action: action,
		ID:     string(rune('a' + r.request)),
		From:   from,
		Reason: "test",
		Time:   r.Env.Clock(),
	}
	if err := r.Env.State.SendRequest(r.t.Context(), request); err != nil {
		r.t.Fatal(err)
	}
}

// publish writes a spec as another planner would.
func (r *room) publish(spec wire.Spec, change func(*wire.Spec)) {
	r.t.Helper()
	change(&spec)
	if err := r.Env.State.PublishSpec(r.t.Context(), &spec, r.Env.Clock()); err != nil {
		r.t.Fatal(err)
	}
}

// selected publishes a set made from the given number of rows as the current one, as the selection
// does at the end of an exploration.
func (r *room) selected(spec *wire.Spec, rows int64) {
	r.t.Helper()
	e := r.Settings.Exploration
	set := explored.FeatureSet(r.t, r.Settings.Events, e, stagestest.Events(r.t, stagestest.Regression, 100, 1, noFaults))
	set.Lineage.Sequence, set.Lineage.Exploration, set.Lineage.Rows = spec.Sequence, spec.Exploration, rows
	id, err := r.Env.State.PublishSet(r.t.Context(), set, r.Env.Clock())
	if err == nil {
		err = r.Env.State.PointSet(
			r.t.Context(),
			&wire.Current{ID: id, Sequence: spec.Sequence, Time: r.Env.Clock()},
			r.Env.Clock(),
		)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

var noFaults, unlabelled = stagestest.Faults{}, stagestest.Faults{NoLabel: 1}

// The first plan over 100 partitions, 97 of them idle, is made immediately: no time passes, so no
// timer is involved.
func TestPlannerOverIdlePartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, 100, nil)
		r.send(3, 150, noFaults)
		r.send(50, 70, noFaults)
		r.send(99, 230, noFaults)
		began := time.Now()
		r.start()
		spec := r.spec(1)
		if took := time.Since(began); took != 0 {
			t.Errorf("planned after %v", took)
		}
		if spec.LabelledRows() != 450 || len(spec.Partitions) != 100 || spec.Reason != "the pipeline has no feature set" ||
			!spec.PlannedAt.Equal(stagestest.Noon) {
			t.Errorf("%d labelled rows in %d partitions, %q", spec.LabelledRows(), len(spec.Partitions), spec.Reason)
		}
		if planning := r.planning(); planning != (meter.Planning{}) {
			t.Errorf("planning not cleared: %+v", planning)
		}
	})
}

// On a young topic the planner reports the number of missing rows, and plans when they have
// arrived.
func TestPlannerWaitsForRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, 2, nil)
		r.start()
		r.send(0, 60, noFaults)
		r.send(1, 500, unlabelled)
		if now := r.still(); now.Spec != nil || r.planning() != (meter.Planning{MissingRows: 40, Rows: 60}) {
			t.Fatalf("%+v, planning %+v", now.Spec, r.planning())
		}
		reads := r.reads.Load()
		if r.still(); r.reads.Load() != reads {
			t.Errorf("%d fetches without new records", r.reads.Load()-reads)
		}
		r.send(1, 40, noFaults)
		began := time.Now()
		spec := r.spec(1)
		if took := time.Since(began); took > 2*time.Second || spec.LabelledRows() != 100 ||
			r.planning() != (meter.Planning{}) {
			t.Errorf("%d rows after %v, planning %+v", spec.LabelledRows(), took, r.planning())
		}
	})
}

// Rows that arrive during a scan that finds too few rows are not missed.
func TestPlannerSeesRowsThatComeMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, 1, nil)
		r.send(0, 60, noFaults)
		come := func() { r.send(0, 40, noFaults) }
		r.reading.Store(&come)
		r.start()
		if spec := r.spec(1); spec.LabelledRows() != 100 {
			t.Errorf("%d rows", spec.LabelledRows())
		}
	})
}

// A request to start waits for missing rows, and the log is read only when rows arrive.
func TestPlannerKeepsARequestForRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, 1, nil)
		r.send(0, 150, noFaults)
		r.start()
		r.selected(r.spec(1), 150)
		r.ask(wire.ActionStart, wire.FromNext)
		r.send(0, 50, noFaults)
		if now := r.still(); now.Sequence() != 1 || len(now.Requests) != 1 || r.planning().MissingRows != 50 {
			t.Fatalf("sequence %d, requests %+v, planning %+v", now.Sequence(), now.Requests, r.planning())
		}
		reads := r.reads.Load()
		if r.still(); r.reads.Load() != reads {
			t.Errorf("%d fetches without new records", r.reads.Load()-reads)
		}
		r.send(0, 50, noFaults)
		spec := r.spec(2)
		if part := spec.Partitions[0]; part.StartOffset != 15 || part.EndOffset != 25 || spec.From != wire.FromNext ||
			spec.Reason != "request b: test" ||
			len(r.Env.State.Snapshot().Requests) != 0 {
			t.Errorf("%+v, %q", part, spec.Reason)
		}
	})
}

// If an exploration would read exactly the rows of the last one, a request is answered once,
// without a new exploration.
func TestPlannerDoesNotRepeatAnExploration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, 2, func(s *calibrate.Settings) { s.Exploration.Every = time.Hour })
		r.send(0, 150, noFaults)
		r.start()
		r.selected(r.spec(1), 150)
		r.ask(wire.ActionStart, "")
		r.until("an answer", func(s state.Snapshot) bool { return len(s.Requests) == 0 })
		records := len(r.Records("explorations", 0))
		if now := r.still(); now.Sequence() != 1 || len(r.Records("explorations", 0)) != records {
			t.Fatalf("sequence %d, %d records, then %d", now.Sequence(), records, len(r.Records("explorations", 0)))
		}
		if last := r.Records("explorations", 0)[records-1]; last.Value != nil || string(last.Key) != "test/request/b" {
			t.Errorf("last record %s of %d bytes", last.Key, len(last.Value))
		}
		// The schedule does not explore the same rows either, and does not prevent the answer to a
		// request.
		r.after.Store(int64(2 * time.Hour))
		if now := r.still(); now.Sequence() != 1 {
			t.Fatalf("sequence %d", now.Sequence())
		}
		r.ask(wire.ActionStart, "")
		r.until("an answer", func(s state.Snapshot) bool { return len(s.Requests) == 0 })
		r.send(1, 10, noFaults)
		if spec := r.spec(2); spec.LabelledRows() != 160 || !strings.Contains(spec.Reason, "1h0m0s since the last plan") {
			t.Errorf("%d rows, %q", spec.LabelledRows(), spec.Reason)
		}
	})
}

// A cancel is handled before the start after it, which may read the same rows.
func TestPlannerCancelsAndStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, 1, nil)
		r.send(0, 150, noFaults)
		r.start()
		first := r.spec(1)
		r.ask(wire.ActionCancel, "")
		now := r.until("cancelled", func(s state.Snapshot) bool { return s.Spec.Status == wire.StatusCancelled })
		if now.Spec.Reason != "request b: test" || len(now.Requests) != 0 || r.still().Sequence() != 1 {
			t.Errorf("%q, requests %+v", now.Spec.Reason, now.Requests)
		}
		r.ask(wire.ActionCancel, "") // nothing runs
		r.ask(wire.ActionStart, "")
		if second := r.spec(2); second.Partitions[0] != first.Partitions[0] || second.Status != wire.StatusRunning {
			t.Errorf("%+v", second)
		}
		if err := r.stop(); err != nil { // both handled in one step, but the start lacks rows
			t.Fatal(err)
		}
		r.ask(wire.ActionCancel, "")
		r.ask(wire.ActionStart, wire.FromNext)
		r.start()
		if spec := r.spec(3); spec.Partitions[0].StartOffset != 0 { // includes the ranges of the cancelled explorations
			t.Errorf("%+v", spec.Partitions)
		}
	})
}

// A set made from all 3,000 rows is replaced when the rows have grown fourfold. Unlabelled rows are
// mistaken for growth only once.
func TestPlannerExploresAsTheLogGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, 2, func(s *calibrate.Settings) { s.Exploration.MinRows = 2000 })
		r.send(0, 1500, noFaults)
		r.send(1, 1500, noFaults)
		r.start()
		r.selected(r.spec(1), 3000)
		r.send(0, 8990, noFaults)
		if now := r.still(); now.Sequence() != 1 {
			t.Fatalf("11990 rows: sequence %d", now.Sequence())
		}
		r.send(1, 200, unlabelled)
		if now := r.still(); now.Sequence() != 1 {
			t.Fatalf("11990 rows and some without labels: sequence %d", now.Sequence())
		}
		reads := r.reads.Load()
		r.send(1, 200, unlabelled)
		if now := r.still(); now.Sequence() != 1 || r.reads.Load() != reads {
			t.Errorf("sequence %d: the log was reread for few additional rows, by %d fetches",
				now.Sequence(), r.reads.Load()-reads)
		}
		r.send(0, 13_000, noFaults)
		spec := r.spec(2)
		if spec.LabelledRows() != 24_990 ||
			!strings.Contains(spec.Reason, "made from 3000 rows, and the labelled rows have grown fourfold") ||
			spec.SampleRate >= 1 {
			t.Errorf("%d rows, %q, rate %v", spec.LabelledRows(), spec.Reason, spec.SampleRate)
		}
	})
}

// Rows that a request excluded stay excluded when the other rows have grown fourfold, because they
// do not contain the new data.
func TestPlannerKeepsWhatARequestLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, 1, nil)
		r.send(0, 3000, noFaults)
		r.start()
		r.selected(r.spec(1), 3000)
		r.send(0, 200, noFaults)
		r.ask(wire.ActionStart, wire.FromNext)
		second := r.spec(2)
		r.selected(second, 200)
		r.send(0, 500, noFaults)
		if now := r.still(); now.Sequence() != 2 {
			t.Fatalf("700 rows: %+v", now.Spec)
		}
		r.send(0, 100, noFaults)
		if spec := r.spec(3); spec.LabelledRows() != 800 ||
			spec.Partitions[0].StartOffset != second.Partitions[0].StartOffset {
			t.Errorf("%d rows of %+v", spec.LabelledRows(), spec.Partitions)
		}
	})
}

// Reported dead letters count only for the same log: after a truncation other events may have these
// offsets.
func TestPlannerForgetsWhatALostLogReported(t *testing.T) {
	for lost, want := range map[bool]int64{false: 300, true: 0} {
		synctest.Test(t, func(t *testing.T) {
			r := newRoom(t, 1, nil)
			r.send(0, 3000, noFaults)
			r.start()
			first := r.spec(1)
			r.publish(*first, func(s *wire.Spec) { s.EditNote(0).ReportedTo = 300 })
			r.selected(first, 3000)
			if lost {
				r.LoseEnd("events", 0, 290)
			}
			r.send(0, 400, noFaults)
			r.ask(wire.ActionStart, wire.FromEarliest)
			spec := r.spec(2)
			if part, to := spec.Partitions[0], spec.Note(0).ReportedTo; to != want || part.EndOffset < 330 {
				t.Errorf("lost %t: %+v reported up to %d, want %d", lost, part, to, want)
			}
		})
	}
}

// An abandoned exploration is replanned after a while, even on the same rows. An exploration for
// another kernel is replanned once no process works on it.
func TestPlannerReplans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, 1, nil)
		r.send(0, 150, noFaults)
		r.start()
		first := r.spec(1)
		r.publish(*first, func(s *wire.Spec) { s.Status, s.Reason = wire.StatusAbandoned, "lost" })
		if now := r.still(); now.Sequence() != 1 {
			t.Fatalf("replanned immediately: %+v", now.Spec)
		}
		r.after.Store(int64(time.Hour))
		second := r.spec(2)
		if second.LabelledRows() != 150 || second.Reason != "the last exploration was abandoned: lost" {
			t.Errorf("%d rows, %q", second.LabelledRows(), second.Reason)
		}
		r.publish(*second, func(s *wire.Spec) { s.Arithmetic, s.Exploration = "abacus", "test.2.other" })
		if third := r.spec(3); third.Arithmetic != scoring.Arithmetic() || third.LabelledRows() != 150 ||
			!strings.Contains(third.Reason, "numeric kernel abacus") {
			t.Errorf("%+v", third)
		}
	})
}

// An exploration for another kernel is left to other processes while they save scores or choose
// features.
func TestPlannerLeavesAnExplorationToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, 2, nil)
		r.send(0, 150, noFaults)
		r.start()
		first := r.spec(1)
		r.publish(*first, func(s *wire.Spec) { s.Arithmetic, s.Sequence, s.Exploration = "abacus", 2, "test.2.other" })
		for minute := range 10 {
			if minute%2 == 0 {
				pipelinetest.Produce(
					t,
					r.Broker,
					"scores",
					1,
					pipeline.Record{Key: []byte("test.2.other"), Value: []byte("a checkpoint")},
				)
			} else if err := r.Env.State.PublishProgress(t.Context(), &wire.Progress{
				Exploration: "test.2.other",
				Sequence:    2,
				Round:       minute,
				Rounds:      10,
			}); err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Minute)
			if now := r.Env.State.Snapshot(); now.Sequence() != 2 {
				t.Fatalf("minute %d: replanned although others work on it: %+v", minute, now.Spec)
			}
		}
		<-time.After(time.Minute / 2) // less than its patience, together with the last minute
		r.away.Store(true)
		<-time.After(10 * time.Minute) // no brokers, no signs
		r.away.Store(false)
		<-time.After(time.Minute) // less than its patience
		if now := r.Env.State.Snapshot(); now.Sequence() != 2 {
			t.Errorf("replanned immediately after the outage: %+v", now.Spec)
		}
		if third := r.spec(3); third.Arithmetic != scoring.Arithmetic() ||
			!strings.Contains(third.Reason, "no process works on the running exploration") {
			t.Errorf("%+v", third)
		}
	})
}

// The obstacle to a plan is reported with sizes and ends a one-shot command.
func TestPlannerSaysWhatIsInTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, 1, func(s *calibrate.Settings) {
			s.Exploration.Criterion, s.Exploration.Rounds, s.Exploration.SampleMemory = scoring.Residual, 2, 10_000
		})
		r.send(0, 150, noFaults)
		r.start()
		if now := r.still(); now.Spec != nil ||
			!strings.Contains(r.planning().Fault, "over exploration.sample_memory (9.8 KiB)") {
			t.Errorf("%+v, planning %+v", now.Spec, r.planning())
		}
		if err := r.stop(); err != nil {
			t.Error(err)
		}
		r.Env.FailFast = true
		if err := r.Planner.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "up to 150 sampled rows") {
			t.Errorf("error %v", err)
		}
		r.Settings.Exploration.MinRows = 151
		var few *calibrate.TooFewRowsError
		if err := r.Planner.Run(t.Context()); !errors.As(err, &few) || few.Have != 150 {
			t.Errorf("error %v", err)
		}
	})
}
