package stages_test

import (
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
	"github.com/eerf-stream/eerf/stages/train"
)

// recreate deletes a topic and recreates it empty.
func (f *flow) recreate(topic string) {
	f.t.Helper()
	transport := &kafkago.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafkago.Client{Addr: kafkago.TCP(f.server.Addrs()...), Transport: transport}
	answer, err := client.DeleteTopics(f.ctx, &kafkago.DeleteTopicsRequest{Topics: []string{topic}})
	if err == nil {
		err = answer.Errors[topic]
	}
	if err == nil {
		_, err = topics.Create(f.ctx, f.client, f.settings.Topics)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// identity returns a topic's identity.
func (f *flow) identity(topic string) string {
	f.t.Helper()
	id, err := f.client.Identity(f.ctx, topic, 0, time.Now())
	if err != nil || id == "" {
		f.t.Fatalf("identity of %s: %q, %v", topic, id, err)
	}
	return string(id)
}

// changes returns how often a worker noticed that a topic was replaced.
func changes(w *worker, topic string) int64 {
	return w.Env.Meter.Activity().LogChanges[meter.LogChange{Topic: topic, Kind: string(pipeline.GapRecreated)}]
}

// The events topic is recreated between two runs of an exploration, or during it, and grows beyond
// the offsets already read: no set mixes rows of two logs.
func TestFlowEventsMadeAgainInAnExploration(t *testing.T) {
	t.Parallel()
	for name, running := range map[string]bool{"between two runs": false, "under a worker": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, 1, nil)
			f.sendRows(0, 0, 3000)
			was := f.identity(f.settings.Topics.Events)
			m := newMiddle(4)
			var shift atomic.Int64
			w := f.start(exploring, func(w *worker) {
				shifted(&shift)(w)
				m.prepare(w)
			})
			m.wait(f)
			if !running {
				w.stop()
			}
			f.recreate(f.settings.Topics.Events)
			f.sendRows(0, 100_000, 104_000)
			if running {
				close(m.release)
			} else {
				w = f.start(exploring, shifted(&shift))
			}
			f.state("abandoned", func(s state.Snapshot) bool { return s.Spec != nil && s.Spec.Status == wire.StatusAbandoned })
			shift.Store(int64(time.Minute))
			set := f.set(2)
			if l := set.Set.Lineage; l.EventsLog != f.identity(f.settings.Topics.Events) || l.EventsLog == was ||
				l.Partitions[0].EndOffset != 200 {
				t.Errorf("set of log %s, that was %s: %+v", l.EventsLog, was, l.Partitions)
			}
			if changes(w, f.settings.Topics.Events) == 0 {
				t.Error("the change of the log is not counted")
			}
		})
	}
}

// trainer makes one model at a time.
func (f *flow) trainer() *train.Runner {
	f.t.Helper()
	p := stages.NewProcess(f.client, f.settings, stagestest.Logger(f.t))
	f.follow(p.Env.State)
	return p.Trainer()
}

func (f *flow) fit(r *train.Runner) *wire.Model {
	f.t.Helper()
	fitted, err := r.Fit(f.ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	return fitted.Model
}

func rangeRows(m *wire.Model) (rows int64) {
	for _, r := range m.Ranges {
		rows += r.Rows
	}
	return rows
}

// The events topic is recreated during the run of a featurizer and a trainer, or between two runs
// of both, and grows beyond the featurized offsets: every row of the new log is featurized and
// trained on.
func TestFlowEventsMadeAgainAreFeaturizedAndTrainedOn(t *testing.T) {
	t.Parallel()
	for name, running := range map[string]bool{"between two runs": false, "under a worker": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, 1, smallParts)
			f.sendRows(0, 0, 1200)
			w := f.start(allButTrain, nil)
			f.set(1)
			f.featurizedUpTo(0, 60)
			r := f.trainer()
			before := rangeRows(f.fit(r))
			if !running {
				w.stop()
			}
			f.recreate(f.settings.Topics.Events)
			f.sendRows(0, 1200, 2800)
			if !running {
				w = f.start(allButTrain, nil)
			}
			f.featurizedUpTo(0, 80)
			is := f.identity(f.settings.Topics.Events)
			var again int
			for _, part := range f.features(0) {
				if part.SourceLog == is {
					again += len(part.Rows)
				}
			}
			model := f.fit(r)
			if again != 1600 || rangeRows(model) != before+1600 || len(model.Ranges) != 2 || model.Ranges[1].Log != is {
				t.Errorf(
					"%d rows of the new log featurized, trained on %d after %d: %+v",
					again,
					rangeRows(model),
					before,
					model.Ranges,
				)
			}
			if changes(w, f.settings.Topics.Events) == 0 {
				t.Error("the change of the log is not counted")
			}
		})
	}
}

// The control topics are recreated during the run of a worker with a current set: the set stays
// current, its owners rewrite it, and a new worker starts with it.
func TestFlowControlTopicsMadeAgain(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, smallParts)
	f.sendRows(0, 0, 1200)
	w := f.start(allButTrain, nil)
	set := f.set(1)
	f.featurizedUpTo(0, 60)
	for _, topic := range []string{
		f.settings.Topics.FeatureSets,
		f.settings.Topics.Explorations,
		f.settings.Topics.Scores,
		f.settings.Topics.Samples,
	} {
		f.recreate(topic)
	}
	for _, topic := range []string{f.settings.Topics.FeatureSets, f.settings.Topics.Explorations} {
		f.until(topic+" is written again", func() bool {
			_, next, err := f.client.Offsets(f.ctx, topic, 0)
			return err == nil && next > 0
		})
	}
	f.until(
		"the pointer is rewritten",
		func() bool { return f.newestByKey(f.settings.Topics.FeatureSets, 0)["flow/current"].Value != nil },
	)
	w.stop()
	fresh := f.onlooker()
	now, err := fresh.Wait(f.ctx, func(s state.Snapshot) bool { return s.CurrentSet() != nil && s.Spec != nil })
	if err != nil || now.Current.ID != set.ID || now.Spec.Exploration != set.Set.Lineage.Exploration {
		t.Fatalf("current %+v, spec %+v, %v; was %s", now.Current, now.Spec, err, set.ID)
	}
	f.sendRows(0, 1200, 1400)
	f.start(allButTrain, nil)
	f.featurizedUpTo(0, 70)
}
