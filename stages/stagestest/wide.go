package stagestest

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// WideDim is the number of float32 values of a wide event, in addition to its label y.
const WideDim = 77

// WideShapes are the column layouts of wide events.
var WideShapes = []string{"columns", "list"}

// WideEvents returns rows of the shape, for measuring speed and allocations.
func WideEvents(t testing.TB, shape string, rows int) arrow.Record {
	t.Helper()
	float, label := arrow.PrimitiveTypes.Float32, arrow.Field{Name: "y", Type: arrow.PrimitiveTypes.Float32}
	fields := []arrow.Field{{Name: "x", Type: arrow.FixedSizeListOf(WideDim, float)}, label}
	if shape == "columns" {
		fields = fields[:0]
		for j := range WideDim {
			fields = append(fields, arrow.Field{Name: fmt.Sprintf("x%02d", j), Type: float})
		}
		fields = append(fields, label)
	}
	build := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer build.Release()
	rng := rand.New(rand.NewPCG(1, 2))
	for range rows {
		if list, ok := build.Field(0).(*array.FixedSizeListBuilder); ok {
			list.Append(true)
		}
		for j := range WideDim {
			to := build.Field(min(j, len(fields)-1))
			if list, ok := build.Field(0).(*array.FixedSizeListBuilder); ok {
				to = list.ValueBuilder()
			}
			to.(*array.Float32Builder).Append(float32(3 + 2*rng.NormFloat64()))
		}
		build.Field(len(fields) - 1).(*array.Float32Builder).Append(float32(rng.NormFloat64()))
	}
	rec := build.NewRecord()
	t.Cleanup(rec.Release)
	return rec
}

// EachWide runs a test on messages of each shape, with few and with many rows.
func EachWide(t *testing.T, test func(t *testing.T, shape string, rows arrow.Record)) {
	for _, shape := range WideShapes {
		for _, n := range []int{100, 4000} {
			t.Run(fmt.Sprintf("%s/%d rows", shape, n), func(t *testing.T) { test(t, shape, WideEvents(t, shape, n)) })
		}
	}
}

// In the steady state, a message of wide events allocates small objects whose number does not grow
// with its rows: the Arrow library's objects for each written message, and for every column read
// the array, its data, its buffers and a flag.
const (
	objectsPerMessage = 200 // about 150, and more under the race detector, where a sync.Pool drops some of its items
	objectsPerColumn  = 2
	bytesPerObject    = 192 // on average
)

// CheckAllocations fails the test if a call that handles a message of wide events allocates more
// than these limits and some extra objects, after warm-up calls.
func CheckAllocations(t *testing.T, shape string, extra float64, call func()) {
	t.Helper()
	most := map[string]float64{
		"columns": objectsPerMessage + objectsPerColumn*WideDim,
		"list":    objectsPerMessage,
	}[shape] + extra
	call()
	objects := testing.AllocsPerRun(20, call)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 {
		call()
	}
	runtime.ReadMemStats(&after)
	bytes := (after.TotalAlloc - before.TotalAlloc) / 20
	t.Logf("%.0f objects, %d bytes", objects, bytes)
	if objects > most || float64(bytes) > most*bytesPerObject {
		t.Errorf("%.0f objects, %d bytes, want no more than %.0f of %d bytes", objects, bytes, most, bytesPerObject)
	}
}
