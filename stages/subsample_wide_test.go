package stages

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// A batch whose dense form would be too large is encoded in parts, which nothing may show: the quota is filled in the
// second one.
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
	if step := chunkRows(dim); step >= n-10 {
		t.Fatalf("%d rows at a time: the batch is not in parts", step)
	}
	s := testSettings(taskRegression)
	s.Events.Passthrough = nil
	s.Exploration.SampleRate, s.Exploration.Candidates, s.Exploration.Features = 1, 4, 2
	part := fullSpan(n - 11)
	spec := plan(t, s, rows, part)
	whole, single := newSubsampler(t, spec, part, nil), newSubsampler(t, spec, part, nil)
	rejected, err := whole.Add(0, []arrow.Record{rows})
	if err != nil {
		t.Fatal(err)
	}
	if want := []RejectedRow{{Row: n - 20, Reason: encoder.NaNLabel}}; !slices.Equal(rejected[0], want) {
		t.Fatalf("rejected %v, want %v", rejected[0], want)
	}
	inParts, inBatches := NewCalibration(s.Events), NewCalibration(s.Events)
	defer inParts.Release()
	defer inBatches.Release()
	if err := inParts.Add(0, 0, rows); err != nil {
		t.Fatal(err)
	}
	for offset, batch := range cut(t, rows, every(31)) {
		if _, err := single.Add(int64(offset), []arrow.Record{batch}); err != nil {
			t.Fatal(err)
		}
		if err := inBatches.Add(0, 31*int64(offset), batch); err != nil {
			t.Fatal(err)
		}
	}
	x, sampled, _ := inParts.sample(spec.Encoder, 7)
	y, _, _ := inBatches.sample(spec.Encoder, 7)
	if sampled != n-1 || !slices.Equal(x, y) {
		t.Fatalf("%d rows for the bandwidth, equal ones %v", sampled, slices.Equal(x, y))
	}
	if !whole.Closed() || whole.NextOrdinal() != n-10 {
		t.Fatalf("closed %v at ordinal %d", whole.Closed(), whole.NextOrdinal())
	}
	sameState(t, whole, single)
}
