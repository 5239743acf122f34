package onnx

import (
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/arrowio/onnx/internal/onnxpb"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// featurize adds the feature map and the features output, and returns its name.
func featurize(g *graph, set *wire.FeatureSet, in rows) (string, error) {
	features := set.Set.Features
	m := features.Len()
	var phi string
	if features.Map.Coordinates() {
		phi = coordinates(g, set, in)
	} else {
		t := g.add("projections", "MatMul", []string{g.cast("x as double", in.x, onnxpb.TensorProto_DOUBLE), omega(g, features, in.order)})
		mapped, err := apply(g, features, t)
		if err != nil {
			return "", err
		}
		phi = g.cast("unmasked features", g.add("weighted", "Mul", []string{mapped, g.row("weights", factors(set))}), onnxpb.TensorProto_FLOAT)
	}
	if in.rejected == "" {
		g.end(outFeatures, onnxpb.TensorProto_FLOAT, m, "Identity", []string{phi})
	} else {
		g.end(outFeatures, onnxpb.TensorProto_FLOAT, m, "Where", []string{in.rejected, notANumber(g), phi})
	}
	return outFeatures, nil
}

// notANumber adds the value for features of a rejected row.
func notANumber(g *graph) string { return g.floats("not a number", []float32{float32(math.NaN())}, 1) }

// factors are weight·scale for each feature, rounded as by the featurizer.
func factors(set *wire.FeatureSet) []float64 {
	all := make([]float64, set.Set.Features.Len())
	for i := range all {
		all[i] = float64(set.Set.Scale)
		if set.Set.Weight != nil {
			all[i] = float64(float32(set.Set.Weight[i] * set.Set.Scale))
		}
	}
	return all
}

// omega adds ω with a column for each feature, its rows in the order of the graph's dimensions.
func omega(g *graph, f *scoring.Features, order []int) string {
	m := f.Len()
	turned := make([]float32, f.Dim*m)
	for row, j := range order {
		for i := range m {
			turned[row*m+i] = f.Omega[i*f.Dim+j]
		}
	}
	return g.cast("omega as double", g.floats("omega", turned, m), onnxpb.TensorProto_DOUBLE)
}

// apply adds φ of the projections t = ωᵀx.
func apply(g *graph, f *scoring.Features, t string) (string, error) {
	if f.Mixed() {
		return "", fmt.Errorf("its features of mixed kinds (%+v) have no operators yet", f.Kinds())
	}
	switch f.Map {
	case scoring.MapCosine:
		phase := make([]float64, len(f.Phase))
		for i, b := range f.Phase {
			phase[i] = float64(b) + quarterTurn
		}
		return g.add("phi", "Sin", []string{g.add("arguments", "Add", []string{t, g.row("phase", phase)})}), nil
	case scoring.MapArcCosine0: // H(t) = (sign(t) + 1)/2, ½ for 0
		half := g.double("half", 0.5)
		return g.add("phi", "Add", []string{g.add("half signs", "Mul", []string{g.add("signs", "Sign", []string{t}), half}), half}), nil
	case scoring.MapArcCosine1:
		return g.add("phi", "Relu", []string{t}), nil
	case scoring.MapArcCosine2:
		ramp := g.add("ramps", "Relu", []string{t})
		return g.add("phi", "Mul", []string{ramp, ramp}), nil
	case scoring.MapLinear: // has no projections
	}
	return "", fmt.Errorf("its feature map %v has no operators", f.Map)
}

// coordinates adds the features of the linear map.
func coordinates(g *graph, set *wire.FeatureSet, in rows) string {
	place := make(map[int]int64, len(in.order))
	for at, j := range in.order {
		place[j] = int64(at)
	}
	numbers := make([]int64, set.Set.Features.Len())
	weights := make([]float32, len(numbers))
	for i, factor := range factors(set) {
		numbers[i], weights[i] = place[int(set.Set.Features.Omega[i])], float32(factor)
	}
	return g.add("unmasked features", "Mul", []string{g.pick("coordinates", in.x, numbers), g.floats("weights", weights, len(weights))})
}
