package state

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/outside"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// applied is the snapshot after records of the two topics.
func applied(explorations, featureSets []pipeline.Record) (now Snapshot, faults int) {
	f := New(nil, zap.NewNop(), testConfig)
	decoder := arrowio.NewDecoder(testConfig.Limits())
	now = f.Snapshot()
	apply := func(records []pipeline.Record, decode func(*arrowio.Decoder, pipeline.Record) (update, error)) {
		for offset, r := range records {
			r.Offset = int64(offset)
			change, err := decode(decoder, r)
			if err != nil {
				faults++
			}
			if change != nil {
				change(&now)
			}
		}
	}
	apply(explorations, f.decodeExploration)
	apply(featureSets, f.decodeFeatureSet)
	return now, faults
}

func TestExplorations(t *testing.T) {
	spec := testSpec()
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
		faults   int
	}{
		{name: "nothing"},
		{name: "a spec", records: []pipeline.Record{specRecord(spec, 1, running, 0)}, sequence: 1, runs: true},
		{
			name:     "a newer spec",
			records:  []pipeline.Record{specRecord(spec, 1, running, 0), specRecord(spec, 2, running, 0)},
			sequence: 2,
			runs:     true,
		},
		{
			name:     "an older spec after it",
			records:  []pipeline.Record{specRecord(spec, 2, running, 0), specRecord(spec, 1, running, 0)},
			sequence: 2,
			runs:     true,
			shadowed: true,
		},
		{
			name: "rewritten",
			records: []pipeline.Record{
				specRecord(spec, 2, running, 0),
				specRecord(spec, 1, running, 0),
				specRecord(spec, 2, running, 0),
			},
			sequence: 2,
			runs:     true,
		},
		{
			name:     "cancelled",
			records:  []pipeline.Record{specRecord(spec, 1, running, 0), specRecord(spec, 1, cancelled, 0)},
			sequence: 1,
		},
		{
			name:    "another pipeline's",
			records: []pipeline.Record{specRecord(&foreign, 7, running, 0), requestRecord("other", "a")},
		},
		{
			name:     "requests",
			records:  []pipeline.Record{requestRecord("test", "a"), requestRecord("test", "b")},
			requests: []int64{0, 1},
		},
		{
			name:     "one resent",
			records:  []pipeline.Record{requestRecord("test", "a"), requestRecord("test", "b"), requestRecord("test", "a")},
			requests: []int64{1, 2},
		},
		{
			name:     "one answered",
			records:  []pipeline.Record{requestRecord("test", "a"), requestRecord("test", "b"), specRecord(spec, 1, running, 1)},
			sequence: 1,
			runs:     true,
			requests: []int64{1},
		},
		{
			name: "a spec that claims to answer later requests",
			records: []pipeline.Record{
				requestRecord("test", "a"),
				specRecord(spec, 1, running, outside.MaxCount),
				requestRecord("test", "b"),
			},
			sequence: 1,
			runs:     true,
			requests: []int64{2},
		},
		{
			name: "one refused",
			records: []pipeline.Record{
				requestRecord("test", "a"),
				requestRecord("test", "b"),
				keyed(wire.RequestKey("test", "a"), nil),
				keyed(wire.RequestKey("other", "b"), nil),
			},
			requests: []int64{1},
		},
		{
			name:     "tombstone",
			records:  []pipeline.Record{specRecord(spec, 1, running, 0), keyed(wire.SpecKey("test"), nil)},
			sequence: 1,
			runs:     true,
			shadowed: true,
			faults:   1,
		},
		{
			name: "undecodable",
			records: []pipeline.Record{
				specRecord(spec, 1, running, 0),
				keyed(wire.SpecKey("test"), []byte("x")),
				keyed(wire.RequestKey("test", "a"), []byte("x")),
			},
			sequence: 1,
			runs:     true,
			shadowed: true,
			requests: []int64{2},
			faults:   2,
		},
		{
			name: "rewritten after an undecodable one",
			records: []pipeline.Record{
				specRecord(spec, 1, running, 0),
				keyed(wire.SpecKey("test"), []byte("x")),
				specRecord(spec, 1, running, 0),
			},
			sequence: 1,
			runs:     true,
			faults:   1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			state, faults := applied(c.records, nil)
			var requests []int64
			for _, r := range state.Requests {
				requests = append(requests, r.Offset)
			}
			if state.Sequence() != c.sequence || (state.Running() != nil) != c.runs ||
				state.Damaged(RecordSpec) != c.shadowed || !slices.Equal(requests, c.requests) || faults != c.faults {
				t.Fatalf("sequence %d, runs %v, shadowed %v, requests %v, %d faults; want %+v", state.Sequence(),
					state.Running() != nil, state.Damaged(RecordSpec), requests, faults, c)
			}
			if state.Spec != nil && !state.SpecTime.Equal(noon) {
				t.Errorf("spec of %v", state.SpecTime)
			}
		})
	}
}

