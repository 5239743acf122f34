package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/onnx/internal/onnxpb"
)

// The outputs.
const (
	outFeatures      = "features"
	outPrediction    = "prediction"
	outClass         = "class"
	outProbabilities = "probabilities"
)

// missingTime is the missing value of times: numpy's NaT.
const missingTime = -1 << 63

// Input is a column as the graph reads it. Its JSON is part of the metadata.
type Input struct {
	// Name is the column's name, unless an output has it.
	Name   string       `json:"input"`
	Column string       `json:"column"`
	Kind   encoder.Kind `json:"kind"`
	Type   string       `json:"type"`
	Width  int          `json:"width"`
	// Missing is the missing value, as text.
	Missing string `json:"missing"`
	// Unit is the unit of a time.
	Unit string `json:"unit,omitempty"`
}

// inputsOf returns the inputs for the columns of an encoder, in their order.
func inputsOf(e *encoder.Encoder, missingText string) ([]Input, error) {
	taken := reserved()
	for i := range e.Columns {
		taken[e.Columns[i].Name] = true
	}
	var faults []error
	inputs := make([]Input, len(e.Columns))
	for i := range e.Columns {
		in, err := inputOf(&e.Columns[i], missingText)
		if err != nil {
			faults = append(faults, err)
		}
		if reserved()[in.Name] {
			for taken[in.Name] {
				in.Name += "_"
			}
			taken[in.Name] = true
		}
		inputs[i] = in
	}
	return inputs, errors.Join(faults...)
}

// reserved are the names that no input can have: the names of all outputs, even of outputs that the
// graph lacks, and the empty name.
func reserved() map[string]bool {
	return map[string]bool{"": true, outFeatures: true, outPrediction: true, outClass: true, outProbabilities: true}
}

// inputOf returns the input of a column, under its name.
func inputOf(c *encoder.Column, missingText string) (Input, error) {
	in := Input{Name: c.Name, Column: c.Name, Kind: c.Kind, Width: 1}
	switch c.Kind {
	case encoder.Numeric, encoder.Bool:
		in.Type, in.Missing = "double", "NaN"
	case encoder.Vector:
		in.Type = "double"
		in.Missing = "NaN"
		in.Width = c.Width
	case encoder.Time:
		in.Type = "int64"
		in.Missing = strconv.FormatInt(missingTime, 10)
		in.Unit = "microseconds since 1970 in UTC"
	case encoder.Clock:
		in.Type = "int64"
		in.Missing = strconv.FormatInt(missingTime, 10)
		in.Unit = "microseconds since midnight"
	case encoder.Category:
		in.Type, in.Missing = "string", missingText
		if slices.Contains(c.Categories, missingText) || c.Effects != nil && slices.Contains(c.Effects.Values, missingText) {
			return in, fmt.Errorf("%q, which stands for a missing text, is a category of column %q", missingText, c.Name)
		}
	default:
		return in, fmt.Errorf("column %q is of kind %q, which has no input", c.Name, c.Kind)
	}
	return in, nil
}

// elements are the element types of inputs.
var elements = map[string]onnxpb.TensorProto_DataType{
	"double": onnxpb.TensorProto_DOUBLE, "int64": onnxpb.TensorProto_INT64, "string": onnxpb.TensorProto_STRING,
}

// valuesOf declares the inputs.
func valuesOf(inputs []Input) []*onnxpb.ValueInfoProto {
	values := make([]*onnxpb.ValueInfoProto, len(inputs))
	for i, in := range inputs {
		values[i] = value(in.Name, elements[in.Type], in.Width)
		text := fmt.Sprintf("column %q, %s; missing: %q", in.Column, in.Kind, in.Missing)
		if in.Unit != "" {
			text = fmt.Sprintf("column %q, %s in %s; missing: %s", in.Column, in.Kind, in.Unit, in.Missing)
		}
		values[i].DocString = proto.String(text)
	}
	return values
}

// Output is an output of the graph.
type Output struct {
	Name  string `json:"output"`
	Type  string `json:"type"`
	Width int    `json:"width"`
}

// outputsOf are the outputs of a graph.
func outputsOf(g *graph) []Output {
	outputs := make([]Output, len(g.outputs))
	for i, v := range g.outputs {
		t := v.GetType().GetTensorType()
		element := strings.ToLower(onnxpb.TensorProto_DataType(t.GetElemType()).String())
		outputs[i] = Output{v.GetName(), element, int(t.GetShape().GetDim()[1].GetDimValue())}
	}
	return outputs
}

// value declares an input or output of rank 2.
func value(name string, element onnxpb.TensorProto_DataType, width int) *onnxpb.ValueInfoProto {
	rows := &onnxpb.TensorShapeProto_Dimension{Value: &onnxpb.TensorShapeProto_Dimension_DimParam{DimParam: "N"}}
	columns := &onnxpb.TensorShapeProto_Dimension{
		Value: &onnxpb.TensorShapeProto_Dimension_DimValue{DimValue: int64(width)},
	}
	return &onnxpb.ValueInfoProto{Name: proto.String(name), Type: &onnxpb.TypeProto{Value: &onnxpb.TypeProto_TensorType{
		TensorType: &onnxpb.TypeProto_Tensor{
			ElemType: proto.Int32(int32(element)),
			Shape:    &onnxpb.TensorShapeProto{Dim: []*onnxpb.TensorShapeProto_Dimension{rows, columns}},
		},
	}}}
}
