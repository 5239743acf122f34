package selection_test

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"go.uber.org/goleak"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// letters makes rows of eight numbers around one of 26 centres; y names the centre.
func letters(t testing.TB, rows int) arrow.Record {
	t.Helper()
	const dim, classes = 8, 26
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.FixedSizeListOf(dim, arrow.PrimitiveTypes.Float32)},
		{Name: "y", Type: arrow.BinaryTypes.String},
	}, nil))
	defer b.Release()
	rng := rand.New(rand.NewPCG(7, 8))
	var places [classes][dim]float32
	for i := range places {
		for j := range places[i] {
			places[i][j] = float32(3 * rng.NormFloat64())
		}
	}
	for range rows {
		class := rng.IntN(classes)
		list := b.Field(0).(*array.FixedSizeListBuilder)
		list.Append(true)
		for _, at := range places[class] {
			list.ValueBuilder().(*array.Float32Builder).Append(at + float32(rng.NormFloat64()))
		}
		b.Field(1).(*array.StringBuilder).Append(string(rune('A' + class)))
	}
	rec := b.NewRecord()
	t.Cleanup(rec.Release)
	return rec
}