func TestFeatureSets(t *testing.T) {
	first, second, spec := testSet(1), testSet(2), testSpec()
	a, b := first.ID(), second.ID()
	for _, c := range []struct {
		name    string
		records []pipeline.Record
		current string
		kept    []string
		faults  int
	}{
		{name: "nothing"},
		{name: "a set without a pointer", records: []pipeline.Record{setRecord(first)}, kept: []string{a}},
		{
			name:    "a current set",
			records: []pipeline.Record{setRecord(first), currentRecord("test", a, 1)},
			current: a,
			kept:    []string{a},
		},
		{
			name: "a newer one",
			records: []pipeline.Record{
				setRecord(first),
				currentRecord("test", a, 1),
				setRecord(second),
				currentRecord("test", b, 2),
			},
			current: b,
			kept:    []string{b, a},
		},
		{
			name: "a lower sequence is ignored",
			records: []pipeline.Record{
				setRecord(first),
				setRecord(second),
				currentRecord("test", b, 2),
				currentRecord("test", a, 1),
			},
			current: b,
			kept:    []string{b, a},
		},
		{
			name: "a set retired",
			records: []pipeline.Record{
				setRecord(first),
				setRecord(second),
				currentRecord("test", b, 2),
				keyed(wire.SetKey("test", a), nil),
			},
			current: b,
			kept:    []string{b},
		},
		{name: "a pointer to a missing set", records: []pipeline.Record{currentRecord("test", a, 1)}},
		{
			name: "another pipeline's",
			records: []pipeline.Record{
				keyed(wire.SetKey("other", a), must(wire.EncodeFeatureSet(first))),
				currentRecord("other", a, 1),
			},
		},
		{
			name:    "a set under another's key",
			records: []pipeline.Record{keyed(wire.SetKey("test", b), must(wire.EncodeFeatureSet(first)))},
			faults:  1,
		},
		{
			name: "undecodable",
			records: []pipeline.Record{
				setRecord(first),
				keyed(wire.SetKey("test", b), []byte("x")),
				keyed(wire.CurrentKey("test"), []byte("x")),
				keyed([]byte("test"), []byte("x")),
			},
			current: a,
			kept:    []string{a},
			faults:  2,
		},
		{
			name:    "compaction left only an undecodable pointer",
			records: []pipeline.Record{setRecord(second), setRecord(first), keyed(wire.CurrentKey("test"), []byte("hello"))},
			current: b,
			kept:    []string{b, a},
			faults:  1,
		},
		{
			name:    "a pointer deleted",
			records: []pipeline.Record{setRecord(first), currentRecord("test", a, 1), keyed(wire.CurrentKey("test"), nil)},
			current: a,
			kept:    []string{a},
			faults:  1,
		},
		{
			name:    "an undecodable pointer without a set",
			records: []pipeline.Record{keyed(wire.CurrentKey("test"), []byte("hello"))},
			faults:  1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			state, faults := applied([]pipeline.Record{specRecord(spec, 3, wire.StatusRunning, 0)}, c.records)
			current := ""
			if set := state.CurrentSet(); set != nil {
				current = set.ID
			}
			var kept []string
			for _, set := range state.SetsBySequence() {
				kept = append(kept, set.ID)
			}
			if current != c.current || !slices.Equal(kept, c.kept) || faults != c.faults {
				t.Fatalf("current %q, kept %v, %d faults; want %+v", current, kept, faults, c)
			}
			if state.Running() == nil || state.Sequence() != 3 {
				t.Fatal("the exploration with the higher sequence number is not running")
			}
		})
	}
	over, _ := applied([]pipeline.Record{specRecord(spec, 2, wire.StatusRunning, 0)},
		[]pipeline.Record{setRecord(second), currentRecord("test", b, 2)})
	if over.Running() != nil {
		t.Error("an exploration runs although its set is published")
	}
}

