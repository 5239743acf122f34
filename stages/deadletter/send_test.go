package deadletter

import (
	"context"
	"fmt"
	"testing"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// requests counts produce requests.
type requests struct {
	pipeline.Producer
	n int
}

func (r *requests) Produce(ctx context.Context, topic string, partition int, records []pipeline.Record) (int64, error) {
	r.n++
	return r.Producer.Produce(ctx, topic, partition, records)
}

// Requests that are too large are split in halves, so that most dead letters share a request.
func TestLargeRequestsAreHalved(t *testing.T) {
	const letters, limit = 1000, 100_000
	broker := pipelinetest.NewBroker()
	broker.AddConfiguredTopic("dead-letters", 1, map[string]string{"max.message.bytes": fmt.Sprint(limit)})
	var send []Draft
	for i := range letters {
		source := pipeline.Record{Topic: "events", Offset: int64(i), Value: make([]byte, 200)}
		if i == 600 {
			source.Value = make([]byte, 2*limit)
		}
		send = append(send, Refused(meter.StageSubsample, source, fmt.Errorf("unusable"), stagestest.Noon))
	}
	log := &requests{Producer: broker}
	sender := Sender{To: log, Topic: "dead-letters", Meter: meter.New(), Logger: zap.NewNop()}
	if err := sender.Send(t.Context(), 0, send); err != nil {
		t.Fatal(err)
	}
	sent := broker.Records("dead-letters", 0)
	if len(sent) != letters || log.n > letters/10 {
		t.Fatalf("%d dead letters in %d requests", len(sent), log.n)
	}
	for i := range sent {
		if isBare(sent[i]) != (i == 600) {
			t.Errorf("dead letter %d has %d bytes", i, sent[i].Size())
		}
	}
}
