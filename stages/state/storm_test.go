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

// TestManyModelRecordsCostTheirNumber follows a topic with many models, replacements, tombstones,
// undecodable records and pointers to missing models. The work is counted as allocated bytes.
func TestManyModelRecordsCostTheirNumber(t *testing.T) {
	perRecord := func(n int) uint64 {
		k := newModelsKit(t)
		id := k.model(1, wire.VerdictNotBetter, "")
		model := pipeline.Record{Key: wire.SetKey("test", id), Value: k.Records(testConfig.Models, 0)[0].Value}
		var records []pipeline.Record
		pointer := must(wire.EncodeCurrent(&wire.Current{ID: "m-missing", Sequence: 1, Time: noon}))
		for i := range n {
			records = append(records,
				pipeline.Record{Key: wire.SetKey("test", fmt.Sprintf("m-%06d", i)), Value: []byte("x")},
				model,
				pipeline.Record{Key: wire.CurrentKey("test"), Value: pointer},
				pipeline.Record{Key: wire.CurrentKey("test"), Value: []byte("x")})
		}
		for i := range n {
			records = append(records, pipeline.Record{Key: wire.SetKey("test", fmt.Sprintf("m-%06d", i))})
		}
		must(k.Produce(t.Context(), testConfig.Models, 0, records))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		now := k.models()
		runtime.ReadMemStats(&after)
		if len(now.Entries()) != 1 || now.Current == nil || now.Current.ID != "m-missing" {
			t.Errorf("%d models, current %+v", len(now.Entries()), now.Current)
		}
		return (after.TotalAlloc - before.TotalAlloc) / uint64(len(records))
	}
	if few, many := perRecord(1500), perRecord(6000); many > 3*few/2 {
		t.Errorf("%d bytes were allocated for each of 7,500 records, %d for each of 30,000", few, many)
	}
}
