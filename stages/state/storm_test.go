package state

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// TestManyRecordsOfOneKindCostTheirNumber follows topics with many undecodable requests and sets,
// and many answers.
func TestManyRecordsOfOneKindCostTheirNumber(t *testing.T) {
	const n = 5000
	var explorations, sets []pipeline.Record
	for i := range n {
		id := fmt.Sprintf("%06d", i)
		explorations = append(explorations, pipeline.Record{Key: wire.RequestKey("test", id), Value: []byte("x")})
		sets = append(sets, pipeline.Record{Key: wire.SetKey("test", id), Value: []byte("x")})
	}
	for i := range n {
		explorations = append(explorations, pipeline.Record{Key: wire.RequestKey("test", fmt.Sprintf("%06d", n+i))})
	}
	broker := newTopics()
	must(broker.Produce(t.Context(), testConfig.Explorations, 0, explorations))
	must(broker.Produce(t.Context(), testConfig.FeatureSets, 0, sets))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f := following(t, broker)
	now := must(f.CatchUp(t.Context(), TopicExplorations, TopicFeatureSets))
	runtime.ReadMemStats(&after)
	if len(now.Requests) != maxRequests || now.Requests[0].ID != "000000" || len(now.Repairs) != maxRepairs {
		t.Errorf("%d requests are open, %d repairs pending", len(now.Requests), len(now.Repairs))
	}
	if perRecord := (after.TotalAlloc - before.TotalAlloc) / (3 * n); perRecord > 100_000 {
		t.Errorf("%d bytes were allocated for each record", perRecord)
	}
}
