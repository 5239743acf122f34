package status

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/stages/state"
)

// The running exploration comes first, else the learning of the current set is shown.
func TestLearning(t *testing.T) {
	var columns []encoder.Column
	importance := make([]float64, 24)
	for i := range importance {
		columns = append(columns, encoder.Column{Name: string(rune('a' + i)), Kind: encoder.Numeric, Width: 1})
		importance[i] = float64(i) / 276
	}
	points := []adaptive.Point{{Kind: adaptive.ByResidual, Loss: 0.5}, {Kind: adaptive.ByRound, Loss: 0.25},
		{Kind: adaptive.ByStep, Step: 4, Loss: 0.3}}
	learned := &state.Set{Set: &wire.FeatureSet{Encoder: &encoder.Encoder{Columns: columns}}}
	learned.Set.Lineage.Exploration = "p.1.abc"
	learned.Set.Lineage.Learning = &adaptive.Report{Points: points, Winner: 1, Rows: 80, HeldOutRows: 20,
		Importance: importance}
	running := state.Snapshot{
		Spec:     &wire.Spec{Exploration: "p.2.abc", Plan: wire.Plan{Sequence: 2}, Status: wire.StatusRunning},
		Progress: &wire.Progress{Exploration: "p.2.abc", Points: points[:2]},
	}
	before := running
	before.Progress = &wire.Progress{Exploration: "p.1.abc", Points: points}

	if have := learningOf(running, learned); have.Exploration != "p.2.abc" || have.Winner != nil ||
		!slices.Equal(have.Points, points[:2]) {
		t.Errorf("during learning: %+v", have)
	}
	for name, now := range map[string]state.Snapshot{"nothing runs": {}, "the running one has said nothing": before} {
		have := learningOf(now, learned)
		if have.Exploration != "p.1.abc" || have.Winner == nil || *have.Winner != 1 || have.HeldOutRows != 20 ||
			!slices.Equal(have.Points, points) {
			t.Errorf("%s: %+v", name, have)
		}
		if len(have.Columns) != columnsShown || have.Columns[0].Column != "x" || have.OtherColumns != 4 ||
			have.OtherShare != 6./276 {
			t.Errorf("%s: columns %v, %d others with %v", name, have.Columns, have.OtherColumns, have.OtherShare)
		}
	}
	if have := learningOf(state.Snapshot{}, &state.Set{Set: &wire.FeatureSet{}}); have != nil {
		t.Errorf("for a set that was not learned: %+v", have)
	}
	chosen := &state.Set{Set: &wire.FeatureSet{}}
	chosen.Set.Lineage.Learning = &adaptive.Report{Points: points[:1], Rows: 80, HeldOutRows: 20}
	choosing := running
	choosing.Progress = &wire.Progress{Exploration: "p.2.abc", Points: points[:1]}
	for name, now := range map[string]state.Snapshot{"chosen": {}, "being chosen": choosing} {
		if have := learningOf(now, chosen); have != nil {
			t.Errorf("of features %s by residual: %+v", name, have)
		}
	}
	if unit := spectrumUnit(&learned.Set.Lineage); unit != unitContribution {
		t.Errorf("unit %s of learned features", unit)
	}
	learned.Set.Lineage.Learning.Winner, learned.Set.Lineage.Criterion = 0, scoring.Residual
	if unit := spectrumUnit(&learned.Set.Lineage); unit != unitCriterion {
		t.Errorf("unit %s of features by residual", unit)
	}
}

// A set stores kind after kind; the drawn values fall nevertheless.
func TestSpectrumOfMixedKindsFalls(t *testing.T) {
	product := func(box bool) scoring.Product {
		return scoring.Product{Box: box, Order: 1, Sign: [scoring.MaxOrder]float32{1}}
	}
	score := []float64{0.5, 0.1, 0.4, 0.9, 0.3, 0.2}
	set := &state.Set{Set: &wire.FeatureSet{}}
	set.Set.Lineage.Criterion = scoring.Adaptive
	set.Set.Set = scoring.FeatureSet{Score: slices.Clone(score), Features: &scoring.Features{
		Map: scoring.MapCosine, Dim: 1, Omega: []float32{1, 2, 3}, Phase: []float32{0, 0, 0}, Ramps: 1,
		Products: []scoring.Product{product(false), product(true), product(true)},
	}}
	have := spectrumOf(set)
	if want := []float64{0.9, 0.5, 0.4, 0.3, 0.2, 0.1}; !slices.Equal(have.Value, want) ||
		!slices.Equal(set.Set.Set.Score, score) {
		t.Errorf("values %v, the set's are now %v", have.Value, set.Set.Set.Score)
	}
	if want := (scoring.KindCounts{Cosine: 2, Ramp: 1, Hinge: 1, Box: 2}); have.Kinds == nil || *have.Kinds != want {
		t.Errorf("kinds %+v", have.Kinds)
	}
	set.Set.Set.Features = &scoring.Features{Map: scoring.MapLinear, Dim: 6, Omega: []float32{0, 1, 2, 3, 4, 5}}
	have = spectrumOf(set)
	if have.Kinds != nil || !slices.Equal(have.Value, score) {
		t.Errorf("for the linear map: %+v", have)
	}
}

func TestSpectrumOfExtremeScoresIsFinite(t *testing.T) {
	set := &state.Set{Set: &wire.FeatureSet{Coding: scoring.Coding{Gain: make([]float64, 9)}}}
	set.Set.Lineage.Radius, set.Set.Lineage.LargeSampleRadius = math.MaxFloat64, math.MaxFloat64
	set.Set.Set = scoring.FeatureSet{
		Score:    []float64{-math.MaxFloat64, math.MaxFloat64, -1},
		Features: &scoring.Features{Map: scoring.MapLinear, Dim: 3, Omega: []float32{0, 1, 2}},
	}
	have := spectrumOf(set)
	if _, err := json.Marshal(have); err != nil || have.Unit != unitNorm {
		t.Errorf("%v, %+v", err, have)
	}
}
