package onnx

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// Versions that a runtime must support. Those from the middle of 2022 on do.
const (
	irVersion       = 8
	operators       = 17
	learners        = 3 // ai.onnx.ml
	domainOfLearner = "ai.onnx.ml"
)

// maxBytes is the most that Protobuf readers accept.
const maxBytes = math.MaxInt32

// ErrNotExportable marks a set or model that no graph can represent.
var ErrNotExportable = errors.New("cannot be written as ONNX")

// Options are settings of the graph that the set and the model do not determine.
type Options struct {
	// MissingText is the missing value for category inputs. It must not be one of the categories.
	MissingText string
	// Threshold is the probability of the second of two classes above which the graph decides it; 0
	// = the more probable class.
	Threshold float64
	// Program and Version name the writer of the graph.
	Program, Version string
}

// File is an ONNX file and its description.
type File struct {
	Bytes   []byte
	Inputs  []Input
	Outputs []Output
}

// Encode returns the graph of a feature set and, unless it is nil, a model on it. The result
// depends only on these and the options. Both must be valid. A model of another set is an error,
// and so is anything that no graph can represent.
func Encode(set *wire.FeatureSet, model *wire.Model, o Options) (*File, error) {
	if model != nil {
		if err := model.CheckSet(set); err != nil {
			return nil, err
		}
		if set.Encoder.Label != nil {
			err := training.CheckThreshold(o.Threshold, len(set.Encoder.Label.Classes), model.Model.Loss)
			if err != nil {
				return nil, fmt.Errorf("decide with model %s: %w", model.ID, err)
			}
		}
	}
	inputs, err := inputsOf(set.Encoder, o.MissingText)
	if err != nil {
		return nil, refused(set, err)
	}
	g := newGraph(inputs)
	if err := fill(g, set, model, inputs, training.Cut(o.Threshold)); err != nil {
		return nil, refused(set, err)
	}
	m := describe(g, set, model, inputs, o)
	if size := proto.Size(m); size > maxBytes {
		return nil, refused(set, fmt.Errorf("its graph has %d bytes, at most %d are read", size, maxBytes))
	}
	content, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil, refused(set, err)
	}
	return &File{Bytes: content, Inputs: inputs, Outputs: outputsOf(g)}, nil
}

// refused returns the error for a set without a graph.
func refused(set *wire.FeatureSet, why error) error {
	return fmt.Errorf("feature set %s %w: %w", set.ID(), ErrNotExportable, why)
}

// fill adds all nodes; the second of two classes is decided if its output is above the cut.
func fill(g *graph, set *wire.FeatureSet, model *wire.Model, inputs []Input, cut float32) error {
	rows := encode(g, set.Encoder, inputs)
	features, err := featurize(g, set, rows)
	if err != nil || model == nil {
		return err
	}
	return predict(g, set.Encoder.Label, model.Model, cut, features, rows.rejected)
}
