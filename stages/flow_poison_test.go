package stages_test

import (
	"bytes"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
)

// everyStage lists the stages of a whole pipeline.
var everyStage = stages.Names()

var poison = []byte("hello")

// undecodable returns the number of records under keys of the pipeline that a worker could not
// decode.
func undecodable(w *worker, topic string) int64 {
	n := w.Env.Meter.Activity().Undecodable[topic]
	for t, seen := range w.Env.State.Snapshot().Undecodable {
		if w.Settings.State().Name(state.Topic(t)) == topic {
			n += seen
		}
	}
	return n
}

// Five bytes under any key of the pipeline, alone after compaction, are counted and overwritten by
// the owner of the key, and block nothing. At most one key of each topic is overwritten at a time.
func TestFlowPoisonUnderEachKey(t *testing.T) {
	t.Parallel()
	type place struct{ topic, key string }
	for name, places := range map[string]func(c topics.Config, now state.Snapshot, model string) []place{
		"in use": func(c topics.Config, now state.Snapshot, model string) []place {
			return []place{
				{c.Explorations, string(wire.SpecKey("flow"))}, {c.FeatureSets, string(wire.SetKey("flow", now.Current.ID))},
				// its exploration is over
				{c.Models, string(wire.SetKey("flow", model))}, {c.Scores, string(wire.CheckpointKey(now.Spec.Exploration))},
			}
		},
		"unknown": func(c topics.Config, _ state.Snapshot, _ string) []place {
			const id = "0123456789abcdef"
			return []place{
				{c.Explorations, string(wire.RequestKey("flow", "again"))},
				{c.FeatureSets, string(wire.SetKey("flow", id))},
				{c.Models, string(wire.SetKey("flow", id))},
			}
		},
		"pointers": func(c topics.Config, _ state.Snapshot, _ string) []place {
			return []place{
				{c.Explorations, string(wire.ProgressKey("flow"))},
				{c.FeatureSets, string(wire.CurrentKey("flow"))},
				{c.Models, string(wire.CurrentKey("flow"))},
			}
		},
	} {
		for _, when := range []string{"at work", "between two runs"} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				f := newFlow(t, 1, byRows)
				f.sendRows(0, 0, 600)
				w := f.start(everyStage, nil)
				now := f.state("a set and its plan", func(s state.Snapshot) bool { return s.CurrentSet() != nil && s.Spec != nil })
				f.until("a model", func() bool { return w.Env.Meter.Activity().Model != nil })
				poisoned := places(f.settings.Topics, now, w.Env.Meter.Activity().Model.ID)
				f.until(
					"the checkpoint is retired",
					func() bool { return f.newestByKey(f.settings.Topics.Scores, 0)[now.Spec.Exploration].Value == nil },
				)
				if when == "between two runs" {
					w.stop()
				}
				for _, p := range poisoned {
					f.produce(p.topic, 0, pipeline.Record{Key: []byte(p.key), Value: poison})
				}
				if when == "between two runs" {
					f.server.Compact()
					w = f.start(everyStage, nil)
				}
				f.sendRows(0, 600, 1200)
				for _, p := range poisoned {
					if p.topic != f.settings.Topics.Scores { // the owner of scores needs only the keys
						f.until("the record is counted in "+p.topic, func() bool { return undecodable(w, p.topic) > 0 })
					}
				}
				f.request(wire.ActionStart, "after the poison")
				f.state("another set", func(s state.Snapshot) bool {
					return s.CurrentSet() != nil && s.Current.Sequence > now.Current.Sequence && s.Running() == nil &&
						len(s.Requests) == 0
				})
				f.until("the worker has the new set", func() bool { // otherwise it maps the rows with the previous set
					s := w.Env.State.Snapshot()
					return s.CurrentSet() != nil && s.Current.Sequence > now.Current.Sequence
				})
				f.sendRows(0, 1200, 1800)
				f.featurizedUpTo(0, 90)
				f.until("a model of the new set", func() bool {
					m := w.Env.Meter.Activity().Model
					return m != nil && m.FeatureSetID == f.follower.Snapshot().Current.ID
				})
				for _, p := range poisoned {
					f.until(
						"the record is overwritten in "+p.topic,
						func() bool { return !bytes.Equal(f.newestByKey(p.topic, 0)[p.key].Value, poison) },
					)
				}
				w.stop()
			})
		}
	}
}
