package stages

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/training"
)

// modelsKit is a models topic with whoever writes to it.
type modelsKit struct {
	*pipelinetest.Broker
	t       *testing.T
	runtime *Runtime
	at      time.Time
	before  func(rec pipeline.Record) // told of each record that the code under test writes, before it is there
}

func newModelsKit(t *testing.T) *modelsKit {
	k := &modelsKit{Broker: pipelinetest.NewBroker(), t: t, at: noon}
	s := testSettings(taskRegression)
	k.AddTopic(s.Topics.Models, 1)
	k.runtime = NewRuntime(k, s, zap.NewNop())
	k.runtime.Now = func() time.Time {
		k.at = k.at.Add(time.Second)
		return k.at
	}
	return k
}

func (k *modelsKit) Produce(ctx context.Context, topic string, number int, records []pipeline.Record) (int64, error) {
	if before := k.before; before != nil {
		k.before = nil
		before(records[0])
		k.before = before
	}
	return k.Broker.Produce(ctx, topic, number, records)
}

// put writes a record as somebody else does.
func (k *modelsKit) put(key, value []byte) {
	k.t.Helper()
	rec := pipeline.Record{Key: key, Value: value, Time: k.runtime.Clock()}
	if _, err := k.Broker.Produce(k.t.Context(), k.runtime.Settings.Topics.Models, 0, []pipeline.Record{rec}); err != nil {
		k.t.Fatal(err)
	}
}

// model writes a model that took the place of another one, and returns its id.
func (k *modelsKit) model(weight float64, verdict wire.Verdict, incumbent string) string {
	k.t.Helper()
	m := &wire.Model{
		Pipeline: "test", FeatureSetID: "fs-1", Sequence: 1, TrainedAt: k.runtime.Clock(), TrainRows: 10,
		Model:     &training.Model{Features: 2, Outputs: 1, Theta: []float64{weight, 1}, Intercept: []float64{0}, Loss: training.LossSquared},
		Judgement: &wire.Judgement{Verdict: verdict, Incumbent: incumbent, Rule: PromoteBetter},
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
		c.Time = k.runtime.Clock()
	}
	value, err := wire.EncodeCurrent(&c)
	if err != nil {
		k.t.Fatal(err)
	}
	k.put(wire.CurrentKey("test"), value)
}

// chain writes so many models, each in the place of the one before, and returns their ids.
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

func (k *modelsKit) models() *Models {
	k.t.Helper()
	m := NewModels(k.runtime)
	if err := m.Refresh(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
	return m
}

// inUse is what a reader that keeps to the documented rule takes.
func (k *modelsKit) inUse() wire.Current {
	k.t.Helper()
	m := k.models()
	if m.Current() == nil {
		k.t.Fatal("no model is in use")
	}
	return *m.Current()
}

func TestModelsReadTheTopic(t *testing.T) {
	k := newModelsKit(t)
	if m := k.models(); m.Current() != nil || len(m.Entries()) != 0 {
		t.Fatal("an empty topic has models")
	}
	ids := k.chain(3)
	lost := k.model(77, wire.VerdictWorse, ids[2])
	k.put(wire.SetKey("other", "m-9"), []byte("of another pipeline"))
	k.put(wire.SetKey("test", ids[0]), nil)
	k.put(wire.SetKey("test", "m-8"), []byte("not understood"))
	m := k.models()
	entries := m.Entries()
	if len(entries) != 4 || entries[0].Model != nil || entries[1].ID != lost || entries[1].Promoted() || !entries[2].Promoted() || entries[3].ID != ids[1] {
		t.Errorf("%+v", entries)
	}
	if entry, ok := m.CurrentEntry(); !ok || entry.ID != ids[2] || entry.Model.Model.Theta != nil {
		t.Errorf("in use %+v", entry)
	}
	full, err := m.Load(t.Context(), entries[2])
	if err != nil || len(full.Model.Theta) != 2 {
		t.Errorf("%+v, %v", full, err)
	}
	k.Remove(k.runtime.Settings.Topics.Models, 0, entries[2].Offset)
	if _, err := m.Load(t.Context(), entries[2]); !errors.Is(err, ErrNoModel) {
		t.Errorf("a model that compaction has removed: %v", err)
	}
}

func TestFindModel(t *testing.T) {
	k := newModelsKit(t)
	ids := k.chain(3)
	k.put(wire.SetKey("test", ids[0]), nil)
	m := k.models()
	for given, want := range map[string]string{ids[1]: ids[1], ids[2][:10]: ids[2]} {
		if entry, err := m.Find(given); err != nil || entry.ID != want {
			t.Errorf("%s: %s, %v", given, entry.ID, err)
		}
	}
	for given, want := range map[string]string{
		ids[0]:     "any more: the newest 10 that were in use are kept",
		"m-feed":   "nothing there mentions it",
		ids[1][:3]: "nothing there mentions it", // too short to mean one
	} {
		if _, err := m.Find(given); !errors.Is(err, ErrNoModel) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", given, err)
		}
	}
	// One that compaction has taken with its tombstone is known from the one that took its place.
	k = newModelsKit(t)
	k.point(wire.Current{ID: k.model(1, wire.VerdictBetter, "m-gone"), Sequence: 1})
	if _, err := k.models().Find("m-gone"); !strings.Contains(fmt.Sprint(err), "any more") {
		t.Error(err)
	}
}

