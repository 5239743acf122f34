package stages

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/scoring"
)

func TestConfigHashNamesWhatIsAskedFor(t *testing.T) {
	base := testSettings(taskBinary)
	for _, c := range []struct {
		name   string
		change func(*Settings)
		same   bool
	}{
		{"nothing", func(*Settings) {}, true},
		{"candidates spelled out", func(s *Settings) { s.Exploration.Candidates = s.Exploration.CandidateCount() }, true},
		{"every", func(s *Settings) { s.Exploration.Every = time.Hour }, true},
		{"every offsets", func(s *Settings) { s.Exploration.EveryOffsets = 1000 }, true},
		{"deadline", func(s *Settings) { s.Exploration.Deadline = time.Hour }, true},
		{"calibration timeout", func(s *Settings) { s.Exploration.CalibrationTimeout = time.Hour }, true},
		{"start", func(s *Settings) { s.Exploration.Start = "latest" }, true},
		{"candidate memory", func(s *Settings) { s.Exploration.CandidateMemory /= 2 }, true},
		{"training", func(s *Settings) { s.Train.MinRows++ }, true},
		{"checkpoints", func(s *Settings) { s.Subsample.CheckpointRows++ }, true},
		{"output size", func(s *Settings) { s.Featurize.MaxOutputBytes++ }, true},
		{"other topics", func(s *Settings) { s.Topics.Models = "m" }, true},
		{"events topic", func(s *Settings) { s.Topics.Events = "other" }, false},
		{"map", func(s *Settings) { s.Exploration.Map = scoring.MapArcCosine1 }, false},
		{"distribution", func(s *Settings) { s.Exploration.Distribution = scoring.Cauchy }, false},
		{"sigma", func(s *Settings) { s.Exploration.Sigma = 3 }, false},
		{"bandwidth mix", func(s *Settings) { s.Exploration.BandwidthMix = []float64{1, 2} }, false},
		{"bandwidth mix of no scales", func(s *Settings) { s.Exploration.BandwidthMix = []float64{} }, true},
		{"seed", func(s *Settings) { s.Exploration.Seed++ }, false},
		{"candidates", func(s *Settings) { s.Exploration.Candidates++ }, false},
		{"features", func(s *Settings) { s.Exploration.Features++ }, false},
		{"criterion", func(s *Settings) { s.Exploration.Criterion = scoring.Energy }, false},
		{"sample rate", func(s *Settings) { s.Exploration.SampleRate /= 2 }, false},
		{"sample rows", func(s *Settings) { s.Exploration.SampleRows++ }, false},
		{"until", func(s *Settings) { s.Exploration.Until = "end" }, false},
		{"calibration rows", func(s *Settings) { s.Exploration.CalibrationRows++ }, false},
		{"feature columns", func(s *Settings) { s.Events.Features = []string{"a"} }, false},
		{"passthrough", func(s *Settings) { s.Events.Passthrough = nil }, false},
		{"label", func(s *Settings) { s.Events.Label = []string{"b"} }, false},
		{"classes", func(s *Settings) { s.Events.Classes = []string{"no", "yes", "maybe"} }, false},
		{"clip", func(s *Settings) { s.Events.Clip = 0 }, false},
		{"label bound", func(s *Settings) { s.Events.LabelMax = new(float64) }, false},
	} {
		s := base
		c.change(&s)
		if same := s.ConfigHash() == base.ConfigHash(); same != c.same {
			t.Errorf("%s: same hash %v, want %v", c.name, same, c.same)
		}
	}
	low, alsoLow := 1.5, 1.5
	a, b := base, base
	a.Events.LabelMin, b.Events.LabelMin = &low, &alsoLow
	if a.ConfigHash() != b.ConfigHash() {
		t.Error("equal bounds at two addresses give two hashes")
	}
}

