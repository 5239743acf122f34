package featurize

import (
	"context"
	"errors"
	"testing"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// sole assigns partition 0 to every caller, as to an owner that has not noticed its loss, and can
// delay a write, as if the process were stopped.
type sole struct {
	*kafka.Client
	holdUp  int           // which write to features; 0 = none
	reached chan struct{} // closed when it is held up
	goOn    chan struct{}
	late    chan error // its outcome
}

func (s *sole) Own(ctx context.Context, _, _ string, run func(context.Context, pipeline.Ownership) error) error {
	return run(ctx, pipeline.Ownership{Commit: func(context.Context, int64, pipeline.LogID) error { return nil }})
}

func (s *sole) OpenWriter(
	ctx context.Context,
	seat *pipeline.WriterID,
	targets ...pipeline.Target,
) (pipeline.Producer, error) {
	writer, err := s.Client.OpenWriter(ctx, seat, targets...)
	return &heldUp{Producer: writer, by: s, topic: targets[0].Topic}, err
}

type heldUp struct {
	pipeline.Producer
	by    *sole
	topic string
	seen  int
}

func (h *heldUp) Produce(ctx context.Context, topic string, partition int, records []pipeline.Record) (int64, error) {
	if topic == h.topic {
		h.seen++
	}
	if h.by.holdUp == 0 || h.seen != h.by.holdUp {
		return h.Producer.Produce(ctx, topic, partition, records)
	}
	close(h.by.reached)
	<-h.by.goOn
	first, err := h.Producer.Produce(ctx, topic, partition, records)
	h.by.late <- err
	return first, err
}

// An owner is stopped before a write, a successor takes over, and the first resumes, before or
// after the successor has written anything. The delayed write must be refused.
func TestFencedOwnerWritesNothing(t *testing.T) {
	t.Parallel()
	for name, wrote := range map[string]bool{"the successor has written": true, "the successor has only sat down": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStream(t, 1)
			s.publish(1)
			s.send(0, rowsOf(t, 0, 600))
			first := &sole{holdUp: 3, reached: make(chan struct{}), goOn: make(chan struct{}), late: make(chan error, 1)}
			second := &sole{holdUp: 1, reached: make(chan struct{}), goOn: make(chan struct{}), late: make(chan error, 1)}
			begin := func(by *sole) *worker {
				return s.start(func(w *worker) {
					by.Client = s.broker.Dial(fetchLittle)
					w.runner.Env.Broker = by
				})
			}
			paused := begin(first)
			<-first.reached
			begin(second)
			<-second.reached
			if wrote {
				close(second.goOn)
				s.featurizedUpTo(0, 20)
			}
			close(first.goOn)
			if err := <-first.late; !errors.Is(err, pipeline.ErrFenced) {
				t.Errorf("the late write: %v", err)
			}
			if !wrote {
				close(second.goOn)
				s.featurizedUpTo(0, 20)
			}
			paused.end()
			s.checkOnce(0)
			if n := len(stagestest.All(t, s.client, s.topics.DeadLetters, 0)); n > 0 {
				t.Errorf("%d dead letters", n)
			}
		})
	}
}