func TestRollback(t *testing.T) {
	k := newModelsKit(t)
	ids := k.chain(3)
	for _, want := range []string{ids[1], ids[0]} { // one after another goes further back
		current, err := k.models().Rollback(t.Context(), Rollback{Pin: wire.PinHold, Reason: "bad"})
		if err != nil || current.ID != want || k.inUse().ID != want || k.inUse().Pin != wire.PinHold || k.inUse().Reason != "bad" {
			t.Fatalf("%+v, %v; in use %+v", current, err, k.inUse())
		}
	}
	if _, err := k.models().Rollback(t.Context(), Rollback{}); !errors.Is(err, ErrNothingToRollBackTo) {
		t.Errorf("behind the first: %v", err)
	}
	current, err := k.models().Rollback(t.Context(), Rollback{To: ids[2][:12], Pin: wire.PinBeaten})
	if err != nil || k.inUse().ID != ids[2] || k.inUse().Pin != wire.PinBeaten || current.Replaced != ids[0] {
		t.Errorf("to the newest: %+v, %v", current, err)
	}
	if _, err := k.models().Rollback(t.Context(), Rollback{To: "m-unknown"}); !errors.Is(err, ErrNoModel) || k.inUse().ID != ids[2] {
		t.Errorf("to nothing: %v", err)
	}
	free, was, err := k.models().Unpin(t.Context(), "mended")
	if err != nil || was != wire.PinBeaten || free.Pin != "" || k.inUse().Pin != "" || k.inUse().ID != ids[2] {
		t.Errorf("unpinned %+v, was %q, %v", free, was, err)
	}
	records := len(k.Records(k.runtime.Settings.Topics.Models, 0))
	if _, was, err := k.models().Unpin(t.Context(), ""); err != nil || was != "" || len(k.Records(k.runtime.Settings.Topics.Models, 0)) != records {
		t.Errorf("unpinned twice: %q, %v", was, err)
	}
}

func TestRollbackOfNothing(t *testing.T) {
	k := newModelsKit(t)
	if _, err := k.models().Rollback(t.Context(), Rollback{}); !errors.Is(err, ErrNothingToRollBackTo) {
		t.Error(err)
	}
	if _, _, err := k.models().Unpin(t.Context(), ""); err == nil {
		t.Error("nothing was unpinned")
	}
}

