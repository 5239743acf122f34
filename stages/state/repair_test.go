package state

import (
	"runtime"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

func TestOwnersRewriteOverwrittenRecords(t *testing.T) {
	broker := newTopics()
	models := &modelsKit{Broker: broker, t: t, at: noon}
	set := testSet(1)
	garbage := []byte("hello")
	progress := &wire.Progress{Exploration: "test.1.abc", Sequence: 1, Rows: 10, Round: 1, Rounds: 2, Time: noon}
	explorations := []pipeline.Record{
		specRecord(testSpec(), 1, wire.StatusRunning, 0),
		keyed(wire.ProgressKey("test"), must(wire.EncodeProgress(progress))),
	}
	sets := []pipeline.Record{setRecord(set), currentRecord("test", set.ID(), 1)}
	must(broker.Produce(t.Context(), testConfig.Explorations, 0, explorations))
	must(broker.Produce(t.Context(), testConfig.FeatureSets, 0, sets))
	model := models.chain(1)[0]
	f := following(t, broker, TopicExplorations, TopicFeatureSets, TopicModels)
	all := []Topic{TopicExplorations, TopicFeatureSets, TopicModels}
	now := must(f.CatchUp(t.Context(), all...))
	held := must(f.LoadModel(t.Context(), now.Models.Entries()[0]))

	unknown := []byte("m-unknown")
	for _, c := range []struct {
		topic string
		key   []byte
		want  Repair
	}{
		{testConfig.Explorations, wire.SpecKey("test"), Repair{Record: RecordSpec}},
		{testConfig.Explorations, wire.ProgressKey("test"), Repair{Record: RecordProgress}},
		{testConfig.FeatureSets, wire.SetKey("test", set.ID()), Repair{Record: RecordSet, ID: set.ID()}},
		{testConfig.FeatureSets, wire.SetKey("test", "fs-unknown"), Repair{Record: RecordSet, ID: "fs-unknown"}},
		{testConfig.FeatureSets, wire.CurrentKey("test"), Repair{Record: RecordSetPointer}},
		{testConfig.Models, wire.SetKey("test", model), Repair{Record: RecordModel, ID: model}},
		{testConfig.Models, wire.SetKey("test", string(unknown)), Repair{Record: RecordModel, ID: string(unknown)}},
		{testConfig.Models, wire.CurrentKey("test"), Repair{Record: RecordModelPointer}},
	} {
		must(broker.Produce(t.Context(), c.topic, 0, []pipeline.Record{keyed(c.key, garbage)}))
		now := must(f.CatchUp(t.Context(), all...))
		if !slices.Equal(now.Repairs, []Repair{c.want}) {
			t.Fatalf("%s: repairs %+v, want %+v", c.key, now.Repairs, c.want)
		}
		for owner := range OwnerTrainer + 1 {
			acted, err := f.Repair(t.Context(), owner, noon)
			if err != nil || acted != (owner == recordKinds[c.want.Record].owner) {
				t.Errorf("%s: repair by owner %d: acted %v, error %v", c.key, owner, acted, err)
			}
		}
		if left := f.Snapshot().Repairs; len(left) > 0 {
			t.Errorf("%s: repairs %+v remain", c.key, left)
		}
		records := broker.Records(c.topic, 0)
		last := records[len(records)-1]
		if restorable := !slices.Contains([]string{"fs-unknown", string(unknown)},
			c.want.ID); (last.Value != nil) != restorable {
			t.Errorf("%s: last record has %d bytes", c.key, len(last.Value))
		}
	}
	after := f.Snapshot()
	if after.Running() != nil || after.CurrentSet() == nil || after.Models.Current.ID != model || after.Progress == nil {
		t.Errorf("after all repairs: %+v", after)
	}
	runtime.KeepAlive(held)
}

// The pointer names a set, so the set is rewritten first.
func TestLostSetIsRewrittenBeforeItsPointer(t *testing.T) {
	broker, set := newTopics(), testSet(1)
	put(t, broker, setRecord(set), currentRecord("test", set.ID(), 1))
	f := following(t, broker)
	inUse(t, f, set.ID())
	broker.LoseEnd(testConfig.FeatureSets, 0, 0)
	lost := must(f.Wait(t.Context(), func(s Snapshot) bool { return len(s.Repairs) == 2 }))
	if !lost.CurrentLost() {
		t.Error("the current set is not reported as lost")
	}
	if acted, err := f.Repair(t.Context(), OwnerSelection, noon); !acted || err != nil {
		t.Fatalf("repaired %v, %v", acted, err)
	}
	records := broker.Records(testConfig.FeatureSets, 0)
	if len(records) != 2 || string(records[0].Key) != string(wire.SetKey("test", set.ID())) {
		t.Errorf("%d records, the first under %s", len(records), records[0].Key)
	}
	if now := f.Snapshot(); len(now.Repairs) > 0 || now.CurrentLost() {
		t.Errorf("repairs %+v remain", now.Repairs)
	}
}

// A model that no process holds is left for the next training to replace.
func TestMissingCurrentModelAwaitsTheNextOne(t *testing.T) {
	k := newModelsKit(t)
	id := k.chain(1)[0]
	k.put(wire.SetKey("test", id), nil)
	f, m := k.following()
	want := []Repair{{Record: RecordModel, ID: id, Gone: true}}
	if !m.Unreadable() || !slices.Equal(f.Snapshot().Repairs, want) {
		t.Fatalf("repairs %+v", f.Snapshot().Repairs)
	}
	if acted, err := f.Repair(t.Context(), OwnerTrainer, noon); acted || err != nil {
		t.Errorf("repaired %v, %v", acted, err)
	}
	k.point(wire.Current{ID: k.model(2, wire.VerdictBetter, id), Sequence: 1})
	if m := k.read(f); m.Unreadable() || len(f.Snapshot().Repairs) > 0 {
		t.Errorf("repairs %+v remain", f.Snapshot().Repairs)
	}
}
