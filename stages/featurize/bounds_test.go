package featurize

import (
	"bytes"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// A partition whose outputs cannot be written releases its slot, so that others continue, and
// finishes its message later.
func TestSlotIsReleasedWhileWaitingForBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRequestKit(t, 1500)
		slots := events.NewSlots(1)
		k.runner.Source.Slots = slots
		k.restart()
		k.send(event(t, 0, stagestest.Events(t, stagestest.Regression, 60, 41, stagestest.Faults{})))
		away := make(chan struct{})
		k.produced = func(string, []pipeline.Record) { <-away }
		stepped := make(chan error, 1)
		go func() { stepped <- k.step() }()
		synctest.Wait()
		other := events.Source{Limits: k.runner.Source.Limits, Slots: slots}.Reader(nil)
		if other.TryBegin() {
			t.Error("the slot is free before the message has waited")
			other.End()
		}
		if err := other.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		other.End()
		close(away)
		if err := <-stepped; err != nil {
			t.Fatal(err)
		}
		if err := k.part.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if rows := k.rows(0); !slices.Equal(rows, ascending(60)) {
			t.Errorf("rows %v", rows)
		}
		if c := k.runner.Env.Meter.Totals().Featurize; c.Messages != 1 || c.Rows != 60 || c.Featurized != 60 {
			t.Errorf("counts %+v", c)
		}
	})
}

// A message without rows is counted like any other, even if it arrives while earlier work waits for
// the broker.
func TestRereadMessageIsCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRequestKit(t, 100) // less than one row of output
		k.send(event(t, 0, stagestest.Events(t, stagestest.Regression, 2, 41, stagestest.Faults{})),
			event(t, 1, stagestest.Events(t, stagestest.Regression, 0, 41, stagestest.Faults{})))
		k.produced = func(string, []pipeline.Record) { time.Sleep(2 * patience) }
		if err := k.step(); err != nil {
			t.Fatal(err)
		}
		if err := k.part.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c := k.runner.Env.Meter.Totals().Featurize; c.Messages != 2 || c.Rows != 2 {
			t.Errorf("counts %+v", c)
		}
	})
}

// With memory for one output for all partitions, every row is written and the memory is released,
// even if a request fails.
func TestOutputsFitTheirMemory(t *testing.T) {
	for name, fails := range map[string]bool{"written": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			k := newRequestKit(t, 1500)
			k.runner.outputs = newOutputMemory(1500)
			var most int64
			k.produced = func(string, []pipeline.Record) { most = max(most, k.part.charged) }
			k.send(event(t, 0, stagestest.Events(t, stagestest.Regression, 60, 41, stagestest.Faults{})))
			if fails {
				k.FailNext("produce", pipeline.Permanent(pipeline.ErrDenied))
			}
			err := k.step()
			closed := k.part.Close(t.Context())
			if (err != nil || closed != nil) != fails {
				t.Fatalf("%v, %v", err, closed)
			}
			if !fails && !slices.Equal(k.rows(0), ascending(60)) {
				t.Errorf("rows %v", k.rows(0))
			}
			if most > 1500 || k.part.charged != 0 || !k.runner.outputs.free.TryAcquire(1500) {
				t.Errorf("%d bytes at most, %d at the end", most, k.part.charged)
			}
		})
	}
}

// Fetched memory may be overwritten once Process has returned, even if its request is in progress.
func TestRequestsDoNotReadReleasedRecords(t *testing.T) {
	k := newRequestKit(t, 1<<20)
	good := event(t, 0, stagestest.Events(t, stagestest.Regression, 60, 41, stagestest.SomeFaults))
	k.send(good, pipeline.Record{
		Key:     []byte("bad key"),
		Value:   []byte("no event"),
		Headers: []pipeline.Header{{Key: "trace", Value: []byte("of the sender")}},
	})
	fetched := k.Records(k.runner.Env.Topics.Events, 2)
	away := make(chan struct{})
	k.produced = func(string, []pipeline.Record) { <-away }
	if err := k.part.Process(t.Context(), pipeline.Fetched{Records: fetched, NextOffset: 2}); err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(fetched[0].Key)
	for _, r := range fetched {
		for _, b := range [][]byte{r.Key, r.Value} {
			clear(b)
		}
		for _, h := range r.Headers {
			clear(h.Value)
		}
	}
	close(away)
	if err := k.part.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if outputs := k.Records(k.runner.Env.Topics.Features, 2); len(outputs) != 1 || !bytes.Equal(outputs[0].Key, want) {
		t.Errorf("%d outputs, key %q", len(outputs), outputs[0].Key)
	}
	letters := k.deadLetters()
	last := letters[len(letters)-1]
	if header, _ := last.Header("trace"); string(last.Key) != "bad key" || string(last.Value) != "no event" ||
		string(header) != "of the sender" {
		t.Errorf("dead letter %q: %q, header %q", last.Key, last.Value, header)
	}
}

// Parts that are too large to copy are acknowledged when Process returns.
func TestLargeRequestsAreAwaited(t *testing.T) {
	k := newRequestKit(t, 1<<20)
	k.runner.Env.Partitions = 1 << 20 // the smallest share
	k.send(event(t, 0, stagestest.Events(t, stagestest.Regression, 60, 41, stagestest.Faults{})),
		pipeline.Record{Value: bytes.Repeat([]byte("x"), 70<<10)})
	if err := k.step(); err != nil {
		t.Fatal(err)
	}
	if k.part.request != nil || len(k.deadLetters()) != 1 {
		t.Errorf("a request is in progress, %d dead letters", len(k.deadLetters()))
	}
	if err := k.part.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Partitions with the same set prepare it once.
func TestPartitionsShareAPreparedSet(t *testing.T) {
	k := newRequestKit(t, 1<<20)
	first := k.part
	k.restart()
	for _, p := range []*partition{first, k.part} {
		if err := p.chooseSet(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if first.core.set != k.part.core.set || first.core.set.transform != k.part.core.set.transform {
		t.Error("packed twice")
	}
	first.core, k.part.core = nil, nil
	runtime.GC()
	if k.runner.sets.sets[k.set.ID()].Value() != nil {
		t.Error("an unused set is kept")
	}
}
