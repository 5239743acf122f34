package conformance

import (
	"errors"
	"testing"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// openWriter opens a writer that must have the given protection.
func openWriter(
	t *testing.T,
	client Client,
	want pipeline.Protection,
	id *pipeline.WriterID,
	targets ...pipeline.Target,
) pipeline.Producer {
	t.Helper()
	writer, err := pipeline.OpenWriter(pipelinetest.Context(t), client, zap.NewNop(), id, targets...)
	if err != nil {
		t.Fatal(err)
	}
	if have := pipeline.ProtectionOf(writer); have != want {
		t.Fatalf("the writer is %s, want %s", have, want)
	}
	return writer
}

// successorFences opens a second writer with the id of another: from then on the other's writes are
// refused in all targets, and in no others.
func successorFences(t *testing.T, s Source) {
	first, second := s.Open(t, Options{}), s.Open(t, Options{})
	one, two := pipelinetest.NewTopic(t, first, 2, nil), pipelinetest.NewTopic(t, first, 2, nil)
	id := &pipeline.WriterID{Group: "group-of-" + one, Topic: "events", Partition: 1}
	targets := []pipeline.Target{{Topic: one, Partition: 1}, {Topic: two, Partition: 1}}
	earlier := openWriter(t, first, pipeline.ProtectionFenced, id, targets...)
	neighbourID := &pipeline.WriterID{Group: id.Group, Topic: id.Topic, Partition: 0}
	neighbour := openWriter(t, first, pipeline.ProtectionFenced, neighbourID, targets...)
	numbered := openWriter(t, first, pipeline.ProtectionNumbered, nil)
	write := func(w pipeline.Producer, topic, text string) {
		t.Helper()
		if _, err := w.Produce(pipelinetest.Context(t), topic, 1, pipelinetest.Values(text)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	write(earlier, one, "a")
	write(earlier, two, "a")

	later := openWriter(t, second, pipeline.ProtectionFenced, id, targets...)
	for _, topic := range []string{one, two, one} {
		_, err := earlier.Produce(pipelinetest.Context(t), topic, 1, pipelinetest.Values("late"))
		if !errors.Is(err, pipeline.ErrFenced) || !pipeline.IsPermanent(err) {
			t.Errorf("write of an earlier owner: %v", err)
		}
	}
	write(later, one, "b")
	write(neighbour, one, "c")
	write(numbered, one, "d")
	write(first, one, "e") // plain
	write(later, two, "b")
	write(later, one, "f")
	for topic, want := range map[string]string{one: "abcdef", two: "ab"} {
		if have := pipelinetest.Joined(pipelinetest.ReadUntil(t, first, topic, 1, 0, end(t, first, topic, 1))); have != want {
			t.Errorf("%s holds %s, want %s", topic, have, want)
		}
	}
}

func end(t *testing.T, log pipeline.Log, topic string, partition int) int64 {
	t.Helper()
	_, next, err := log.Offsets(pipelinetest.Context(t), topic, partition)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// writerNumbers writes batches of several sizes to two partitions, with a refusal between them.
func writerNumbers(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 2, map[string]string{"max.message.bytes": "10000"})
	ids := map[string]*pipeline.WriterID{"fenced": {Group: "group-of-" + topic, Topic: topic}, "numbered": nil}
	for name, id := range ids {
		t.Run(name, func(t *testing.T) {
			protection := pipeline.ProtectionFenced
			if id == nil {
				protection = pipeline.ProtectionNumbered
			}
			targets := []pipeline.Target{{Topic: topic, Partition: 0}, {Topic: topic, Partition: 1}}
			writer := openWriter(t, client, protection, id, targets...)
			for round := range 8 {
				for partition := range 2 {
					before := end(t, client, topic, partition)
					records := pipelinetest.Values("a", "b", "c")[:1+round%3]
					offset, err := writer.Produce(pipelinetest.Context(t), topic, partition, records)
					if err != nil || offset != before {
						t.Fatalf("round %d: offset %d, want %d: %v", round, offset, before, err)
					}
				}
				_, err := writer.Produce(pipelinetest.Context(t), topic, 0, []pipeline.Record{{Value: make([]byte, 20000)}})
				if !errors.Is(err, pipeline.ErrMessageTooLarge) {
					t.Fatal(err)
				}
			}
		})
	}
}
