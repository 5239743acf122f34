package stages

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"
	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// must returns the value of a call that cannot fail here.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// keyed is a record of one of the followed topics.
func keyed(key, value []byte) pipeline.Record {
	return pipeline.Record{Key: key, Value: value, Time: noon}
}

// specRecord publishes a spec with another sequence, status and handled offset.
func specRecord(spec *wire.Spec, sequence int64, status wire.Status, handled int64) pipeline.Record {
	s := *spec
	s.Sequence, s.Status, s.HandledOffset = sequence, status, handled
	return keyed(wire.SpecKey(s.Pipeline), must(wire.EncodeSpec(&s)))
}

func requestRecord(pipelineName, id string) pipeline.Record {
	return keyed(wire.RequestKey(pipelineName, id), must(wire.EncodeRequest(&wire.Request{Action: wire.ActionStart, ID: id})))
}

func currentRecord(pipelineName, id string, sequence int64) pipeline.Record {
	return keyed(wire.CurrentKey(pipelineName), must(wire.EncodeCurrent(&wire.Current{ID: id, Sequence: sequence})))
}

func setRecord(set *wire.FeatureSet) pipeline.Record {
	return keyed(wire.SetKey("test", set.ID()), must(wire.EncodeFeatureSet(set)))
}

// applied is the state after records of the two topics.
func applied(explorations, featureSets []pipeline.Record) (State, []error) {
	w := NewWatch(nil, zap.NewNop(), "test", Default().Topics)
	decoder := arrowio.NewDecoder(w.limits)
	state := w.state
	var errs []error
	for offset, r := range explorations {
		r.Offset = int64(offset)
		if err := w.applyExploration(&state, decoder, r); err != nil {
			errs = append(errs, err)
		}
	}
	for offset, r := range featureSets {
		r.Offset = int64(offset)
		if err := w.applyFeatureSet(&state, decoder, r); err != nil {
			errs = append(errs, err)
		}
	}
	return state, errs
}

func TestWatchExplorations(t *testing.T) {
	spec := plan(t, testSettings(taskRegression), events(t, taskRegression, 200, 90, faults{}), fullSpan(5))
	foreign := *spec
	foreign.Pipeline = "other"
	running, cancelled := wire.StatusRunning, wire.StatusCancelled
	for _, c := range []struct {
		name     string
		records  []pipeline.Record
		sequence int64
		runs     bool
		shadowed bool
		requests []int64
		errs     int
	}{
		{name: "nothing"},
		{name: "a spec", records: []pipeline.Record{specRecord(spec, 1, running, 0)}, sequence: 1, runs: true},
		{name: "a newer spec", records: []pipeline.Record{specRecord(spec, 1, running, 0), specRecord(spec, 2, running, 0)}, sequence: 2, runs: true},
		{name: "an older spec behind", records: []pipeline.Record{specRecord(spec, 2, running, 0), specRecord(spec, 1, running, 0)}, sequence: 2, runs: true, shadowed: true},
		{name: "written again", records: []pipeline.Record{specRecord(spec, 2, running, 0), specRecord(spec, 1, running, 0), specRecord(spec, 2, running, 0)}, sequence: 2, runs: true},
		{name: "cancelled", records: []pipeline.Record{specRecord(spec, 1, running, 0), specRecord(spec, 1, cancelled, 0)}, sequence: 1},
		{name: "another pipeline's", records: []pipeline.Record{specRecord(&foreign, 7, running, 0), requestRecord("other", "a")}},
		{name: "requests", records: []pipeline.Record{requestRecord("test", "a"), requestRecord("test", "b")}, requests: []int64{0, 1}},
		{name: "one answered", records: []pipeline.Record{requestRecord("test", "a"), requestRecord("test", "b"), specRecord(spec, 1, running, 1)},
			sequence: 1, runs: true, requests: []int64{1}},
		{name: "answered before it is read", records: []pipeline.Record{specRecord(spec, 1, running, 2), requestRecord("test", "a"), requestRecord("test", "b")},
			sequence: 1, runs: true, requests: []int64{2}},
		{name: "one refused", records: []pipeline.Record{requestRecord("test", "a"), requestRecord("test", "b"), keyed(wire.RequestKey("test", "a"), nil),
			keyed(wire.RequestKey("other", "b"), nil)}, requests: []int64{1}},
		{name: "tombstone", records: []pipeline.Record{specRecord(spec, 1, running, 0), keyed(wire.SpecKey("test"), nil)}, sequence: 1, runs: true},
		{name: "not understood", records: []pipeline.Record{specRecord(spec, 1, running, 0), keyed(wire.SpecKey("test"), []byte("x")),
			keyed(wire.RequestKey("test", "a"), []byte("x"))}, sequence: 1, runs: true, errs: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			state, errs := applied(c.records, nil)
			var requests []int64
			for _, r := range state.Requests {
				requests = append(requests, r.Offset)
			}
			if state.Sequence() != c.sequence || (state.Running() != nil) != c.runs || state.Shadowed != c.shadowed || !slices.Equal(requests, c.requests) || len(errs) != c.errs {
				t.Fatalf("sequence %d, runs %v, shadowed %v, requests %v, errors %v; want %+v", state.Sequence(), state.Running() != nil, state.Shadowed, requests, errs, c)
			}
			if state.Spec != nil && !state.SpecTime.Equal(noon) {
				t.Errorf("spec of %v", state.SpecTime)
			}
		})
	}
}

