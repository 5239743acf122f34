package events

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

func TestEventProducer(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 1000, 95, stagestest.Faults{})
	broker := pipelinetest.NewBroker()
	broker.AddTopic("events", 3)
	p, err := NewProducer(t.Context(), broker, "events", 64)
	if err != nil {
		t.Fatal(err)
	}
	batches := stagestest.Cut(t, rows, stagestest.UpTo(rand.New(rand.NewPCG(1, 1)), 300))
	for _, batch := range batches {
		if err := p.Add(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	total := 0
	for partition := range 3 {
		records := broker.Records("events", partition)
		total += len(records)
		for _, r := range records {
			for _, batch := range stagestest.Decode(t, r.Value) {
				if batch.NumRows() > 64 {
					t.Fatalf("%d rows in a message", batch.NumRows())
				}
				for i := range int(batch.NumRows()) {
					seen[batch.Column(5).ValueStr(i)] = true
				}
			}
		}
		if d := len(records) - total/(partition+1); d < -1 || d > 1 {
			t.Errorf("partition %d has %d messages", partition, len(records))
		}
	}
	if len(seen) != 1000 || p.Rows() != 1000 || p.Messages() != int64(total) {
		t.Fatalf("%d rows in %d messages, but the producer reports %d and %d", len(seen), total, p.Rows(), p.Messages())
	}
	if _, err := NewProducer(t.Context(), broker, "absent", 64); !errors.Is(err, pipeline.ErrUnknownTopic) {
		t.Errorf("error %v", err)
	}
	if _, err := NewProducer(t.Context(), broker, "events", 0); err == nil {
		t.Error("messages of no rows")
	}
	broker.FailNext(pipeline.OpProduce, pipeline.ErrMessageTooLarge)
	if err := p.Add(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	if err := p.Flush(t.Context()); !errors.Is(err, pipeline.ErrMessageTooLarge) ||
		!strings.Contains(err.Error(), "fewer rows") {
		t.Errorf("error %v does not name the remedy", err)
	}
}
