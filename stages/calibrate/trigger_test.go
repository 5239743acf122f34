package calibrate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/state"
)

const noon = 0 * time.Hour // times here are relative to noon

// request makes a pending request; its id is "r<offset>".
func request(offset int64, action wire.Action, exploration string) state.Request {
	return state.Request{
		Offset:  offset,
		Request: wire.Request{Action: action, ID: fmt.Sprintf("r%d", offset), Exploration: exploration, Reason: "lost"},
	}
}

func TestPlannerAnswersRequests(t *testing.T) {
	running := &wire.Spec{
		Exploration:   "test.3.x",
		Plan:          wire.Plan{Sequence: 3},
		Status:        wire.StatusRunning,
		HandledOffset: 10,
	}
	idle := state.Snapshot{Spec: running, Current: &wire.Current{Sequence: 3}}
	fault := request(13, "", "")
	fault.Fault = errors.New("restart is no longer an action")
	const none = int64(-1)
	for _, c := range []struct {
		name      string
		state     state.Snapshot
		requests  []state.Request
		start     string // reason, empty = no start
		cancelled int64
		void      []int64
	}{
		{"nothing asked", state.Snapshot{Spec: running}, nil, "", none, nil},
		{"start", idle, []state.Request{request(12, wire.ActionStart, "")}, "request r12: lost", none, nil},
		{
			"start while one runs",
			state.Snapshot{Spec: running},
			[]state.Request{request(12, wire.ActionStart, "")},
			"request r12: lost",
			none,
			nil,
		},
		{
			"start before there is a spec",
			state.Snapshot{},
			[]state.Request{request(0, wire.ActionStart, "")},
			"request r0: lost",
			none,
			nil,
		},
		{
			"the last start counts",
			idle,
			[]state.Request{request(12, wire.ActionStart, ""), request(14, wire.ActionStart, "")},
			"request r14: lost",
			none,
			nil,
		},
		{
			"cancel whichever runs",
			state.Snapshot{Spec: running},
			[]state.Request{request(12, wire.ActionCancel, "")},
			"",
			12,
			nil,
		},
		{
			"cancel the one that runs",
			state.Snapshot{Spec: running},
			[]state.Request{request(12, wire.ActionCancel, "test.3.x")},
			"",
			12,
			nil,
		},
		{
			"cancel another one",
			state.Snapshot{Spec: running},
			[]state.Request{request(12, wire.ActionCancel, "test.2.x")},
			"",
			none,
			[]int64{12},
		},
		{"cancel when none runs", idle, []state.Request{request(12, wire.ActionCancel, "")}, "", none, []int64{12}},
		{
			"cancel before there is a spec",
			state.Snapshot{},
			[]state.Request{request(1, wire.ActionCancel, "")},
			"",
			none,
			[]int64{1},
		},
		{
			"cancel, then start",
			state.Snapshot{Spec: running},
			[]state.Request{request(12, wire.ActionCancel, ""), request(13, wire.ActionStart, "")},
			"request r13: lost",
			12,
			nil,
		},
		{
			"start, then cancel",
			state.Snapshot{Spec: running},
			[]state.Request{request(12, wire.ActionStart, ""), request(13, wire.ActionCancel, "")},
			"",
			13,
			nil,
		},
		{
			"not understood",
			state.Snapshot{Spec: running},
			[]state.Request{request(12, wire.ActionStart, ""), fault},
			"request r12: lost",
			none,
			[]int64{13},
		},
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
			var void []int64
			for _, r := range plannerAt(noon, testSettings(stagestest.Regression)).void(c.state) {
				void = append(void, r.Offset)
			}
			if !slices.Equal(void, c.void) {
				t.Errorf("void %v, want %v", void, c.void)
			}
		})
	}
	now := state.Snapshot{
		Spec:     running,
		Requests: []state.Request{request(12, wire.ActionStart, ""), request(30, wire.ActionStart, "")},
	}
	if got := handledOffset(now); got != 31 {
		t.Errorf("requests below %d are handled, want 31", got)
	}
	if got := handledOffset(state.Snapshot{Spec: running}); got != 10 {
		t.Errorf("requests below %d are handled, want 10", got)
	}
	from := request(5, wire.ActionStart, "")
	from.From = wire.FromEarliest
	if start, _ := answer(state.Snapshot{Requests: []state.Request{from}}); start == nil ||
		start.from != wire.FromEarliest ||
		!start.asked {
		t.Errorf("start %+v, want one from the earliest rows", start)
	}
}