// A process that starts after a set and its pointer were overwritten and deleted does not know them
// and plans an exploration. Processes that remember the set must take part in it.
func TestExploreAfterLosingSetAndPointer(t *testing.T) {
	set, spec := testSet(2), testSpec()
	published := []pipeline.Record{setRecord(set), currentRecord("test", set.ID(), 2)}
	pointer := keyed(wire.CurrentKey("test"), []byte("hello"))
	record := keyed(wire.SetKey("test", set.ID()), []byte("hello"))
	deleted := keyed(wire.SetKey("test", set.ID()), nil)
	for name, c := range map[string]struct {
		records []pipeline.Record
		lost    bool
	}{
		"pointer": {[]pipeline.Record{pointer}, false},
		"set":     {[]pipeline.Record{record}, false},
		"both":    {[]pipeline.Record{pointer, record}, false},
		"both, deleted by a process without the set": {[]pipeline.Record{pointer, record, deleted}, true},
		"the set first": {[]pipeline.Record{record, deleted, pointer}, true},
	} {
		state, _ := applied([]pipeline.Record{specRecord(spec, 2, wire.StatusRunning, 0)},
			slices.Concat(published, c.records))
		if state.CurrentLost() != c.lost || (state.Running() != nil) != c.lost {
			t.Errorf("%s: lost %v, running %v", name, state.CurrentLost(), state.Running() != nil)
		}
	}
}

// The broker has lost the set and the plan. Their owners may restart without having seen them, so
// replacements count with lower sequence numbers too.
func TestReplacementsAfterALossNeedNoHigherSequence(t *testing.T) {
	broker, set := newTopics(), testSet(3)
	put := func(topic string, records ...pipeline.Record) {
		must(broker.Produce(t.Context(), topic, 0, records))
	}
	put(testConfig.Explorations, specRecord(testSpec(), 3, wire.StatusRunning, 0))
	put(testConfig.FeatureSets, setRecord(set), currentRecord("test", set.ID(), 3))
	f := following(t, broker)
	must(f.Wait(t.Context(), func(s Snapshot) bool { return s.CurrentSet() != nil && s.Running() == nil }))
	broker.LoseEnd(testConfig.FeatureSets, 0, 0)
	must(f.Wait(t.Context(), func(s Snapshot) bool { return s.CurrentSet() != nil && s.Running() != nil }))
	put(testConfig.FeatureSets, setRecord(set), currentRecord("test", set.ID(), 3))
	must(f.Wait(t.Context(), func(s Snapshot) bool { return s.Running() == nil }))

	broker.LoseEnd(testConfig.FeatureSets, 0, 0)
	broker.LoseEnd(testConfig.Explorations, 0, 0)
	must(f.Wait(t.Context(), func(s Snapshot) bool { return s.gone(RecordSet, set.ID()) && s.Damaged(RecordSpec) }))
	next := testSet(2)
	put(testConfig.Explorations, specRecord(testSpec(), 2, wire.StatusRunning, 0))
	put(testConfig.FeatureSets, setRecord(next), currentRecord("test", next.ID(), 2))
	must(f.Wait(t.Context(), func(s Snapshot) bool {
		return s.Spec.Sequence == 2 && s.Current.ID == next.ID() && len(s.Repairs) == 0
	}))
}