func TestWatchFeatureSets(t *testing.T) {
	s := testSettings(taskRegression)
	rows := []arrow.Record{events(t, taskRegression, 300, 91, faults{})}
	first := explore(t, s, rows).Set
	s.Exploration.Seed = 2
	second := explore(t, s, rows).Set
	second.Lineage.Sequence = 2
	a, b := first.ID(), second.ID()
	spec := plan(t, s, rows[0], fullSpan(5))
	for _, c := range []struct {
		name    string
		records []pipeline.Record
		current string // of the set in use
		held    []string
		errs    int
	}{
		{name: "nothing"},
		{name: "a set that is not in use yet", records: []pipeline.Record{setRecord(first)}, held: []string{a}},
		{name: "a set in use", records: []pipeline.Record{setRecord(first), currentRecord("test", a, 1)}, current: a, held: []string{a}},
		{name: "a newer one", records: []pipeline.Record{setRecord(first), currentRecord("test", a, 1), setRecord(second), currentRecord("test", b, 2)},
			current: b, held: []string{b, a}},
		{name: "a lower sequence is ignored", records: []pipeline.Record{setRecord(first), setRecord(second), currentRecord("test", b, 2), currentRecord("test", a, 1)},
			current: b, held: []string{b, a}},
		{name: "a set retired", records: []pipeline.Record{setRecord(first), setRecord(second), currentRecord("test", b, 2), keyed(wire.SetKey("test", a), nil)},
			current: b, held: []string{b}},
		{name: "a pointer to what is not there", records: []pipeline.Record{currentRecord("test", a, 1)}},
		{name: "another pipeline's", records: []pipeline.Record{keyed(wire.SetKey("other", a), must(wire.EncodeFeatureSet(first))), currentRecord("other", a, 1)}},
		{name: "a set under another's key", records: []pipeline.Record{keyed(wire.SetKey("test", b), must(wire.EncodeFeatureSet(first)))}, errs: 1},
		{name: "not understood", records: []pipeline.Record{setRecord(first), keyed(wire.SetKey("test", b), []byte("x")), keyed(wire.CurrentKey("test"), []byte("x")),
			keyed([]byte("test"), []byte("x"))}, held: []string{a}, errs: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			state, errs := applied([]pipeline.Record{specRecord(spec, 3, wire.StatusRunning, 0)}, c.records)
			current := ""
			if set := state.CurrentSet(); set != nil {
				current = set.ID
			}
			var held []string
			for _, set := range state.SetsBySequence() {
				held = append(held, set.ID)
			}
			if current != c.current || !slices.Equal(held, c.held) || len(errs) != c.errs {
				t.Fatalf("current %q, held %v, errors %v; want %+v", current, held, errs, c)
			}
			if state.Running() == nil || state.Sequence() != 3 {
				t.Fatal("the exploration of a higher sequence number is not under way")
			}
		})
	}
	over, _ := applied([]pipeline.Record{specRecord(spec, 2, wire.StatusRunning, 0)}, []pipeline.Record{setRecord(second), currentRecord("test", b, 2)})
	if over.Running() != nil {
		t.Error("an exploration runs although its set is out")
	}
}

// A state that somebody holds does not change under him.
func TestWatchStatesAreImmutable(t *testing.T) {
	set := explore(t, testSettings(taskRegression), []arrow.Record{events(t, taskRegression, 300, 92, faults{})}).Set
	w := NewWatch(nil, zap.NewNop(), "test", Default().Topics)
	decoder := arrowio.NewDecoder(w.limits)
	apply := func(r pipeline.Record, offset int64, do func(*State, *arrowio.Decoder, pipeline.Record) error) {
		r.Offset = offset
		w.update(func(s *State) {
			if err := do(s, decoder, r); err != nil {
				t.Fatal(err)
			}
		})
	}
	apply(requestRecord("test", "a"), 0, w.applyExploration)
	before := w.State()
	apply(requestRecord("test", "b"), 1, w.applyExploration)
	apply(requestRecord("test", "c"), 2, w.applyExploration)
	apply(setRecord(set), 0, w.applyFeatureSet)
	middle := w.State()
	apply(keyed(wire.SetKey("test", set.ID()), nil), 1, w.applyFeatureSet)
	if len(before.Requests) != 1 || len(before.Sets) != 0 || len(middle.Requests) != 3 || len(middle.Sets) != 1 || len(w.State().Sets) != 0 {
		t.Fatalf("states changed: %d requests and %d sets before, %d and %d between", len(before.Requests), len(before.Sets), len(middle.Requests), len(middle.Sets))
	}
}

