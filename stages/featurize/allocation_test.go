package featurize

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/training"
)

// objectsPerPrediction is the number of additional allocations for a message with predictions.
const objectsPerPrediction = 60

// smallSet is a feature set of 16 features, because the kernels have their own tests.
func smallSet(t testing.TB, rows arrow.Record) *wire.FeatureSet {
	e, c := explored.Wide(16)
	c.CalibrationRows = 100
	return explored.FeatureSet(t, e, c, rows)
}

// unaligned is an event at an unaligned address, like records in fetched memory.
func unaligned(t testing.TB, rows arrow.Record) pipeline.Record {
	return pipeline.Record{Key: []byte("key"), Value: append([]byte("odd"), stagestest.Message(t, rows)...)[3:]}
}

// mapAndRecycle maps an event and recycles the memory of its outputs.
func mapAndRecycle(t testing.TB, core *Featurizer, source pipeline.Record) {
	outputs := 0
	err := core.Process(source, 0, stagestest.Noon, func(part Part) error {
		if part.Output != nil {
			outputs++
			core.Recycle(part.Output.Value)
		}
		return nil
	})
	if err != nil || outputs == 0 {
		t.Fatalf("%d outputs, %v", outputs, err)
	}
}

// checkProcess checks the allocations of a featurizer for a message of one output.
func checkProcess(t *testing.T, core *Featurizer, shape string, rows arrow.Record, extra float64) {
	t.Helper()
	source := unaligned(t, rows)
	stagestest.CheckAllocations(t, shape, extra, func() { mapAndRecycle(t, core, source) })
}

// BenchmarkFeaturizer measures mapping alone, from the bytes of a message to the bytes of its
// outputs.
func BenchmarkFeaturizer(b *testing.B) {
	const rowsPerMessage, features = 1024, 500
	for _, shape := range stagestest.WideShapes {
		for _, compares := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/live=%v", shape, compares), func(b *testing.B) {
				rows := stagestest.WideEvents(b, shape, rowsPerMessage)
				e, c := explored.Wide(features)
				set := explored.FeatureSet(b, e, c, rows)
				core := newCore(b, set, Default().MaxOutputBytes)
				if compares {
					core.UseModel(drawnModel(set, training.LossSquared), "")
				}
				source := unaligned(b, rows)
				b.ReportAllocs()
				for b.Loop() {
					mapAndRecycle(b, core, source)
				}
				b.ReportMetric(rowsPerMessage*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

func TestAllocationsDoNotGrowWithRows(t *testing.T) {
	stagestest.EachWide(t, func(t *testing.T, shape string, rows arrow.Record) {
		checkProcess(t, newCore(t, smallSet(t, rows), Default().MaxOutputBytes), shape, rows, 0)
	})
}

func TestPredictionAllocationsDoNotGrowWithRows(t *testing.T) {
	stagestest.EachWide(t, func(t *testing.T, shape string, rows arrow.Record) {
		set := smallSet(t, rows)
		core := newCore(t, set, Default().MaxOutputBytes, withPredictions)
		k := set.Encoder.Outputs()
		core.UseModel(&wire.Model{ID: "m-1", FeatureSetID: set.ID(), Model: &training.Model{
			Features: 16, Outputs: k, Theta: make([]float64, 16*k), Intercept: make([]float64, k), Loss: training.LossLogistic,
		}}, "")
		checkProcess(t, core, shape, rows, objectsPerPrediction)
	})
}