// Later updates do not change a snapshot.
func TestSnapshotsAreImmutable(t *testing.T) {
	set := testSet(1)
	f := New(nil, zap.NewNop(), testConfig)
	decoder := arrowio.NewDecoder(testConfig.Limits())
	apply := func(r pipeline.Record, offset int64, decode func(*arrowio.Decoder, pipeline.Record) (update, error)) {
		r.Offset = offset
		change := must(decode(decoder, r))
		f.change(func() { change(&f.snapshot) })
	}
	apply(requestRecord("test", "a"), 0, f.decodeExploration)
	before := f.Snapshot()
	apply(requestRecord("test", "b"), 1, f.decodeExploration)
	apply(requestRecord("test", "c"), 2, f.decodeExploration)
	apply(setRecord(set), 0, f.decodeFeatureSet)
	middle := f.Snapshot()
	apply(keyed(wire.SetKey("test", set.ID()), nil), 1, f.decodeFeatureSet)
	if len(before.Requests) != 1 || len(before.Sets) != 0 || len(middle.Requests) != 3 || len(middle.Sets) != 1 ||
		len(f.Snapshot().Sets) != 0 {
		t.Fatalf("snapshots changed: %d requests and %d sets before, %d and %d between", len(before.Requests),
			len(before.Sets), len(middle.Requests), len(middle.Sets))
	}
}

