package stages_test

import (
	"bytes"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
)

// everyStage lists the stages of a whole pipeline.
var everyStage = meter.Stages()

var poison = []byte("hello")

// undecodable is how many records under keys of the pipeline a worker could not decode.
func undecodable(w *worker, topic string) int64 {
	n := w.Meter.Activity().Undecodable[topic]
	for t, seen := range w.State.Snapshot().Undecodable {
		if w.Settings.State().Name(state.Topic(t)) == topic {
			n += seen
		}
	}
	return n
}

// Five bytes under any key of the pipeline, alone after compaction, are counted and overwritten by the owner of the key, and stop
// nothing.
func TestFlowPoisonUnderEachKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		topic func(topics.Config) string
		key   func(now state.Snapshot, model string) []byte
	}{
		{"spec", explorationsTopic, func(state.Snapshot, string) []byte { return wire.SpecKey("flow") }},
		{"progress", explorationsTopic, func(state.Snapshot, string) []byte { return wire.ProgressKey("flow") }},
		{"request", explorationsTopic, func(state.Snapshot, string) []byte { return wire.RequestKey("flow", "again") }},
		{"set in use", setsTopic, func(now state.Snapshot, _ string) []byte { return wire.SetKey("flow", now.Current.ID) }},
		{"set", setsTopic, func(state.Snapshot, string) []byte { return wire.SetKey("flow", "0123456789abcdef") }},
		{"pointer to the set", setsTopic, func(state.Snapshot, string) []byte { return wire.CurrentKey("flow") }},
		{"model in use", modelsTopic, func(_ state.Snapshot, model string) []byte { return wire.SetKey("flow", model) }},
		{"model", modelsTopic, func(state.Snapshot, string) []byte { return wire.SetKey("flow", "0123456789abcdef") }},
		{"pointer to the model", modelsTopic, func(state.Snapshot, string) []byte { return wire.CurrentKey("flow") }},
		{"checkpoint of an exploration that is over", scoresTopic, func(now state.Snapshot, _ string) []byte { return wire.CheckpointKey(now.Spec.Exploration) }},
	} {
		for _, when := range []string{"at work", "between two runs"} {
			t.Run(c.name+" "+when, func(t *testing.T) {
				t.Parallel()
				f := newFlow(t, 1, byRows)
				f.sendRows(0, 0, 600)
				w := f.start(everyStage, nil)
				now := f.state("a set and its plan", func(s state.Snapshot) bool { return s.CurrentSet() != nil && s.Spec != nil })
				f.until("a model", func() bool { return w.Meter.Activity().Model != nil })
				topic, key := c.topic(f.settings.Topics), c.key(now, w.Meter.Activity().Model.ID)
				f.until("the checkpoint is retired", func() bool { return f.newestByKey(f.settings.Topics.Scores, 0)[now.Spec.Exploration].Value == nil })
				if when == "between two runs" {
					w.stop()
				}
				f.produce(topic, 0, pipeline.Record{Key: key, Value: poison})
				if when == "between two runs" {
					f.server.Compact()
					w = f.start(everyStage, nil)
				}
				f.sendRows(0, 600, 1200)
				if topic != f.settings.Topics.Scores { // its owner only wants the keys
					f.until("it is counted", func() bool { return undecodable(w, topic) > 0 })
				}
				f.request(wire.ActionStart, "after the poison")
				f.state("another set", func(s state.Snapshot) bool {
					return s.CurrentSet() != nil && s.Current.Sequence > now.Current.Sequence && s.Running() == nil && len(s.Requests) == 0
				})
				f.until("the worker has seen it", func() bool { // otherwise it maps the rows with the previous set
					s := w.State.Snapshot()
					return s.CurrentSet() != nil && s.Current.Sequence > now.Current.Sequence
				})
				f.sendRows(0, 1200, 1800)
				f.featurizedUpTo(0, 90)
				f.until("a model of it", func() bool {
					m := w.Meter.Activity().Model
					return m != nil && m.FeatureSetID == f.follower.Snapshot().Current.ID
				})
				f.until("it is written over", func() bool { return !bytes.Equal(f.newestByKey(topic, 0)[string(key)].Value, poison) })
				w.stop()
			})
		}
	}
}

func explorationsTopic(t topics.Config) string { return t.Explorations }
func setsTopic(t topics.Config) string         { return t.FeatureSets }
func modelsTopic(t topics.Config) string       { return t.Models }
func scoresTopic(t topics.Config) string       { return t.Scores }