// plannerAt returns a planner whose events have 100 offsets in each of two partitions, at a time
// after noon.
func plannerAt(after time.Duration, s Settings) *Planner {
	broker := topicsOf(2)
	for partition := range 2 {
		broker.Expire("events", partition, 100)
		broker.LoseEnd("events", partition, 100)
	}
	e := envWith(broker, zap.NewNop())
	e.Meter = meter.New()
	e.Clock = at(stagestest.Noon.Add(after))
	return &Planner{Env: e, Settings: s}
}

// setOver returns a set with these settings, from an exploration that read the two partitions up to
// 60 and 70.
func setOver(s Settings, rows int64, rate float64) state.Set {
	e := s.Exploration
	return state.Set{ID: "fs", Set: &wire.FeatureSet{
		Encoder:    &encoder.Encoder{Passthrough: s.Events.Passthrough, Label: &encoder.Label{Columns: s.Events.Label}},
		Candidates: scoring.Candidates{Map: e.Map, Distribution: e.Distribution, Seed: e.Seed, Count: e.CandidateCount()},
		Set:        scoring.FeatureSet{Index: make([]int32, e.Features)},
		Lineage: wire.Lineage{
			Exploration: "test.3.x",
			Rows:        rows,
			SampleRate:  rate,
			Criterion:   e.Criterion,
			Rounds:      e.ActiveRounds(),
			EventsTopic: s.EventsTopic,
			Partitions:  []wire.LineagePartition{{Partition: 0, NextOffset: 60}, {Partition: 1, NextOffset: 70}},
		},
	}}
}

func TestPlannerSchedule(t *testing.T) {
	settings := testSettings(stagestest.Regression)
	settings.Exploration.SampleRate = 0.5 // TestGrown covers growth
	spec := func(change func(*wire.Spec)) *wire.Spec {
		s := &wire.Spec{
			Exploration: "test.3.x", Status: wire.StatusRunning, ConfigHash: settings.hash(), PlannedAt: stagestest.Noon,
			Plan: wire.Plan{
				Sequence: 3, Arithmetic: scoring.Arithmetic(),
				Partitions: []wire.Partition{{Partition: 0, EndOffset: 60}, {Partition: 1, EndOffset: 70}},
			},
		}
		if change != nil {
			change(s)
		}
		return s
	}
	selected := state.Snapshot{
		Spec:     spec(nil),
		SpecTime: stagestest.Noon,
		Current:  &wire.Current{ID: "fs", Sequence: 3},
	}.With(
		setOver(settings, 50, 0.5),
	)
	with := func(s state.Snapshot, change func(*wire.Spec)) state.Snapshot { s.Spec = spec(change); return s }
	status := func(to wire.Status) func(*wire.Spec) {
		return func(s *wire.Spec) { s.Status, s.Reason = to, "no rows" }
	}
	later := func(s Settings) Settings { s.Exploration.Seed++; return s }
	every := func(d time.Duration) Settings { s := settings; s.Exploration.Every = d; return s }
	offsets := func(n int64) Settings { s := settings; s.Exploration.EveryOffsets = n; return s }
	running := with(state.Snapshot{SpecTime: stagestest.Noon}, nil)
	replacing := selected // an exploration is running and a set is current
	replacing.Spec = spec(func(s *wire.Spec) { s.Sequence = 4 })
	lost := selected
	lost.Spec = nil
	unread := lost
	unread.Repairs = []state.Repair{{Record: state.RecordSpec}}
	for _, c := range []struct {
		name     string
		state    state.Snapshot
		settings Settings
		after    time.Duration
		starts   string // part of the reason, empty = no start
	}{
		{"nothing there", state.Snapshot{}, settings, 0, "no feature set"},
		{"one runs", running, settings, 0, ""},
		{"one runs and time has passed", running, every(time.Hour), 2 * time.Hour, ""},
		{"one runs and offsets have advanced", running, offsets(1), 0, ""},
		{"one runs beside a set", replacing, offsets(1), 0, ""},
		{"one runs under another configuration", running, later(settings), 0, "configured spec has changed"},
		// other processes may compute it, see TestPlannerReplans
		{
			"one runs under another kernel",
			with(state.Snapshot{}, func(s *wire.Spec) { s.Arithmetic = "abacus" }),
			settings,
			0,
			"",
		},
		{"selected", selected, settings, 100 * time.Hour, ""},
		{"selected by another kernel", with(selected, func(s *wire.Spec) { s.Arithmetic = "abacus" }), settings, 0, ""},
		{"selected, the configuration has changed", selected, later(settings), 0, "configured spec has changed"},
		{"selected, not time yet", selected, every(time.Hour), time.Hour - 1, ""},
		{"selected, time", selected, every(time.Hour), time.Hour, "1h0m0s since the last plan"},
		{"selected by a clock that is ahead", selected, every(time.Hour), -20 * time.Hour, ""},
		{"selected by a wrong clock", selected, every(time.Hour), -300 * 24 * time.Hour, "1h0m0s since the last plan"},
		{"selected, offsets not there yet", selected, offsets(71), 0, ""},
		{"selected, offsets there", selected, offsets(70), 0, "advanced by 70 offsets"},
		{"cancelled", with(state.Snapshot{}, status(wire.StatusCancelled)), settings, time.Hour, ""},
		{
			"cancelled, time since the plan and not its record",
			with(state.Snapshot{SpecTime: stagestest.Noon.Add(time.Hour - 1)}, status(wire.StatusCancelled)),
			every(time.Hour),
			time.Hour,
			"since the last plan",
		},
		{
			"cancelled, the configuration has changed",
			with(state.Snapshot{}, status(wire.StatusCancelled)),
			later(settings),
			0,
			"configured spec has changed",
		},
		{"abandoned a moment ago", with(running, status(wire.StatusAbandoned)), settings, planRetry - 1, ""},
		{
			"abandoned by a wrong clock",
			with(running, status(wire.StatusAbandoned)),
			settings,
			-300 * 24 * time.Hour,
			"abandoned: no rows",
		},
		{"abandoned", with(running, status(wire.StatusAbandoned)), settings, planRetry, "abandoned: no rows"},
		{"abandoned beside a set", with(selected, status(wire.StatusAbandoned)), settings, planRetry, "abandoned: no rows"},
		{
			"a spec that cannot be read",
			state.Snapshot{Repairs: []state.Repair{{Record: state.RecordSpec}}},
			settings,
			0,
			"cannot be read",
		},
		{"a set and a spec that cannot be read", unread, settings, 0, "cannot be read"},
		{"a set without a spec", lost, settings, 0, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := plannerAt(c.after, c.settings).scheduled(t.Context(), c.state)
			switch {
			case start == nil && c.starts != "":
				t.Errorf("no start, want reason %q", c.starts)
			case start != nil && (c.starts == "" || !strings.Contains(start.reason, c.starts)):
				t.Errorf("started for reason %q, want %q", start.reason, c.starts)
			}
		})
	}
}