func TestWaitUntilBothTopicsAreRead(t *testing.T) {
	spec := testSpec()
	synctest.Test(t, func(t *testing.T) {
		broker := pipelinetest.NewBroker()
		broker.AddTopic(testConfig.Explorations, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		must(broker.Produce(ctx, testConfig.Explorations, 0, []pipeline.Record{specRecord(spec, 1, wire.StatusRunning, 0)}))
		f := New(broker, zap.NewNop(), testConfig)
		ended := make(chan error, 1)
		go func() { ended <- f.Run(ctx) }()
		short, stop := context.WithTimeout(ctx, time.Minute)
		defer stop()
		if now, err := f.Wait(short, anything); err == nil {
			t.Fatalf("Wait returned before feature-sets was read: %+v", now)
		}
		broker.AddTopic(testConfig.FeatureSets, 1)
		now, err := f.Wait(ctx, anything)
		if err != nil || now.Running() == nil {
			t.Fatalf("%+v, %v", now, err)
		}
		changed := f.Changed()
		must(broker.Produce(ctx, testConfig.Explorations, 0, []pipeline.Record{specRecord(spec, 2, wire.StatusRunning, 0)}))
		<-changed
		if now, err := f.Wait(ctx, func(s Snapshot) bool { return s.Sequence() == 2 }); err != nil || now.Spec.Sequence != 2 {
			t.Fatalf("%+v, %v", now, err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if _, err := f.Wait(ctx, anything); err == nil {
			t.Fatal("Wait with an ended context succeeded")
		}
	})
}

// Sets beyond the number to keep are retired, but never the current one.
func TestRetireSets(t *testing.T) {
	broker := newTopics()
	config := testConfig
	config.KeepFeatureSets, config.Retention = 1, time.Hour
	f := New(broker, zap.NewNop(), config)
	run(t, f)
	var ids []string
	for i := range int64(4) {
		at := noon.Add(time.Duration(i) * 24 * time.Hour)
		id := must(f.PublishSet(t.Context(), testSet(i+1), at))
		ids = append(ids, id)
	}
	if err := f.PointSet(t.Context(), &wire.Current{ID: ids[1], Sequence: 4, Time: noon}, noon); err != nil {
		t.Fatal(err)
	}
	if err := f.RetireSets(t.Context(), noon.Add(100*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if sets := f.Snapshot().SetsBySequence(); len(sets) != 2 || sets[0].ID != ids[3] || sets[1].ID != ids[1] {
		t.Errorf("kept sets %+v", sets)
	}
}

// A follower may run more than once and starts over each time. Between runs it keeps its snapshot.
func TestDuring(t *testing.T) {
	broker := newTopics()
	f := New(broker, zap.NewNop(), testConfig)
	for sequence := range int64(2) {
		must(broker.Produce(t.Context(), testConfig.Explorations, 0,
			[]pipeline.Record{specRecord(testSpec(), sequence+1, wire.StatusRunning, 0)}))
		err := f.During(t.Context(), func(_ context.Context, now Snapshot) error {
			if now.Sequence() != sequence+1 {
				t.Errorf("sequence %d", now.Sequence())
			}
			return nil
		})
		if err != nil || f.Snapshot().Sequence() != sequence+1 {
			t.Fatal(err)
		}
	}
	wrong := errors.New("wrong")
	if err := f.During(t.Context(), func(context.Context, Snapshot) error { return wrong }); !errors.Is(err, wrong) {
		t.Error(err)
	}
	broker.FailNext(pipeline.OpOffsets, pipeline.Permanent(pipeline.ErrDenied))
	if err := f.During(t.Context(), func(context.Context, Snapshot) error { return nil },
		TopicModels); !errors.Is(err, pipeline.ErrDenied) {
		t.Error(err)
	}
}

// Models are followed once a caller asks for them. If that fails, the caller gets an error, and the
// follower keeps running.
func TestAskForModels(t *testing.T) {
	k := newModelsKit(t)
	ids := k.chain(2)
	f := following(t, k.Broker)
	must(f.Wait(t.Context(), anything))
	if f.Snapshot().Models.Current != nil {
		t.Error("models were followed before the first request")
	}
	k.Broker.FailNext(pipeline.OpOffsets, pipeline.Permanent(pipeline.ErrDenied))
	if err := f.Ask(); err != nil {
		t.Error(err)
	}
	if _, err := f.wait(t.Context(), []Topic{TopicModels}, anything); !errors.Is(err, pipeline.ErrDenied) {
		t.Error(err)
	}
	if err := f.Ask(); !errors.Is(err, pipeline.ErrDenied) {
		t.Error(err)
	}
	now, err := f.WaitModels(t.Context(), anything)
	for errors.Is(err, pipeline.ErrDenied) { // it is retried in a moment
		now, err = f.WaitModels(t.Context(), anything)
	}
	if err != nil || now.Models.Current.ID != ids[1] || f.Ask() != nil {
		t.Errorf("%+v, %v", now.Models.Current, err)
	}
}

// A spec of another format version is an undecodable record. A request of another version is kept,
// because the planner answers it.
func TestRecordsOfOtherVersions(t *testing.T) {
	other, restart := specRecord(testSpec(), 3, wire.StatusRunning, 0), requestRecord("test", "r")
	other.Value, restart.Value = ofAnotherVersion(other.Value), ofAnotherVersion(restart.Value)
	now, faults := applied([]pipeline.Record{other, restart}, nil)
	if faults != 2 || now.Spec != nil || !now.SpecLost() || now.Running() != nil {
		t.Fatalf("%d faults, spec %+v", faults, now.Spec)
	}
	if len(now.Requests) != 1 || now.Requests[0].Fault == nil || now.Requests[0].ID != "r" ||
		now.Requests[0].Action != "" {
		t.Errorf("requests %+v", now.Requests)
	}
	now, _ = applied([]pipeline.Record{other, specRecord(testSpec(), 4, wire.StatusRunning, 2)}, nil)
	if now.Running() == nil || now.Sequence() != 4 || now.Damaged(RecordSpec) || now.SpecLost() {
		t.Errorf("before one of this version: %+v", now.Spec)
	}
	now, _ = applied([]pipeline.Record{specRecord(testSpec(), 4, wire.StatusRunning, 2), other}, nil)
	if now.Running() == nil || now.Sequence() != 4 || !now.Damaged(RecordSpec) {
		t.Errorf("after one of this version: %+v", now.Spec)
	}
}

// Following continues after the unchanged part of a truncated topic, and nothing is listed twice.
func TestFollowATruncatedTopic(t *testing.T) {
	broker := newTopics()
	put := func(r pipeline.Record) {
		must(broker.Produce(t.Context(), testConfig.Explorations, 0, []pipeline.Record{r}))
	}
	put(requestRecord("test", "a"))
	put(requestRecord("test", "b"))
	f := following(t, broker)
	must(f.Wait(t.Context(), func(s Snapshot) bool { return len(s.Requests) == 2 }))
	broker.LoseEnd(testConfig.Explorations, 0, 1)
	must(f.Wait(t.Context(), func(s Snapshot) bool { return s.next[TopicExplorations] == 1 }))
	put(specRecord(testSpec(), 1, wire.StatusRunning, 0))
	now := must(f.Wait(t.Context(), func(s Snapshot) bool { return s.Spec != nil }))
	if len(now.Requests) != 2 {
		t.Errorf("%+v", now.Requests)
	}
}
