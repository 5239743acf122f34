package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
)

// twoOutputs builds rows of a column x and the labels y = 100 + 20·sin(x) and event, which is
// given.
func twoOutputs(rows int, seed uint64, event func(x float64) float64) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Float64},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64},
		{Name: "event", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	random := rand.New(rand.NewPCG(seed, 1))
	for range rows {
		x := random.NormFloat64()
		for i, v := range []float64{x, 100 + 20*math.Sin(x), event(x)} {
			b.Field(i).(*array.Float64Builder).Append(v)
		}
	}
	return b.NewRecord()
}

// An output that did not vary in the scored rows has no range for its coding, but may vary later.
func TestOutputsConstantInTheSampleAreTrained(t *testing.T) {
	labels, exploration := explored.Events(stagestest.Regression), explored.Exploration()
	labels.Label, labels.Passthrough, exploration.SampleRate = []string{"y", "event"}, nil, 0.9
	odd := int64(0) // a row that is not sampled
	for scoring.Sampled(scoring.Hash(exploration.Seed, 0, odd), 0.9) {
		odd++
	}
	row := int64(-1)
	never := twoOutputs(400, 1, func(float64) float64 {
		row++
		if row == odd {
			return 4
		}
		return 3
	})
	defer never.Release()
	sometimes := twoOutputs(1200, 2, func(x float64) float64 { return 3 + 7*math.Cos(x) })
	defer sometimes.Release()
	set := explored.FeatureSet(t, labels, exploration, never)
	if set.Coding.Gain[1] != 0 {
		t.Fatalf("gain %v: the output is not constant in the sample", set.Coding.Gain)
	}
	for _, intercept := range []bool{true, false} {
		config := trainConfig()
		config.Intercept = intercept
		model := solve(t, train(t, set, config, featureMessages(t, set, []arrow.Record{sometimes}, whole)))
		got, err := Evaluate(set, model, []arrow.Record{sometimes})
		if err != nil || got.Rows != 1200 || !(*got.UnexplainedVariance < 5) {
			t.Errorf("intercept %v: %+v, %v", intercept, got, err)
		}
	}
}