func TestShareQuota(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		partitions := make([]wire.Partition, rapid.IntRange(1, 9).Draw(rt, "partitions"))
		for i := range partitions {
			partitions[i] = wire.Partition{Partition: int32(i), StartOffset: int64(10 * i), EndOffset: -1}
		}
		rows := rapid.Int64Range(0, 30).Draw(rt, "rows")
		shareQuota(partitions, rows)
		total := int64(0)
		for i, p := range partitions {
			total += p.Quota
			if rows > 0 && p.Quota == 0 && p.EndOffset != p.StartOffset {
				rt.Fatalf("partition %d has no share of %d rows and no end: it would never close", i, rows)
			}
			if p.Quota > 0 && p.EndOffset != -1 {
				rt.Fatalf("partition %d has a share and ends at %d", i, p.EndOffset)
			}
			if d := partitions[0].Quota - p.Quota; d < 0 || d > 1 {
				rt.Fatalf("shares %+v are not even", partitions)
			}
		}
		if total != rows {
			rt.Fatalf("%d rows shared out of %d", total, rows)
		}
	})
	bounded := []wire.Partition{{EndOffset: 7}}
	shareQuota(bounded, 0)
	if bounded[0] != (wire.Partition{EndOffset: 7}) {
		t.Errorf("no rows asked for changed %+v", bounded)
	}
}

func TestSpecAndItsID(t *testing.T) {
	rows := events(t, taskRegression, 300, 70, faults{})
	s := testSettings(taskRegression)
	spec := plan(t, s, rows, fullSpan(5))
	if !strings.HasPrefix(spec.Exploration, "test.1.") || pipelineOfExploration(spec.Exploration) != "test" {
		t.Errorf("exploration %q", spec.Exploration)
	}
	if spec.ConfigHash != s.ConfigHash() || spec.Kernel != scoring.Kernel() || spec.Candidates.Count != 40 || spec.Candidates.Dim != spec.Encoder.Dim {
		t.Errorf("spec %+v", spec)
	}
	if again := plan(t, s, rows, fullSpan(5)); again.Exploration != spec.Exploration {
		t.Error("the same plan has two ids")
	}
	if other := plan(t, s, rows, fullSpan(6)); other.Exploration == spec.Exploration {
		t.Error("two plans have one id")
	}
	if spec.Candidates.Nu != 0 {
		t.Error("nu of another distribution is in the spec")
	}
	s.Exploration.BandwidthMix = []float64{1, 4}
	if mixed := plan(t, s, rows, fullSpan(5)); !slices.Equal(mixed.Candidates.Mix, s.Exploration.BandwidthMix) || mixed.Hash() == spec.Hash() {
		t.Errorf("bandwidth mix %v, equal hashes %v", mixed.Candidates.Mix, mixed.Hash() == spec.Hash())
	}
	s.Exploration.Distribution, s.Exploration.Nu = scoring.Matern, 2.5
	if matern := plan(t, s, rows, fullSpan(5)); matern.Candidates.Nu != 2.5 {
		t.Errorf("nu %v", matern.Candidates.Nu)
	}
}

// request makes a pending request; its id is "r<offset>".
func request(offset int64, action wire.Action, exploration string) PendingRequest {
	return PendingRequest{Offset: offset, Request: wire.Request{Action: action, ID: fmt.Sprintf("r%d", offset), Exploration: exploration, Reason: "lost"}}
}

