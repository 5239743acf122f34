package featurize

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/training"
)

// objectsPerPrediction is how many more objects are allocated for a message with predictions.
const objectsPerPrediction = 60

// smallSet is a feature set of 16 features, because the kernels have their own tests.
func smallSet(t testing.TB, shape string, rows arrow.Record) *wire.FeatureSet {
	e, c := explored.Wide(shape, 16)
	c.CalibrationRows = 100
	return explored.FeatureSet(t, e, c, rows)
}

// checkProcess checks what a core allocates for a message, which becomes one output.
func checkProcess(t *testing.T, core *Featurizer, shape string, rows arrow.Record, extra float64) {
	t.Helper()
	value := append([]byte("odd"), stagestest.Message(t, rows)...)[3:] // unaligned, as records are in fetched memory
	source := pipeline.Record{Key: []byte("key"), Value: value}
	stagestest.CheckAllocations(t, shape, extra, func() {
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
	})
}

func TestFeaturizerAllocatesNothingThatGrowsWithRows(t *testing.T) {
	stagestest.EachWide(t, func(t *testing.T, shape string, rows arrow.Record) {
		checkProcess(t, New(smallSet(t, shape, rows), testLimits, Default().MaxOutputBytes), shape, rows, 0)
	})
}

func TestPredictingAllocatesNothingThatGrowsWithRows(t *testing.T) {
	stagestest.EachWide(t, func(t *testing.T, shape string, rows arrow.Record) {
		set := smallSet(t, shape, rows)
		core := New(set, testLimits, Default().MaxOutputBytes)
		if err := core.AttachPredictions(set); err != nil {
			t.Fatal(err)
		}
		k := set.Encoder.Outputs()
		core.UseModel(&wire.Model{ID: "m-1", FeatureSetID: set.ID(), Model: &training.Model{
			Features: 16, Outputs: k, Theta: make([]float64, 16*k), Intercept: make([]float64, k), Loss: training.LossLogistic,
		}}, "")
		checkProcess(t, core, shape, rows, objectsPerPrediction)
	})
}
