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
		var err error
		if phi, err = ofKinds(g, set, in); err != nil {
			return "", err
		}
	}
	if in.rejected == "" {
		g.end(outFeatures, onnxpb.TensorProto_FLOAT, m, "Identity", []string{phi})
	} else {
		g.end(outFeatures, onnxpb.TensorProto_FLOAT, m, "Where", []string{in.rejected, notANumber(g), phi})
	}
	return outFeatures, nil
}

// ofKinds adds the features, kind by kind, side by side.
func ofKinds(g *graph, set *wire.FeatureSet, in rows) (string, error) {
	f, factor := set.Set.Features, factors(set)
	counts := f.Kinds()
	ramps := f.Projections() - counts.Ramp
	hinges := f.Projections() + counts.Hinge
	var parts []string
	x := ""
	if f.Projections() > 0 {
		x = g.cast("x as double", in.x, onnxpb.TensorProto_DOUBLE)
	}
	if ramps > 0 {
		t := g.add("projections", "MatMul", []string{x, omega(g, f, in.order, 0, ramps)})
		mapped, err := apply(g, f, t)
		if err != nil {
			return "", err
		}
		parts = append(parts, weighted(g, mapped, factor[:ramps]))
	}
	if counts.Ramp > 0 {
		start := make([]float64, 0, counts.Ramp)
		for _, b := range f.Phase[ramps:] {
			start = append(start, float64(b))
		}
		t := g.add("projections", "MatMul", []string{x, omega(g, f, in.order, ramps, f.Projections())})
		t = g.add("arguments", "Add", []string{t, g.row("starts", start)})
		parts = append(parts, weighted(g, g.add("ramps", "Relu", []string{t}), factor[ramps:f.Projections()]))
	}
	for _, products := range []struct {
		add    func(*graph, []scoring.Product, rows) string
		of     []scoring.Product
		factor []float64
	}{
		{hingesOf, f.Products[:counts.Hinge], factor[f.Projections():hinges]},
		{boxesOf, f.Products[counts.Hinge:], factor[hinges:]},
	} {
		if len(products.of) > 0 {
			phi := products.add(g, products.of, in)
			parts = append(
				parts,
				g.add(
					"unmasked features",
					"Mul", []string{phi, g.floats("weights", narrowed(products.factor), len(products.factor))},
				),
			)
		}
	}
	return g.concat("unmasked features", parts), nil
}

// weighted adds a product of features in float64 with their factors, in float32.
func weighted(g *graph, phi string, factor []float64) string {
	return g.cast(
		"unmasked features",
		g.add("weighted", "Mul", []string{phi, g.row("weights", factor)}), onnxpb.TensorProto_FLOAT,
	)
}

// hingesOf adds Π max(0, s·(x_j − t)), in float32 as the featurizer computes it.
func hingesOf(g *graph, hinges []scoring.Product, in rows) string {
	phi := ""
	eachFactor(g, hinges, in, func(a int, signed string) {
		least := make([]float32, len(hinges)) // where there is no factor, s is 0 and the factor is 1
		for i, h := range hinges {
			if a >= int(h.Order) {
				least[i] = 1
			}
		}
		factor := g.add("hinge factors", "Max", []string{signed, g.floats("least", least, len(least))})
		if phi == "" {
			phi = factor
			return
		}
		phi = g.add("hinges", "Mul", []string{phi, factor})
	})
	return phi
}

// boxesOf adds 1 where all s·(x_j − t) ≥ 0, else 0; where there is no factor, s is 0.
func boxesOf(g *graph, boxes []scoring.Product, in rows) string {
	inside := ""
	eachFactor(g, boxes, in, func(_ int, signed string) {
		factor := g.add("box factors", "GreaterOrEqual", []string{signed, g.floats("zero", []float32{0}, 1)})
		if inside == "" {
			inside = factor
			return
		}
		inside = g.add("boxes", "And", []string{inside, factor})
	})
	return g.cast("box features", inside, onnxpb.TensorProto_FLOAT)
}

// eachFactor adds s·(x_j − t) of the factors a = 0, 1, … of all products, up to the largest number
// of factors.
func eachFactor(g *graph, products []scoring.Product, in rows, do func(a int, signed string)) {
	place, orders := in.places(), 0
	for _, p := range products {
		orders = max(orders, int(p.Order))
	}
	for a := range orders {
		coordinate := make([]int64, len(products))
		threshold, sign := make([]float32, len(products)), make([]float32, len(products))
		for i, p := range products {
			coordinate[i] = place[int(p.Coordinate[a])]
			threshold[i] = p.Threshold[a]
			sign[i] = p.Sign[a]
		}
		past := g.add(
			"differences",
			"Sub",
			[]string{g.pick("factor columns", in.x, coordinate), g.floats("thresholds", threshold, len(threshold))},
		)
		do(a, g.add("signed differences", "Mul", []string{past, g.floats("signs", sign, len(sign))}))
	}
}

// places returns where each dimension is in the graph's order.
func (in *rows) places() map[int]int64 {
	place := make(map[int]int64, len(in.order))
	for at, j := range in.order {
		place[j] = int64(at)
	}
	return place
}

// narrowed returns the numbers as float32.
func narrowed(values []float64) []float32 {
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	return narrow
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

// omega adds ω of features first..next-1 with a column for each, its rows in the order of the
// graph's dimensions.
func omega(g *graph, f *scoring.Features, order []int, first, next int) string {
	m := next - first
	turned := make([]float32, f.Dim*m)
	for row, j := range order {
		for i := range m {
			turned[row*m+i] = f.Omega[(first+i)*f.Dim+j]
		}
	}
	return g.cast("omega as double", g.floats("omega", turned, m), onnxpb.TensorProto_DOUBLE)
}

// apply adds φ of the projections t = ωᵀx of the features that are no ramps.
func apply(g *graph, f *scoring.Features, t string) (string, error) {
	switch f.Map {
	case scoring.MapCosine:
		phase := make([]float64, f.Kinds().Cosine)
		for i, b := range f.Phase[:len(phase)] {
			phase[i] = float64(b) + quarterTurn
		}
		return g.add("phi", "Sin", []string{g.add("arguments", "Add", []string{t, g.row("phase", phase)})}), nil
	case scoring.MapArcCosine0: // H(t) = (sign(t) + 1)/2, ½ for 0
		half := g.double("half", 0.5)
		return g.add(
			"phi",
			"Add", []string{g.add("half signs", "Mul", []string{g.add("signs", "Sign", []string{t}), half}), half},
		), nil
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
	place, numbers := in.places(), make([]int64, set.Set.Features.Len())
	for i, j := range set.Set.Features.Omega {
		numbers[i] = place[int(j)]
	}
	weights := narrowed(factors(set))
	return g.add(
		"unmasked features",
		"Mul", []string{g.pick("coordinates", in.x, numbers), g.floats("weights", weights, len(weights))},
	)
}
