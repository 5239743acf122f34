package onnx

import (
	"errors"
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/onnx/internal/onnxpb"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// predict adds a model and the outputs for its predictions.
func predict(g *graph, label *encoder.Label, m *training.Model, cut float32, features, rejected string) error {
	if label == nil {
		return errors.New("it has no label to predict")
	}
	z := g.cast("features as double", features, onnxpb.TensorProto_DOUBLE)
	sums := g.add("weighted sums", "MatMul", []string{z, theta(g, m)})
	f := g.add("outputs as double", "Add", []string{sums, g.row("intercept", m.Intercept)})
	switch label.Task {
	case scoring.Regression:
		return regress(g, label.Transform, m.Outputs, f, rejected)
	case scoring.Binary, scoring.MultiClass:
		f = g.cast("outputs", f, onnxpb.TensorProto_FLOAT)
		classify(g, label.Classes, m.Outputs, cut, f, rejected)
		if m.Loss == training.LossLogistic {
			probabilities(g, len(label.Classes), m.Outputs, f)
		}
		return nil
	}
	return fmt.Errorf("task %v of its label has no outputs", label.Task)
}

// theta adds the weights with a column for each output.
func theta(g *graph, m *training.Model) string {
	turned := make([]float64, len(m.Theta))
	for k := range m.Outputs {
		for i := range m.Features {
			turned[i*m.Outputs+k] = m.Theta[k*m.Features+i]
		}
	}
	return g.doubles("theta", turned, m.Outputs)
}

// regress adds predictions in the units of the label.
func regress(g *graph, transform encoder.Transform, outputs int, f, rejected string) error {
	const element = onnxpb.TensorProto_DOUBLE
	if transform == "" {
		g.end(outPrediction, element, outputs, "Identity", []string{f})
		return nil
	}
	label := g.add("powers", "Exp", []string{f})
	switch transform {
	case encoder.TransformLog:
	case encoder.TransformLog1p:
		label = g.add("powers less one", "Sub", []string{label, g.double("one", 1)})
	default:
		return fmt.Errorf("transform %q of its label has no operators", transform)
	}
	bounded := []string{label, g.double("largest", math.MaxFloat64)}
	if rejected == "" {
		g.end(outPrediction, element, outputs, "Min", bounded)
		return nil
	}
	label = g.add("unmasked predictions", "Min", bounded)
	g.end(outPrediction, element, outputs, "Where", []string{rejected, g.double("no prediction", math.NaN()), label})
	return nil
}

// classify adds the names of classes: with one output, the second class if it is above the cut;
// with several, the class of the greatest output, the first one on a tie.
func classify(g *graph, classes []string, outputs int, cut float32, f, rejected string) {
	var number string
	if outputs == 1 {
		positive := g.add("positive", "Greater", []string{f, g.floats("cut", []float32{cut}, 1)})
		number = g.cast("class number", positive, onnxpb.TensorProto_INT64)
	} else {
		number = g.add("class number", "ArgMax", []string{f}, integer("axis", 1), integer("keepdims", 1))
	}
	if rejected != "" {
		none := int64(len(classes))
		number = g.where("class number or none", rejected, g.codes("no class", []int64{none}), number)
	}
	names := append(append([]string{}, classes...), "")
	g.end(
		outClass,
		onnxpb.TensorProto_STRING, 1, "Gather", []string{g.texts("classes", names), number}, integer("axis", 0),
	)
}

// probabilities adds the probabilities of the classes under the logistic loss.
func probabilities(g *graph, classes, outputs int, f string) {
	f = g.cast("scores", f, onnxpb.TensorProto_DOUBLE)
	var p string
	if outputs == 1 {
		both := g.concat("both scores", []string{g.add("other score", "Neg", []string{f}), f})
		p = g.add("probabilities as double", "Sigmoid", []string{both})
	} else {
		p = g.add("probabilities as double", "Softmax", []string{f}, integer("axis", 1))
	}
	g.end(
		outProbabilities,
		onnxpb.TensorProto_FLOAT, classes, "Cast", []string{p}, integer("to", int64(onnxpb.TensorProto_FLOAT)),
	)
}
