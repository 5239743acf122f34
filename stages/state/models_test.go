package state

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// modelsKit is a models topic and its writers.
type modelsKit struct {
	*pipelinetest.Broker
	t      *testing.T
	at     time.Time
	before func(rec pipeline.Record) // called with each record before the code under test writes it
}

func newModelsKit(t *testing.T) *modelsKit {
	return &modelsKit{Broker: newTopics(), t: t, at: noon}
}

func (k *modelsKit) clock() time.Time {
	k.at = k.at.Add(time.Second)
	return k.at
}

func (k *modelsKit) Produce(ctx context.Context, topic string, number int, records []pipeline.Record) (int64, error) {
	if before := k.before; before != nil {
		k.before = nil
		before(records[0])
		k.before = before
	}
	return k.Broker.Produce(ctx, topic, number, records)
}

// put writes a record of another process.
func (k *modelsKit) put(key, value []byte) {
	k.t.Helper()
	rec := pipeline.Record{Key: key, Value: value, Time: k.clock()}
	if _, err := k.Broker.Produce(k.t.Context(), testConfig.Models, 0, []pipeline.Record{rec}); err != nil {
		k.t.Fatal(err)
	}
}

// model writes a model that replaced another one, and returns its id.
func (k *modelsKit) model(weight float64, verdict wire.Verdict, incumbent string) string {
	k.t.Helper()
	m := &wire.Model{
		Pipeline: "test", FeatureSetID: "fs-1", Sequence: 1, TrainedAt: k.clock(), TrainRows: 10,
		Model: &training.Model{
			Features:  2,
			Outputs:   1,
			Theta:     []float64{weight, 1},
			Intercept: []float64{0},
			Loss:      training.LossSquared,
		},
		Judgement: &wire.Judgement{Verdict: verdict, Incumbent: incumbent, Rule: "better"},
	}
	value, err := wire.EncodeModel(m)
	if err != nil {
		k.t.Fatal(err)
	}
	id := wire.ModelID(m)
	k.put(wire.SetKey("test", id), value)
	return id
}

func (k *modelsKit) point(c wire.Current) {
	k.t.Helper()
	if c.Time.IsZero() {
		c.Time = k.clock()
	}
	value, err := wire.EncodeCurrent(&c)
	if err != nil {
		k.t.Fatal(err)
	}
	k.put(wire.CurrentKey("test"), value)
}

// chain writes n models, each of which replaced the one before, and returns their ids.
func (k *modelsKit) chain(n int) (ids []string) {
	before := ""
	for i := range n {
		verdict := wire.VerdictBetter
		if i == 0 {
			verdict = wire.VerdictFirst
		}
		id := k.model(float64(i), verdict, before)
		k.point(wire.Current{ID: id, Sequence: 1, Replaced: before})
		ids, before = append(ids, id), id
	}
	return ids
}

// following is a follower that has read the models.
func (k *modelsKit) following() (*Follower, Models) {
	k.t.Helper()
	f := following(k.t, k, TopicModels)
	return f, k.read(f)
}

func (k *modelsKit) read(f *Follower) Models {
	k.t.Helper()
	now, err := f.CatchUp(k.t.Context(), TopicModels)
	if err != nil {
		k.t.Fatal(err)
	}
	return now.Models
}

func (k *modelsKit) models() Models {
	k.t.Helper()
	_, m := k.following()
	return m
}

func (k *modelsKit) rollback(ask Rollback) (*wire.Current, error) {
	k.t.Helper()
	f, _ := k.following()
	ask.Time = k.clock()
	return f.Rollback(k.t.Context(), ask)
}

// inUse returns the current model according to the documented rule.
func (k *modelsKit) inUse() wire.Current {
	k.t.Helper()
	m := k.models()
	if m.Current == nil {
		k.t.Fatal("no model is current")
	}
	return *m.Current
}