// A set made from all 3,000 labelled rows is replaced when the offsets suggest that these have
// grown fourfold, until N0 rows are reached.
func TestGrown(t *testing.T) {
	s := testSettings(stagestest.Regression)
	s.Exploration.SampleRows = 10_000
	spec := &wire.Spec{Plan: wire.Plan{Sequence: 3, Partitions: []wire.Partition{
		{
			Partition:    0,
			EndOffset:    200,
			LabelledRows: 2000,
		}, {Partition: 1, StartOffset: 50, EndOffset: 150, LabelledRows: 1000},
	}}}
	for _, c := range []struct {
		name       string
		rows       int64
		rate       float64
		configured Rate
		offsets    int64 // total over both partitions
		starts     bool
	}{
		{"not yet", 3000, 1, RateAuto, 1199, false},
		{"fourfold", 3000, 1, RateAuto, 1200, true},
		{"a given rate", 3000, 1, 1, 1200, false},
		{"N0 reached", 10_000, 1, RateAuto, 1200, false},
		{"only a part was sampled", 3000, 0.99, RateAuto, 1200, false},
	} {
		s.Exploration.SampleRate = c.configured
		now := state.Snapshot{Spec: spec, Current: &wire.Current{ID: "fs", Sequence: 3}}.With(setOver(s, c.rows, c.rate))
		start := grown(
			s.Exploration,
			now,
			[]extent{{first: 100, end: 100 + c.offsets - 10}, {first: 50, end: 60}},
			true,
			time.Now(),
		)
		if (start != nil) != c.starts || start != nil && start.atLeast != 12_000 {
			t.Errorf("%s: %+v", c.name, start)
		}
	}
}
