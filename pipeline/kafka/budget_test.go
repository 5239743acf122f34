package kafka_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/embedded"
)

// TestSmallerBudgetReadsTheSameBatches reads batches that individually fit a budget, with a client
// that requests many at once.
func TestSmallerBudgetReadsTheSameBatches(t *testing.T) {
	broker := startBroker(t, embedded.Options{})
	c := config(broker.Addrs())
	c.FetchMaxBytes, c.BatchBudgetBytes = 4<<20, 8<<20
	client := dial(t, c)
	if _, err := client.CreateTopics(t.Context(), []pipeline.TopicSpec{{Name: "events", Partitions: 1}}); err != nil {
		t.Fatal(err)
	}
	const batches = 12
	for i := range batches {
		record := pipeline.Record{Value: bytes.Repeat([]byte{byte(i)}, 100_000)}
		if _, err := client.Produce(t.Context(), "events", 0, []pipeline.Record{record}); err != nil {
			t.Fatal(err)
		}
	}
	for _, budget := range []int64{256 << 10, 8 << 20} {
		within := pipeline.WithBatchBudget(t.Context(), budget)
		read := 0
		for next := int64(0); next < batches; {
			fetched, err := client.Fetch(within, "events", 0, next)
			if err != nil {
				t.Fatalf("within %d bytes: %v", budget, err)
			}
			read, next = read+len(fetched.Records), fetched.NextOffset
		}
		if read != batches {
			t.Errorf("within %d bytes: %d of %d batches", budget, read, batches)
		}
	}
	var over *pipeline.UnreadableBatchError
	_, err := client.Fetch(pipeline.WithBatchBudget(t.Context(), 50_000), "events", 0, 3)
	if !errors.As(err, &over) || over.Offset != 3 || over.NextOffset != 4 || !errors.Is(err, pipeline.ErrOverBudget) ||
		!pipeline.IsPermanent(err) {
		t.Errorf("batch of twice the budget: %v", err)
	}
}