func TestPlannerAnswersRequests(t *testing.T) {
	running := &wire.Spec{Exploration: "test.3.x", Sequence: 3, Status: wire.StatusRunning, HandledOffset: 10}
	idle := State{Spec: running, Current: &wire.Current{Sequence: 3}}
	const none = int64(-1)
	for _, c := range []struct {
		name      string
		state     State
		requests  []PendingRequest
		start     string // reason, empty = no start
		cancelled int64
	}{
		{"nothing asked", State{Spec: running}, nil, "", none},
		{"start", idle, []PendingRequest{request(12, wire.ActionStart, "")}, "request r12: lost", none},
		{"start while one runs", State{Spec: running}, []PendingRequest{request(12, wire.ActionStart, "")}, "request r12: lost", none},
		{"start before there is a spec", State{}, []PendingRequest{request(0, wire.ActionStart, "")}, "request r0: lost", none},
		{"the last start counts", idle, []PendingRequest{request(12, wire.ActionStart, ""), request(14, wire.ActionStart, "")}, "request r14: lost", none},
		{"cancel whichever runs", State{Spec: running}, []PendingRequest{request(12, wire.ActionCancel, "")}, "", 12},
		{"cancel the one that runs", State{Spec: running}, []PendingRequest{request(12, wire.ActionCancel, "test.3.x")}, "", 12},
		{"cancel another one", State{Spec: running}, []PendingRequest{request(12, wire.ActionCancel, "test.2.x")}, "", none},
		{"cancel when none runs", idle, []PendingRequest{request(12, wire.ActionCancel, "")}, "", none},
		{"cancel, then start", State{Spec: running}, []PendingRequest{request(12, wire.ActionCancel, ""), request(13, wire.ActionStart, "")}, "request r13: lost", 12},
		{"start, then cancel", State{Spec: running}, []PendingRequest{request(12, wire.ActionStart, ""), request(13, wire.ActionCancel, "")}, "", 13},
		{"restart of the one that runs", State{Spec: running}, []PendingRequest{request(12, wire.ActionRestart, "test.3.x")}, "lost", none},
		{"restart of one that is over", State{Spec: running}, []PendingRequest{request(12, wire.ActionRestart, "test.2.x")}, "", none},
		{"restart when none runs", idle, []PendingRequest{request(12, wire.ActionRestart, "test.3.x")}, "", none},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.state.Requests = c.requests
			start, cancelled := answer(c.state)
			reason := ""
			if start != nil {
				reason = start.reason
			}
			if reason != c.start || cancelled != c.cancelled {
				t.Errorf("start %q, cancelled at %d; want %q, %d", reason, cancelled, c.start, c.cancelled)
			}
		})
	}
	state := State{Spec: running, Requests: []PendingRequest{request(12, wire.ActionStart, ""), request(30, wire.ActionStart, "")}}
	if got := handledOffset(state); got != 31 {
		t.Errorf("requests below %d are handled, want 31", got)
	}
	if got := handledOffset(State{Spec: running}); got != 10 {
		t.Errorf("requests below %d are handled, want 10", got)
	}
	until := request(5, wire.ActionStart, "")
	until.Until = "end"
	if start, _ := answer(State{Requests: []PendingRequest{until}}); start == nil || start.until != "end" {
		t.Errorf("start %+v, want one until the end", start)
	}
}

// plannerAt returns a planner whose events have 100 offsets in each of two partitions, at a time after noon.
func plannerAt(after time.Duration, s Settings) *Planner {
	broker := pipelinetest.NewBroker()
	broker.AddTopic(s.Topics.Events, 2)
	for partition := range 2 {
		broker.Expire(s.Topics.Events, partition, 100)
	}
	return NewPlanner(&Runtime{
		Broker: broker, Settings: s, Logger: zap.NewNop(), Counters: NewCounters(),
		Now: func() time.Time { return noon.Add(after) },
	})
}