func TestWatchWaitsUntilBothTopicsAreRead(t *testing.T) {
	spec := plan(t, testSettings(taskRegression), events(t, taskRegression, 200, 93, faults{}), fullSpan(5))
	synctest.Test(t, func(t *testing.T) {
		topics := Default().Topics
		broker := pipelinetest.NewBroker()
		broker.AddTopic(topics.Explorations, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		must(broker.Produce(ctx, topics.Explorations, 0, []pipeline.Record{specRecord(spec, 1, wire.StatusRunning, 0)}))
		w := NewWatch(broker, zap.NewNop(), "test", topics)
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		short, stop := context.WithTimeout(ctx, time.Minute)
		defer stop()
		if state, err := w.Wait(short, func(State) bool { return true }); err == nil {
			t.Fatalf("a state before feature-sets was read: %+v", state)
		}
		broker.AddTopic(topics.FeatureSets, 1)
		state, err := w.Wait(ctx, func(State) bool { return true })
		if err != nil || state.Running() == nil {
			t.Fatalf("state %+v, %v", state, err)
		}
		changed := w.Changed()
		must(broker.Produce(ctx, topics.Explorations, 0, []pipeline.Record{specRecord(spec, 2, wire.StatusRunning, 0)}))
		<-changed
		if state, err := w.Wait(ctx, func(s State) bool { return s.Sequence() == 2 }); err != nil || state.Spec.Sequence != 2 {
			t.Fatalf("state %+v, %v", state, err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if _, err := w.Wait(ctx, func(State) bool { return true }); err == nil {
			t.Fatal("a wait under an ended context succeeded")
		}
	})
}

// The board holds, of each partition, the checkpoint that has come furthest, in whatever order they are read.
func TestScoreboard(t *testing.T) {
	rows := events(t, taskRegression, 300, 94, faults{})
	spec := plan(t, testSettings(taskRegression), rows, wire.Partition{Partition: 0, EndOffset: -1}, wire.Partition{Partition: 1, EndOffset: -1})
	sub := newSubsampler(t, spec, spec.Partitions[1], nil)
	var checkpoints []pipeline.Record
	for offset, batch := range cut(t, rows, every(60)) {
		if _, err := sub.Add(int64(offset), []arrow.Record{batch}); err != nil {
			t.Fatal(err)
		}
		checkpoints = append(checkpoints, pipeline.Record{Partition: 1, Key: wire.CheckpointKey(spec.Exploration, spec.Pass), Value: must(wire.EncodeCheckpoint(sub.Checkpoint(noon)))})
	}
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	rapid.Check(t, func(rt *rapid.T) {
		board := newScoreboard()
		best := int64(0)
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 4), 1, 8).Draw(rt, "order") {
			changed := board.signal()
			if err := board.apply(decoder, checkpoints[i], "test"); err != nil {
				rt.Fatal(err)
			}
			<-changed
			best = max(best, int64(60*(i+1)))
		}
		got := board.of(spec)
		if len(got) != 1 || got[0].Partition != 1 || got[0].NextOrdinal != best {
			rt.Fatalf("%d checkpoints, the first at %d; want %d", len(got), got[0].NextOrdinal, best)
		}
	})
	board := newScoreboard()
	last := checkpoints[4]
	for name, r := range map[string]pipeline.Record{
		"another partition": {Partition: 0, Key: last.Key, Value: last.Value},
		"another key":       {Partition: 1, Key: []byte("test.9.x"), Value: last.Value},
		"not understood":    {Partition: 1, Key: last.Key, Value: []byte("x")},
	} {
		if err := board.apply(decoder, r, "test"); err == nil || len(board.of(spec)) != 0 {
			t.Errorf("%s: error %v, %d checkpoints", name, err, len(board.of(spec)))
		}
	}
	if err := board.apply(decoder, pipeline.Record{Partition: 1, Key: []byte("other.1.x"), Value: []byte("x")}, "test"); err != nil {
		t.Errorf("another pipeline's checkpoint was looked at: %v", err)
	}
	other := *spec
	other.SampleRate = 0.9 // under the same id: the hash tells
	if err := board.apply(decoder, last, "test"); err != nil || len(board.of(spec)) != 1 || len(board.of(&other)) != 0 {
		t.Errorf("error %v, %d checkpoints of the spec, %d of another", err, len(board.of(spec)), len(board.of(&other)))
	}
	if err := board.apply(decoder, pipeline.Record{Partition: 1, Key: last.Key}, "test"); err != nil || len(board.of(spec)) != 0 || len(board.newest) != 0 {
		t.Errorf("a tombstone left %d checkpoints", len(board.of(spec)))
	}
}
