package pipeline_test

import (
	"context"
	"testing"

	"github.com/eerf-stream/eerf/pipeline"
)

func TestObservedCountsHowRequestsWent(t *testing.T) {
	log := newLog(t, 5)
	broker := pipeline.Observe(log)
	ctx := t.Context()
	log.FailNext(pipeline.OpFetch, errAway, errAway)
	for range 3 {
		_, _ = broker.Fetch(ctx, "t", 0, 0)
	}
	_, _ = broker.Fetch(ctx, "t", 0, 99) // out of range
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := broker.Fetch(ended, "t", 0, 5); err == nil {
		t.Error("fetch with an ended context returned no error")
	}
	if _, err := broker.Produce(ctx, "t", 0, []pipeline.Record{{Value: []byte("x")}}); err != nil {
		t.Fatal(err)
	}
	_, _, _ = broker.Offsets(ctx, "t", 0)
	_, _ = broker.Partitions(ctx, "nowhere")

	type counts struct{ ok, refused, failed uint64 }
	want := map[string]counts{
		pipeline.OpFetch: {1, 1, 2}, pipeline.OpProduce: {1, 0, 0}, pipeline.OpOffsets: {1, 0, 0},
		pipeline.OpPartitions: {0, 0, 1},
	}
	for _, stats := range broker.Requests() {
		have := counts{stats.OK, stats.Refused, stats.Failed}
		if have != want[stats.Operation] {
			t.Errorf("%s: %+v, want %+v", stats.Operation, have, want[stats.Operation])
		}
		if sum := have.ok + have.refused + have.failed; stats.Seconds.Count != sum {
			t.Errorf("%s: %d durations for %d requests", stats.Operation, stats.Seconds.Count, sum)
		}
	}
}