func TestPlannerSchedule(t *testing.T) {
	settings := testSettings(taskRegression)
	spec := func(change func(*wire.Spec)) *wire.Spec {
		s := &wire.Spec{Exploration: "test.3.x", Sequence: 3, Status: wire.StatusRunning, ConfigHash: settings.ConfigHash(), Kernel: scoring.Kernel(), PlannedAt: noon}
		if change != nil {
			change(s)
		}
		return s
	}
	// The last exploration gave a set and stopped to read at offsets 60 and 70.
	lineage := []wire.LineagePartition{{Partition: 0, NextOffset: 60}, {Partition: 1, NextOffset: 70}}
	selected := State{
		Spec: spec(nil), SpecTime: noon, Current: &wire.Current{ID: "fs", Sequence: 3},
		Sets: map[string]PublishedSet{"fs": {ID: "fs", Set: &wire.FeatureSet{Lineage: wire.Lineage{Exploration: "test.3.x", Partitions: lineage}}}},
	}
	with := func(s State, change func(*wire.Spec)) State { s.Spec = spec(change); return s }
	later := func(s Settings) Settings { s.Exploration.Seed++; return s }
	every := func(d time.Duration) Settings { s := settings; s.Exploration.Every = d; return s }
	offsets := func(n int64) Settings { s := settings; s.Exploration.EveryOffsets = n; return s }
	running := with(State{SpecTime: noon}, nil)
	for _, c := range []struct {
		name     string
		state    State
		settings Settings
		after    time.Duration
		starts   string // a part of the reason, empty = no start
		goesOn   bool
	}{
		{"nothing there", State{}, settings, 0, "no feature set", false},
		{"one runs", running, settings, 0, "", false},
		{"one runs and time has passed", running, every(time.Hour), 2 * time.Hour, "", false},
		{"one runs and offsets have advanced", running, offsets(1), 0, "", false},
		{"one runs under another configuration", running, later(settings), 0, "configured spec has changed", false},
		{"one runs under another kernel", with(State{}, func(s *wire.Spec) { s.Kernel = "abacus" }), settings, 0, "numeric kernel abacus", false},
		{"selected", selected, settings, 100 * time.Hour, "", false},
		{"selected by another kernel", with(selected, func(s *wire.Spec) { s.Kernel = "abacus" }), settings, 0, "", false},
		{"selected, the configuration has changed", selected, later(settings), 0, "configured spec has changed", false},
		{"selected, not time yet", selected, every(time.Hour), time.Hour - 1, "", false},
		{"selected, time", selected, every(time.Hour), time.Hour, "1h0m0s since the last plan", true},
		{"selected, offsets not there yet", selected, offsets(71), 0, "", false},
		{"selected, offsets there", selected, offsets(70), 0, "advanced by 70 offsets", true},
		{"cancelled", with(State{}, func(s *wire.Spec) { s.Status = wire.StatusCancelled }), settings, time.Hour, "", false},
		{"cancelled, time", with(State{SpecTime: noon}, func(s *wire.Spec) { s.Status = wire.StatusCancelled }), every(time.Hour), time.Hour, "since the last plan", false},
		{"cancelled, the configuration has changed", with(State{}, func(s *wire.Spec) { s.Status = wire.StatusCancelled }), later(settings), 0, "configured spec has changed", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plannerAt(c.after, c.settings)
			start := p.scheduled(t.Context(), zap.NewNop(), c.state)
			switch {
			case start == nil && c.starts != "":
				t.Errorf("no start, want one because of %q", c.starts)
			case start != nil && (c.starts == "" || !strings.Contains(start.reason, c.starts)):
				t.Errorf("start because %q, want %q", start.reason, c.starts)
			case start != nil && c.goesOn != slices.Equal(start.goesOnAt, lineage):
				t.Errorf("goes on at %+v, want the lineage: %v", start.goesOnAt, c.goesOn)
			}
		})
	}
}

// Only the time of the plan counts: a cancelled or repeated spec has a later record.
func TestPlannerScheduleCountsFromThePlan(t *testing.T) {
	settings := testSettings(taskRegression)
	settings.Exploration.Every = time.Hour
	for _, c := range []struct {
		planned, record time.Duration // before now
		starts          bool
	}{{time.Hour, time.Minute, true}, {time.Hour - 1, time.Minute, false}, {time.Minute, 2 * time.Hour, false}} {
		state := State{SpecTime: noon.Add(-c.record), Spec: &wire.Spec{
			Exploration: "test.3.x", Sequence: 3, Status: wire.StatusCancelled, ConfigHash: settings.ConfigHash(),
			Kernel: scoring.Kernel(), PlannedAt: noon.Add(-c.planned),
		}}
		if start := plannerAt(0, settings).scheduled(t.Context(), zap.NewNop(), state); (start != nil) != c.starts {
			t.Errorf("planned %v ago, record of %v ago: start %+v, want one: %v", c.planned, c.record, start, c.starts)
		}
	}
}

