package subsample_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
)

// A batch whose dense form would be too large is encoded in parts, without a visible effect. Here
// the second part fills the quota.
func TestSubsamplerTakesWideRowsInParts(t *testing.T) {
	const dim, n = 20_000, 300
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "v", Type: arrow.FixedSizeListOf(dim, arrow.PrimitiveTypes.Float32)},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64},
	}, nil))
	defer b.Release()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		vector := b.Field(0).(*array.FixedSizeListBuilder)
		vector.Append(true)
		for range dim {
			vector.ValueBuilder().(*array.Float32Builder).Append(rng.Float32())
		}
		if i == n-20 {
			b.Field(1).(*array.Float64Builder).Append(math.NaN())
			continue
		}
		b.Field(1).(*array.Float64Builder).Append(rng.Float64())
	}
	rows := b.NewRecord()
	defer rows.Release()
	if step := events.ChunkRows(dim); step >= n-10 {
		t.Fatalf("%d rows at a time: the batch is not split into parts", step)
	}
	e, exploration := settings(stagestest.Regression)
	e.Passthrough = nil
	exploration.SampleRate, exploration.Candidates, exploration.Features = 1, 4, 2
	spec := explored.Spec(t, e, exploration, rows)
	spec.Partitions = []wire.Partition{fullSpan(n - 11)}
	whole, single := start(t, spec, nil), start(t, spec, nil)
	var rejected []deadletter.RejectedRow
	err := whole.Add(0, []arrow.Record{rows}, func(_ arrow.Record, rowBase int32, rows []deadletter.RejectedRow) error {
		for _, r := range rows {
			r.Row += rowBase
			rejected = append(rejected, r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []deadletter.RejectedRow{{Row: n - 20, Reason: encoder.NaNLabel}}; !slices.Equal(rejected, want) {
		t.Fatalf("rejected %v, want %v", rejected, want)
	}
	for offset, batch := range stagestest.Cut(t, rows, stagestest.Every(31)) {
		if err := single.Add(int64(offset), []arrow.Record{batch}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !whole.Closed() || whole.NextOrdinal() != n-10 {
		t.Fatalf("closed %v at ordinal %d", whole.Closed(), whole.NextOrdinal())
	}
	sameState(t, whole, single)
}
