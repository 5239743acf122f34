package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/eerf-stream/eerf/arrowio/onnx/internal/onnxpb"
)

// graph collects nodes in the order in which they run.
type graph struct {
	nodes     []*onnxpb.NodeProto
	constants []*onnxpb.TensorProto
	outputs   []*onnxpb.ValueInfoProto
	names     map[string]bool // of all values
	learns    bool            // an operator of ai.onnx.ml is used
}

func newGraph(inputs []Input) *graph {
	g := &graph{names: reserved()}
	for _, in := range inputs {
		g.names[in.Name] = true
	}
	return g
}

// fresh returns a name that no value has yet.
func (g *graph) fresh(base string) string {
	name := base
	for i := 2; g.names[name]; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	g.names[name] = true
	return name
}

// add adds a node and returns the name of its output: the given name, or a variation of it if that
// is taken.
func (g *graph) add(what, operator string, inputs []string, attributes ...*onnxpb.AttributeProto) string {
	out := g.fresh(what)
	g.append(out, operator, inputs, attributes)
	return out
}

// end adds a node whose output is an output of the graph.
func (g *graph) end(
	out string,
	element onnxpb.TensorProto_DataType,
	width int,
	operator string,
	inputs []string,
	attributes ...*onnxpb.AttributeProto,
) {
	g.append(out, operator, inputs, attributes)
	g.outputs = append(g.outputs, value(out, element, width))
}

func (g *graph) append(out, operator string, inputs []string, attributes []*onnxpb.AttributeProto) {
	node := &onnxpb.NodeProto{
		Name: proto.String("make " + out), OpType: proto.String(operator), Input: inputs, Output: []string{out},
		Attribute: attributes,
	}
	if operator == "LabelEncoder" {
		node.Domain, g.learns = proto.String(domainOfLearner), true
	}
	g.nodes = append(g.nodes, node)
}

// opsets are the operator sets that the nodes use.
func (g *graph) opsets() []*onnxpb.OperatorSetIdProto {
	sets := []*onnxpb.OperatorSetIdProto{{Domain: proto.String(""), Version: proto.Int64(operators)}}
	if g.learns {
		sets = append(sets, &onnxpb.OperatorSetIdProto{Domain: proto.String(domainOfLearner), Version: proto.Int64(learners)})
	}
	return sets
}

// cast adds a conversion.
func (g *graph) cast(what, in string, to onnxpb.TensorProto_DataType) string {
	return g.add(what, "Cast", []string{in}, integer("to", int64(to)))
}

// concat puts values side by side.
func (g *graph) concat(what string, parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	return g.add(what, "Concat", parts, integer("axis", 1))
}

// pick adds a selection of columns of a value by index.
func (g *graph) pick(what, in string, numbers []int64) string {
	return g.add(what, "Gather", []string{in, g.integers(what+" numbers", numbers)}, integer("axis", 1))
}

// where adds a choice between two values.
func (g *graph) where(what, condition, yes, no string) string {
	return g.add(what, "Where", []string{condition, yes, no})
}

// constant adds a constant and returns its name.
func (g *graph) constant(what string, t *onnxpb.TensorProto) string {
	name := g.fresh(what)
	t.Name = proto.String(name)
	g.constants = append(g.constants, t)
	return name
}

// doubles adds a constant of rank 2 with rows of the given number of columns.
func (g *graph) doubles(what string, values []float64, columns int) string {
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	return g.constant(what, tensor(onnxpb.TensorProto_DOUBLE, raw, len(values)/columns, columns))
}

// row adds a constant of one row of float64.
func (g *graph) row(what string, values []float64) string {
	return g.doubles(what, values, len(values))
}

// double adds a constant that is broadcast to every row and column.
func (g *graph) double(what string, v float64) string { return g.doubles(what, []float64{v}, 1) }

// floats adds a constant of rank 2 with rows of the given number of columns.
func (g *graph) floats(what string, values []float32, columns int) string {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return g.constant(what, tensor(onnxpb.TensorProto_FLOAT, raw, len(values)/columns, columns))
}

// integers adds a constant of rank 1.
func (g *graph) integers(what string, values []int64) string {
	return g.constant(what, tensor(onnxpb.TensorProto_INT64, rawIntegers(values), len(values)))
}

// codes adds a constant of one row of integers.
func (g *graph) codes(what string, values []int64) string {
	return g.constant(what, tensor(onnxpb.TensorProto_INT64, rawIntegers(values), 1, len(values)))
}

// texts adds a constant of rank 1.
func (g *graph) texts(what string, values []string) string {
	t := tensor(onnxpb.TensorProto_STRING, nil, len(values))
	for _, v := range values {
		t.StringData = append(t.StringData, []byte(v))
	}
	return g.constant(what, t)
}

func rawIntegers(values []int64) []byte {
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return raw
}

// tensor is a constant without a name.
func tensor(element onnxpb.TensorProto_DataType, raw []byte, dims ...int) *onnxpb.TensorProto {
	t := &onnxpb.TensorProto{DataType: proto.Int32(int32(element)), RawData: raw}
	for _, d := range dims {
		t.Dims = append(t.Dims, int64(d))
	}
	return t
}

// integer makes an attribute.
func integer(name string, v int64) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: proto.String(name), Type: onnxpb.AttributeProto_INT.Enum(), I: proto.Int64(v)}
}

// integerList makes an attribute.
func integerList(name string, v []int64) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: proto.String(name), Type: onnxpb.AttributeProto_INTS.Enum(), Ints: v}
}

// floating makes an attribute.
func floating(name string, v float32) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: proto.String(name), Type: onnxpb.AttributeProto_FLOAT.Enum(), F: proto.Float32(v)}
}

// floatList makes an attribute.
func floatList(name string, v []float32) *onnxpb.AttributeProto {
	return &onnxpb.AttributeProto{Name: proto.String(name), Type: onnxpb.AttributeProto_FLOATS.Enum(), Floats: v}
}

// textList makes an attribute.
func textList(name string, v []string) *onnxpb.AttributeProto {
	a := &onnxpb.AttributeProto{Name: proto.String(name), Type: onnxpb.AttributeProto_STRINGS.Enum()}
	for _, text := range v {
		a.Strings = append(a.Strings, []byte(text))
	}
	return a
}