func TestPlannerRefusesRequests(t *testing.T) {
	running := &wire.Spec{Exploration: "test.3.x", Sequence: 3, Status: wire.StatusRunning}
	idle := State{Spec: running, Current: &wire.Current{Sequence: 3}}
	quota := request(5, wire.ActionStart, "")
	quota.Until = wire.UntilQuota
	end := request(6, wire.ActionStart, "")
	end.Until = wire.UntilEnd
	for _, c := range []struct {
		name     string
		state    State
		rows     int64
		requests []PendingRequest
		refused  []int64
	}{
		{"nothing asked", idle, 0, nil, nil},
		{"quota without rows", idle, 0, []PendingRequest{quota, end}, []int64{5}},
		{"quota with rows", idle, 100, []PendingRequest{quota, end}, nil},
		{"cancel and restart of what runs", State{Spec: running}, 0, []PendingRequest{request(1, wire.ActionCancel, ""), request(2, wire.ActionRestart, "test.3.x")}, nil},
		{"of another one", State{Spec: running}, 0, []PendingRequest{request(1, wire.ActionCancel, "test.2.x"), request(2, wire.ActionRestart, "test.2.x"), request(3, wire.ActionStart, "")}, []int64{1, 2}},
		{"none runs", idle, 0, []PendingRequest{request(1, wire.ActionCancel, ""), request(2, wire.ActionRestart, "test.3.x")}, []int64{1, 2}},
		{"before there is a spec", State{}, 0, []PendingRequest{request(1, wire.ActionCancel, "")}, []int64{1}},
	} {
		s := testSettings(taskRegression)
		s.Exploration.SampleRows = c.rows
		c.state.Requests = c.requests
		var refused []int64
		for _, r := range plannerAt(0, s).void(zap.NewNop(), c.state) {
			refused = append(refused, r.Offset)
		}
		if !slices.Equal(refused, c.refused) {
			t.Errorf("%s: refused %v, want %v", c.name, refused, c.refused)
		}
	}
}

func TestPlanPartitions(t *testing.T) {
	broker := pipelinetest.NewBroker()
	broker.AddTopic("events", 3)
	broker.AddTopic("scores", 2)
	if _, err := planPartitions(t.Context(), broker, testSettings(taskRegression), nil); !errors.Is(err, ErrNotCoPartitioned) {
		t.Fatalf("a partition of events has none of scores: error %v", err)
	}
	if err := broker.GrowPartitions(t.Context(), "scores", 3); err != nil {
		t.Fatal(err)
	}
	for partition, first := range []int64{0, 20, 50} {
		for range 30 {
			if _, err := broker.Produce(t.Context(), "events", partition, []pipeline.Record{{}}); err != nil {
				t.Fatal(err)
			}
		}
		broker.Expire("events", partition, first) // 0 to 30, 20 to 30, 50 to 50
	}
	at := func(next ...int64) (parts []wire.LineagePartition) {
		for i, n := range next {
			parts = append(parts, wire.LineagePartition{Partition: int32(i), NextOffset: n})
		}
		return parts
	}
	for _, c := range []struct {
		name         string
		start, until string
		goesOnAt     []wire.LineagePartition
		want         [][2]int64 // start and end offsets
	}{
		{"earliest, by quota", "earliest", "quota", nil, [][2]int64{{0, -1}, {20, -1}, {50, -1}}},
		{"latest", "latest", "quota", nil, [][2]int64{{30, -1}, {30, -1}, {50, -1}}},
		{"to the end", "earliest", "end", nil, [][2]int64{{0, 30}, {20, 30}, {50, 50}}},
		{"where the last one stopped", "earliest", "quota", at(7, 25, 50), [][2]int64{{7, -1}, {25, -1}, {50, -1}}},
		{"retention passed it", "latest", "end", at(7, 5, 9), [][2]int64{{7, 30}, {20, 30}, {50, 50}}},
		{"the log is shorter than it was", "earliest", "quota", at(99, 99, 99), [][2]int64{{30, -1}, {30, -1}, {50, -1}}},
		{"partitions were added", "earliest", "quota", at(7), [][2]int64{{7, -1}, {20, -1}, {50, -1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := testSettings(taskRegression)
			s.Exploration.Start, s.Exploration.Until = c.start, c.until
			got, err := planPartitions(t.Context(), broker, s, c.goesOnAt)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.want {
				if got[i] != (wire.Partition{Partition: int32(i), StartOffset: want[0], EndOffset: want[1]}) {
					t.Errorf("partition %d: %+v, want %v", i, got[i], want)
				}
			}
		})
	}
}
