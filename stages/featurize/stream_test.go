package featurize

import (
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/training"
)

func TestEveryRowIsFeaturizedOnce(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"stopped", "killed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newStream(t, 2)
			s.publish(1)
			for p := range 2 {
				s.send(p, rowsOf(t, 0, 1200))
			}
			var reached chan struct{}
			w := s.start(func(w *worker) {
				reached = w.holdUp(20)
				if how == "killed" {
					w.runner.Config.CommitInterval = time.Hour // the next one has only its output to go by
				}
			})
			stagestest.Await(t, "outputs", reached)
			if how == "killed" {
				w.kill()
			} else {
				w.end()
			}
			for p := range 2 {
				if out := s.features(p); len(out) > 0 && out[len(out)-1].SourceOffset >= 39 {
					t.Fatalf("partition %d was not in the middle: %d outputs", p, len(out))
				}
			}
			again := s.start(nil)
			for p := range 2 {
				s.featurizedUpTo(p, 40)
				s.send(p, rowsOf(t, 1200, 1500))
				s.featurizedUpTo(p, 50)
			}
			again.end()
			for p := range 2 {
				s.checkOnce(p)
				found, err := s.client.Committed(t.Context(), "featurize", s.topics.Events, p)
				if err != nil || found != (pipeline.Committed{Next: 50, ByMember: true}) {
					t.Errorf("committed %v, %v", found, err)
				}
			}
			n := w.runner.Env.Meter.Totals().Featurize.Featurized + again.runner.Env.Meter.Totals().Featurize.Featurized
			if how == "stopped" && n != 3000 {
				t.Errorf("%d rows counted", n)
			}
		})
	}
}

func TestPartiallyWrittenMessageIsFinishedWithItsSet(t *testing.T) {
	t.Parallel()
	testFinishing(t, false)
}

// A broker may have lost the set, or it was retired while the partition stood still.
func TestPartiallyWrittenMessageWithoutItsSetGetsTheCurrentOne(t *testing.T) {
	t.Parallel()
	testFinishing(t, true)
}

func testFinishing(t *testing.T, gone bool) {
	s := newStream(t, 1)
	first := s.publish(1)
	s.send(0, rowsOf(t, 0, 1200))
	w := s.start(nil)
	s.featurizedUpTo(0, 40)
	w.end()

	// The next message is out except for its last part.
	s.send(0, rowsOf(t, 1200, 1230))
	source := stagestest.All(t, s.client, s.topics.Events, 0)[40]
	log, err := s.client.Identity(t.Context(), s.topics.Events, 0, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	owner := newCore(t, first, s.config.MaxOutputBytes)
	owner.log = string(log)
	parts := process(t, owner, source, 0).Outputs
	if len(parts) < 3 {
		t.Fatalf("%d parts", len(parts))
	}
	pipelinetest.Produce(t, s.client, s.topics.Features, 0, parts[:len(parts)-1]...)
	next := len(s.features(0))

	// Another set comes into use before a worker continues.
	second := s.publish(2)
	if second.ID() == first.ID() {
		t.Fatal("the same set")
	}
	if gone {
		pipelinetest.Produce(t, s.client, s.topics.FeatureSets, 0, pipeline.Record{Key: wire.SetKey("test", first.ID())})
	} else {
		next++ // the last part
	}
	s.send(0, rowsOf(t, 0, 1200))
	s.start(nil)
	s.featurizedUpTo(0, 81)
	explored.CheckRows(t, stagestest.All(t, s.client, s.topics.Events, 0), s.features(0), 30)
	for i, out := range s.features(0) {
		want := first.ID()
		if i >= next {
			want = second.ID()
		}
		if out.FeatureSetID != want {
			t.Fatalf("output %d, offset %d row %d, has set %s", i, out.SourceOffset, out.FirstRow, out.FeatureSetID)
		}
	}
}

// Predictions come from a model from some message after it becomes current. Without a model they
// are missing.
func TestPredictionsFollowTheCurrentModel(t *testing.T) {
	t.Parallel()
	s := newStream(t, 1)
	s.config.Predictions = true
	set := s.publish(1)
	s.send(0, rowsOf(t, 0, 60))
	w := s.start(nil)
	s.featurizedUpTo(0, 2)

	model := drawnModel(set, training.LossSquared)
	model.ID, model.Pipeline, model.Sequence, model.TrainedAt = "", "test", 1, stagestest.Noon
	model.ID = wire.ModelID(model)
	point := func(id string) {
		pipelinetest.Produce(t, s.client, s.topics.Models, 0, pipeline.Record{
			Key:   wire.CurrentKey("test"),
			Value: stagestest.Must(wire.EncodeCurrent(&wire.Current{ID: id, Sequence: 1, Time: stagestest.Noon})),
		})
	}
	until := func(what, id string) {
		stagestest.Until(t, what, func() bool {
			s.send(0, rowsOf(t, 0, 30))
			all := s.features(0)
			return stagestest.Header(t, all[len(all)-1].Record, wire.HeaderModel) == id
		})
	}
	pipelinetest.Produce(t, s.client, s.topics.Models, 0, pipeline.Record{
		Key: wire.SetKey("test", model.ID), Value: stagestest.Must(wire.EncodeModel(model)), Time: stagestest.Noon,
	})
	point(model.ID)
	until("predictions", model.ID)
	point("m-0123456789abcdef")
	until("no predictions", "")
	w.end()
	if c := w.runner.Env.Meter.Totals().Featurize; c.NoModel < 60 || c.Predicted == 0 || c.UnusableModel == 0 ||
		c.Predicted+c.NoModel+c.UnusableModel != c.Featurized {
		t.Errorf("counts %+v", c)
	}
}