// A pointer back to a model of an earlier feature set keeps the sequence number: readers ignore lower ones.
func TestRollbackIsNotIgnored(t *testing.T) {
	k := newModelsKit(t)
	ids := k.chain(1)
	later := k.model(9, wire.VerdictNewSet, ids[0])
	k.point(wire.Current{ID: later, Sequence: 5})
	current, err := k.models().Rollback(t.Context(), Rollback{})
	if err != nil || current.Sequence != 5 || k.inUse().ID != ids[0] {
		t.Errorf("%+v, %v, in use %+v", current, err, k.inUse())
	}
}

// A trainer that did not know of a rollback gives way to it, whatever came first; so does one of two trainers.
func TestAPointerThatCameBetweenIsPutBack(t *testing.T) {
	for name, other := range map[string]wire.Current{
		"a rollback":                      {Sequence: 1, Pin: wire.PinHold},
		"another trainer":                 {Sequence: 1},
		"another trainer, of a newer set": {Sequence: 3},
	} {
		k := newModelsKit(t)
		ids := k.chain(2)
		other.ID = ids[0]
		m := k.models()
		mine := k.model(5, wire.VerdictBetter, ids[1])
		if err := m.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		written := 0
		k.before = func(pipeline.Record) {
			if written++; written == 1 {
				k.point(other)
			}
		}
		stays, err := m.point(t.Context(), wire.Current{ID: mine, Sequence: 1, Time: k.runtime.Clock()})
		if now := k.inUse(); err != nil || stays || now.ID != other.ID || now.Pin != other.Pin || now.Sequence != other.Sequence {
			t.Errorf("%s: stays %v, %v; in use %+v", name, stays, err, now)
		}
		if m.Current().ID != other.ID {
			t.Errorf("%s: the trainer takes %s for the model in use", name, m.Current().ID)
		}
	}
}

// A rollback stands even if trainers write meanwhile.
func TestARollbackInsists(t *testing.T) {
	k := newModelsKit(t)
	ids := k.chain(2)
	m := k.models()
	written := 0
	k.before = func(pipeline.Record) {
		if written++; written <= 2 {
			k.point(wire.Current{ID: ids[1], Sequence: int64(1 + written)}) // of newer sets
		}
	}
	if _, err := m.Rollback(t.Context(), Rollback{To: ids[0], Pin: wire.PinHold}); err != nil {
		t.Fatal(err)
	}
	if now := k.inUse(); now.ID != ids[0] || now.Pin != wire.PinHold || now.Sequence != 3 {
		t.Errorf("in use %+v", now)
	}
}

// A pointer of a lower sequence number behind the last one is ignored, and written over before compaction keeps it.
func TestAnOlderPointerIsWrittenOver(t *testing.T) {
	k := newModelsKit(t)
	ids := k.chain(1)
	newer := k.model(4, wire.VerdictNewSet, ids[0])
	k.point(wire.Current{ID: newer, Sequence: 2})
	k.point(wire.Current{ID: ids[0], Sequence: 1})
	m := k.models()
	if m.Current().ID != newer {
		t.Fatalf("in use %+v", m.Current())
	}
	if err := m.repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	records := k.Records(k.runtime.Settings.Topics.Models, 0)
	last, err := wire.DecodeCurrent(m.decoder, records[len(records)-1].Value)
	if err != nil || last.ID != newer || last.Sequence != 2 {
		t.Errorf("the last record says %+v, %v", last, err)
	}
	if err := m.repair(t.Context()); err != nil || len(k.Records(k.runtime.Settings.Topics.Models, 0)) != len(records) {
		t.Errorf("written again: %v", err)
	}
}

// The broker may be away in the middle: the pointer is then written by several tries, which is nobody else's.
func TestAPointerThatTookSeveralTries(t *testing.T) {
	k := newModelsKit(t)
	ids := k.chain(1)
	m := k.models()
	mine := k.model(5, wire.VerdictBetter, ids[0])
	if err := m.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	pointer := wire.Current{ID: mine, Sequence: 1, Time: k.runtime.Clock()}
	k.before = func(pipeline.Record) { k.point(pointer) } // the answer to the first try was lost
	if stays, err := m.point(t.Context(), pointer); err != nil || !stays {
		t.Errorf("stays %v, %v", stays, err)
	}
}