// The memory of a model does not grow with its classes and partitions.
func TestModelEntriesAreSmall(t *testing.T) {
	const classes, partitions, models, most = 1000, 200, 40, ModelBytes
	f := New(nil, nil, testConfig)
	decoder := arrowio.NewDecoder(f.config.Limits())
	label := &encoder.Label{Columns: []string{"y"}, Kind: encoder.Category, Task: scoring.MultiClass}
	m := &wire.Model{
		Pipeline: "test", FeatureSetID: "fs-1", Sequence: 1, TrainedAt: noon, TrainRows: 10, Label: label,
		Judgement: &wire.Judgement{Verdict: wire.VerdictBetter, Rule: "better"},
	}
	for i := range classes {
		label.Classes = append(label.Classes, fmt.Sprintf("customer-segment-%04d", i))
		m.Metrics.Recall = append(m.Metrics.Recall, training.ClassRecall{Class: label.Classes[i], Rows: 10, Right: 5})
	}
	for p := range int32(partitions) {
		m.NotHeldOut = append(m.NotHeldOut, wire.Span{Partition: p, NextOffset: 1000, Log: "kQk3k2Z0T4mXh0vQk3k2Zw"})
		m.Ranges = append(m.Ranges, wire.Range{Partition: p, Log: "kQk3k2Z0T4mXh0vQk3k2Zw", NextOffset: 5, Rows: 5})
	}
	m.Model = &training.Model{
		Features:  2,
		Outputs:   classes,
		Theta:     make([]float64, 2*classes),
		Intercept: make([]float64, classes),
		Loss:      training.LossSquared,
	}
	var before, after runtime.MemStats
	for i := range models {
		if i == 1 { // later models reuse the buffers of the first
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
		m.Theta[0], m.ID = float64(i), ""
		value, err := wire.EncodeModel(m)
		if err != nil {
			t.Fatal(err)
		}
		do, err := f.decodeModel(decoder, pipeline.Record{
			Key:    wire.SetKey("test", wire.ModelID(m)),
			Value:  value,
			Time:   noon,
			Offset: int64(i),
		})
		if err != nil {
			t.Fatal(err)
		}
		do(&f.snapshot)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / (models - 1); kept > most ||
		len(f.snapshot.Models.entries) != models {
		t.Errorf("%d models, %d bytes kept of each, want at most %d", len(f.snapshot.Models.entries), kept, most)
	}
}

func TestModelsReadTheTopic(t *testing.T) {
	k := newModelsKit(t)
	if m := k.models(); m.Current != nil || len(m.Entries()) != 0 {
		t.Fatal("an empty topic lists models")
	}
	ids := k.chain(3)
	lost := k.model(77, wire.VerdictNotBetter, ids[2])
	k.put(wire.SetKey("other", "m-9"), []byte("of another pipeline"))
	k.put(wire.SetKey("test", ids[0]), nil)
	k.put(wire.SetKey("test", "m-8"), []byte("undecodable"))
	f, m := k.following()
	entries := m.Entries()
	if len(entries) != 4 || entries[0].Model != nil || entries[1].ID != lost || entries[1].Promoted() ||
		!entries[2].Promoted() || entries[3].ID != ids[1] {
		t.Errorf("listed models %+v", entries)
	}
	if entry, ok := m.CurrentEntry(); !ok || entry.ID != ids[2] || entry.Model.Model.Theta != nil {
		t.Errorf("current model %+v", entry)
	}
	full, err := f.LoadModel(t.Context(), entries[2])
	if err != nil || len(full.Model.Theta) != 2 {
		t.Errorf("%+v, %v", full, err)
	}
	k.Remove(testConfig.Models, 0, entries[2].Offset)
	if _, err := f.LoadModel(t.Context(), entries[2]); !errors.Is(err, ErrNoModel) {
		t.Errorf("load of a compacted model: %v", err)
	}
}

// A pointer back to a model of an earlier feature set keeps the sequence number, because readers
// ignore lower ones.
func TestRollbackIsNotIgnored(t *testing.T) {
	k := newModelsKit(t)
	ids := k.chain(1)
	later := k.model(9, wire.VerdictNewSet, ids[0])
	k.point(wire.Current{ID: later, Sequence: 5})
	current, err := k.rollback(Rollback{})
	if err != nil || current.Sequence != 5 || k.inUse().ID != ids[0] {
		t.Errorf("%+v, %v, current model %+v", current, err, k.inUse())
	}
}

// A trainer that did not see a rollback or another trainer's pointer restores it, whichever was
// written first.
func TestConcurrentPointerIsRestored(t *testing.T) {
	for name, other := range map[string]wire.Current{
		"a rollback":                      {Sequence: 1, Pin: wire.PinHold},
		"another trainer":                 {Sequence: 1},
		"another trainer, of a newer set": {Sequence: 3},
	} {
		k := newModelsKit(t)
		ids := k.chain(2)
		other.ID = ids[0]
		mine := k.model(5, wire.VerdictBetter, ids[1])
		f, m := k.following()
		written := 0
		k.before = func(pipeline.Record) {
			if written++; written == 1 {
				k.point(other)
			}
		}
		stays, err := f.PointModel(t.Context(), m, wire.Current{ID: mine, Sequence: 1, Time: k.clock()})
		if now := k.inUse(); err != nil || stays || now.ID != other.ID || now.Pin != other.Pin ||
			now.Sequence != other.Sequence {
			t.Errorf("%s: stays %v, %v; current model %+v", name, stays, err, now)
		}
		if now := f.Snapshot().Models.Current; now.ID != other.ID {
			t.Errorf("%s: trainer sees %s as current", name, now.ID)
		}
	}
}

// A rollback wins over trainers that write at the same time.
func TestRollbackWinsOverTrainers(t *testing.T) {
	k := newModelsKit(t)
	ids := k.chain(2)
	f, _ := k.following()
	written := 0
	k.before = func(pipeline.Record) {
		if written++; written <= 2 {
			k.point(wire.Current{ID: ids[1], Sequence: int64(1 + written)}) // of newer sets
		}
	}
	if _, err := f.Rollback(t.Context(), Rollback{To: ids[0], Pin: wire.PinHold, Time: k.clock()}); err != nil {
		t.Fatal(err)
	}
	if now := k.inUse(); now.ID != ids[0] || now.Pin != wire.PinHold || now.Sequence != 3 {
		t.Errorf("current model %+v", now)
	}
}

// A pointer with a lower sequence number after the last one is ignored, and overwritten before
// compaction keeps it.
func TestStalePointerIsOverwritten(t *testing.T) {
	k := newModelsKit(t)
	ids := k.chain(1)
	newer := k.model(4, wire.VerdictNewSet, ids[0])
	k.point(wire.Current{ID: newer, Sequence: 2})
	k.point(wire.Current{ID: ids[0], Sequence: 1})
	f, m := k.following()
	if m.Current.ID != newer {
		t.Fatalf("current %+v", m.Current)
	}
	if acted, err := f.Repair(t.Context(), OwnerTrainer, noon); err != nil || !acted {
		t.Fatalf("repaired %v, %v", acted, err)
	}
	records := k.Records(testConfig.Models, 0)
	last, err := wire.DecodeCurrent(records[len(records)-1].Value)
	if err != nil || last.ID != newer || last.Sequence != 2 {
		t.Errorf("the last record is %+v, %v", last, err)
	}
	if acted, err := f.Repair(t.Context(), OwnerTrainer,
		noon); err != nil || acted || len(k.Records(testConfig.Models, 0)) != len(records) {
		t.Errorf("a second repair wrote something: %v", err)
	}
}

// Compaction keeps the last record of a key even if it is not a pointer.
func TestInvalidPointerIsOverwritten(t *testing.T) {
	for _, value := range [][]byte{[]byte("hello"), nil} {
		k := newModelsKit(t)
		used := k.model(1, wire.VerdictFirst, "")
		k.model(2, wire.VerdictNotBetter, used)
		k.put(wire.CurrentKey("test"), value)
		f, m := k.following()
		if m.Current == nil || m.Current.ID != used {
			t.Fatalf("%q: current model %+v, want %s", value, m.Current, used)
		}
		if _, err := f.Repair(t.Context(), OwnerTrainer, noon); err != nil {
			t.Fatal(err)
		}
		if now := k.models(); len(f.Snapshot().Repairs) > 0 || now.Current.ID != used {
			t.Errorf("%q: afterwards %+v", value, now)
		}
	}
}

// Retries may write a pointer more than once. The process still recognises it as its own.
func TestRetriedPointerIsOwn(t *testing.T) {
	k := newModelsKit(t)
	ids := k.chain(1)
	mine := k.model(5, wire.VerdictBetter, ids[0])
	f, m := k.following()
	pointer := wire.Current{ID: mine, Sequence: 1, Time: k.clock()}
	k.before = func(pipeline.Record) { k.point(pointer) } // the answer to the first try was lost
	if stays, err := f.PointModel(t.Context(), m, pointer); err != nil || !stays {
		t.Errorf("stays %v, %v", stays, err)
	}
}

func TestOutdated(t *testing.T) {
	outdated := func(published map[string]time.Time, keep, days int) []string {
		return New(nil, nil, Config{Retention: time.Duration(days) * 24 * time.Hour}).outdated(published, keep, noon)
	}
	at := func(days int) time.Time { return noon.Add(-time.Duration(days) * 24 * time.Hour) }
	published := map[string]time.Time{"a": at(0), "b": at(1), "c": at(8), "d": at(9), "e": at(30), "e2": at(30)}
	for _, c := range []struct {
		keep int
		days int
		want []string
	}{
		{10, 7, nil},
		{6, 7, nil},
		{5, 7, []string{"e2"}}, // with equal times, the first by name stays
		{3, 7, []string{"d", "e", "e2"}},
		{2, 7, []string{"d", "e", "e2"}}, // c was current until b replaced it a day ago
		{1, 7, []string{"d", "e", "e2"}},
		{1, 0, []string{"c", "d", "e", "e2"}}, // b was current until now
		{0, 0, []string{"c", "d", "e", "e2"}}, // the newest always stays
		{0, 100, nil},
	} {
		if got := outdated(published, c.keep, c.days); !slices.Equal(got, c.want) {
			t.Errorf("keep %d, %d days: %v, want %v", c.keep, c.days, got, c.want)
		}
	}
	replaced := map[string]time.Time{"new": noon.Add(-time.Minute), "old": at(30), "older": at(31)}
	if got := outdated(replaced, 1, 7); !slices.Equal(got, []string{"older"}) {
		t.Errorf("outdated sets, of one replaced a minute ago and one replaced 30 days ago: %v", got)
	}
	if got := outdated(nil, 3, 0); got != nil {
		t.Errorf("outdated models without any: %v", got)
	}
}
