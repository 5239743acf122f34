package stages

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/pipeline"
)

// A message in the steady state allocates a number of small objects that does not grow with its rows: what the Arrow
// library makes of each message that it writes, and for every column that it reads the array and a flag.
const (
	perMessage    = 160
	perColumn     = 2
	perPrediction = 60  // of the columns of predictions
	perObject     = 192 // bytes, on average
)

// allocated is what a call allocates once calls before it have made room.
func allocated(call func()) (objects float64, bytes uint64) {
	call()
	objects = testing.AllocsPerRun(20, call)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 {
		call()
	}
	runtime.ReadMemStats(&after)
	return objects, (after.TotalAlloc - before.TotalAlloc) / 20
}

func checkAllocated(t *testing.T, shape string, extra float64, call func()) {
	t.Helper()
	most := map[string]float64{"columns": perMessage + perColumn*benchDim, "list": perMessage}[shape] + extra
	objects, bytes := allocated(call)
	t.Logf("%.0f objects, %d bytes", objects, bytes)
	if objects > most || float64(bytes) > most*perObject {
		t.Errorf("%.0f objects, %d bytes, want no more than %.0f of %d bytes", objects, bytes, most, perObject)
	}
}

// eachShape runs a test on messages of few and of many rows. The feature set and the exploration are small: the kernels
// have their own tests.
func eachShape(t *testing.T, test func(t *testing.T, shape string, s Settings, rows arrow.Record)) {
	for _, shape := range benchShapes {
		for _, n := range []int{100, 4000} {
			t.Run(fmt.Sprintf("%s/%d rows", shape, n), func(t *testing.T) {
				s := benchSettings(shape)
				s.Exploration.Candidates, s.Exploration.Features = 16, 16
				s.Exploration.CalibrationRows = 100
				test(t, shape, s, benchEvents(t, shape, n))
			})
		}
	}
}

func TestFeaturizerAllocatesNothingThatGrowsWithRows(t *testing.T) {
	eachShape(t, func(t *testing.T, shape string, s Settings, rows arrow.Record) {
		core := NewFeaturizer(explore(t, s, []arrow.Record{rows}).Set, s.Limits.decoder(), s.Featurize.MaxOutputBytes)
		value := append([]byte("odd"), message(t, rows)...)[3:] // as records lie in what was fetched
		source := pipeline.Record{Key: []byte("key"), Value: value}
		checkAllocated(t, shape, 0, func() {
			outputs := 0
			err := core.Process(source, 0, noon, func(part Featurized) error {
				if part.Output != nil {
					outputs++
					core.Recycle(part.Output.Value)
				}
				return nil
			})
			if err != nil || outputs != 1 {
				t.Fatalf("%d outputs, %v", outputs, err)
			}
		})
	})
}

func TestSubsamplerAllocatesNothingThatGrowsWithRows(t *testing.T) {
	eachShape(t, func(t *testing.T, shape string, s Settings, rows arrow.Record) {
		spec := plan(t, s, rows, fullSpan(0))
		core := newSubsampler(t, spec, spec.Partitions[0], nil)
		reader := newEventReader(spec.Limits, spec.Encoder)
		value := append([]byte("odd"), message(t, rows)...)[3:]
		offset := int64(0)
		checkAllocated(t, shape, 0, func() {
			batches, err := reader.read(value)
			if err != nil {
				t.Fatal(err)
			}
			defer releaseAll(batches)
			if _, err := core.Add(offset, batches); err != nil {
				t.Fatal(err)
			}
			offset++
		})
	})
}
