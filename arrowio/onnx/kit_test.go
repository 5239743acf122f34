package onnx

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/onnx/internal/onnxpb"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// everyKind are columns of every kind, with everything that a column can have.
func everyKind() []encoder.Column {
	return []encoder.Column{
		{
			Name: "age", Kind: encoder.Numeric, Width: 2, Missing: true, Mean: []float64{41.5}, Scale: []float64{13},
			Low: []float64{-40}, High: []float64{200},
		},
		{Name: "city", Kind: encoder.Category, Width: 4, Categories: []string{"Köln", "Oslo"}, Other: true, Missing: true},
		{
			Name:    "seen",
			Kind:    encoder.Time,
			Width:   8,
			Missing: true,
			Cycles:  []encoder.Cycle{encoder.Week, encoder.Year},
			Mean:    []float64{1.7e9},
			Scale:   []float64{1e7},
			Low:     []float64{1.69e9},
			High:    []float64{1.705e9},
		},
		{Name: "class", Kind: encoder.Bool, Width: 1, Mean: []float64{0.25}},
		{Name: "pixels", Kind: encoder.Vector, Width: 2, Mean: []float64{-1, 3}, Scale: []float64{1, 2}},
		{
			Name:   "opens",
			Kind:   encoder.Clock,
			Width:  3,
			Cycles: []encoder.Cycle{encoder.Day},
			Mean:   []float64{3e4},
			Scale:  []float64{9e3},
		},
		{Name: "plan", Kind: encoder.Category, Width: 2, Categories: []string{"a", "b"}},
	}
}

// classes is a label with n classes.
func classes(n int) *encoder.Label {
	l := &encoder.Label{Columns: []string{"y"}, Kind: encoder.Category, Task: scoring.MultiClass}
	if n == 2 {
		l.Task = scoring.Binary
	}
	for i := range n {
		l.Classes = append(l.Classes, fmt.Sprintf("class %d", i))
	}
	return l
}

// regression is a label with several outputs.
func regression(outputs int, transform encoder.Transform) *encoder.Label {
	l := &encoder.Label{
		Kind:      encoder.Numeric,
		Task:      scoring.Regression,
		Transform: transform,
		Mean:      make([]float64, outputs),
	}
	for i := range outputs {
		l.Columns = append(l.Columns, fmt.Sprintf("y%d", i))
	}
	return l
}

// setOf is a set of three features of a map over columns.
func setOf(t testing.TB, m scoring.Map, columns []encoder.Column, label *encoder.Label) *wire.FeatureSet {
	t.Helper()
	e := &encoder.Encoder{
		Columns:     columns,
		Clip:        5,
		Tail:        encoder.TailLog,
		Standardize: encoder.StandardizeNumeric,
		NaN:         encoder.NaNMissing,
		Label:       label,
	}
	for _, c := range columns {
		e.Dim += c.Width
	}
	const features = 3
	k := label.Outputs()
	r := rand.New(rand.NewPCG(1, 2))
	c := scoring.Candidates{Map: m, Distribution: scoring.Gaussian, Sigma: 2, Seed: 7, Dim: e.Dim, Count: 8}
	if m == scoring.MapLinear {
		c.Count = e.Dim
	}
	s := scoring.Selection{Index: []int32{4, 0, 2}, Score: make([]float64, features), S: make([]float64, features*k)}
	f := &wire.FeatureSet{
		Encoder: e, Set: *scoring.NewFeatureSet(c, s), Task: label.Task, Candidates: c,
		Coding:  scoring.Coding{Gain: make([]float64, k), Offset: make([]float64, k)},
		Lineage: wire.Lineage{Pipeline: "income", Exploration: "income.3.abc", Sequence: 3},
	}
	f.Set.Weight = make([]float32, features)
	for i := range f.Set.Weight {
		f.Set.Weight[i] = 1 + r.Float32()
	}
	if err := f.Validate(); err != nil {
		t.Fatal(err)
	}
	return f
}

// modelOf is a model on a set.
func modelOf(t testing.TB, set *wire.FeatureSet, loss string) *wire.Model {
	t.Helper()
	k, features := set.Encoder.Outputs(), set.Set.Features.Len()
	m := &wire.Model{
		Pipeline: "income", FeatureSetID: set.ID(), Sequence: 3, Label: set.Encoder.Label,
		Model: &training.Model{
			Features:  features,
			Outputs:   k,
			Theta:     make([]float64, k*features),
			Intercept: make([]float64, k),
			Loss:      loss,
		},
	}
	for i := range m.Model.Theta {
		m.Model.Theta[i] = float64(i) + 0.5
	}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	return m
}

var testOptions = Options{Program: "eerf test", Version: "1"}

// decoded encodes a graph and reads it back.
func decoded(t testing.TB, set *wire.FeatureSet, model *wire.Model, o Options) (*File, *onnxpb.ModelProto) {
	t.Helper()
	file, err := Encode(set, model, o)
	if err != nil {
		t.Fatal(err)
	}
	var m onnxpb.ModelProto
	if err := proto.Unmarshal(file.Bytes, &m); err != nil {
		t.Fatal(err)
	}
	return file, &m
}

// faults lists what makes a graph impossible to run: a value that is used before it is made, made
// twice, or never used.
func faults(g *onnxpb.GraphProto) []string {
	var found []string
	there, used := map[string]bool{}, map[string]bool{}
	define := func(name string) {
		if there[name] || name == "" {
			found = append(found, fmt.Sprintf("%q is made twice, or has no name", name))
		}
		there[name] = true
	}
	for _, in := range g.GetInput() {
		define(in.GetName())
	}
	for _, c := range g.GetInitializer() {
		define(c.GetName())
	}
	for _, node := range g.GetNode() {
		for _, in := range node.GetInput() {
			if !there[in] {
				found = append(found, fmt.Sprintf("%s: %q is not there yet", node.GetName(), in))
			}
			used[in] = true
		}
		for _, out := range node.GetOutput() {
			define(out)
		}
	}
	for _, out := range g.GetOutput() {
		if !there[out.GetName()] {
			found = append(found, fmt.Sprintf("output %q is not made", out.GetName()))
		}
		used[out.GetName()] = true
	}
	for name := range there {
		if !used[name] {
			found = append(found, fmt.Sprintf("%q is not used", name))
		}
	}
	slices.Sort(found)
	return found
}

// render writes a graph as text, with the first numbers of its constants.
func render(m *onnxpb.ModelProto) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ir %d by %s %s in %s, version "+
		"%d\n%s\n", m.GetIrVersion(), m.GetProducerName(), m.GetProducerVersion(), m.GetDomain(),
		m.GetModelVersion(), m.GetDocString())
	for _, o := range m.GetOpsetImport() {
		fmt.Fprintf(&b, "operators %q %d\n", o.GetDomain(), o.GetVersion())
	}
	for _, e := range m.GetMetadataProps() {
		fmt.Fprintf(&b, "%s = %s\n", e.GetKey(), e.GetValue())
	}
	for _, in := range m.GetGraph().GetInput() {
		fmt.Fprintf(&b, "input %s: %s\n", renderValue(in), in.GetDocString())
	}
	for _, c := range m.GetGraph().GetInitializer() {
		fmt.Fprintf(
			&b,
			"constant %q %s %v: %s\n",
			c.GetName(),
			onnxpb.TensorProto_DataType(c.GetDataType()),
			c.GetDims(),
			renderData(c),
		)
	}
	for _, node := range m.GetGraph().GetNode() {
		fmt.Fprintf(
			&b,
			"%q = %s(%q)",
			node.GetOutput(),
			strings.TrimPrefix(node.GetDomain()+" "+node.GetOpType(), " "),
			node.GetInput(),
		)
		for _, a := range node.GetAttribute() {
			fmt.Fprintf(&b, " %s:%s", a.GetName(), renderAttribute(a))
		}
		b.WriteString("\n")
	}
	for _, out := range m.GetGraph().GetOutput() {
		fmt.Fprintf(&b, "output %s\n", renderValue(out))
	}
	return b.String()
}

func renderValue(v *onnxpb.ValueInfoProto) string {
	t := v.GetType().GetTensorType()
	dims := t.GetShape().GetDim()
	return fmt.Sprintf(
		"%q %s [%s, %d]",
		v.GetName(), onnxpb.TensorProto_DataType(t.GetElemType()), dims[0].GetDimParam(), dims[1].GetDimValue(),
	)
}

// renderData writes numbers with the digits that do not depend on how the processor rounds a sine.
func renderData(c *onnxpb.TensorProto) string {
	if c.GetDataType() == int32(onnxpb.TensorProto_STRING) {
		return fmt.Sprintf("%q", c.GetStringData())
	}
	var words []string
	for _, v := range numbersOf(c) {
		words = append(words, fmt.Sprintf("%.6g", v))
	}
	return strings.Join(words, " ")
}

func renderAttribute(a *onnxpb.AttributeProto) string {
	switch a.GetType() {
	case onnxpb.AttributeProto_INT:
		return fmt.Sprint(a.GetI())
	case onnxpb.AttributeProto_INTS:
		return fmt.Sprint(a.GetInts())
	default:
		return fmt.Sprintf("%q", a.GetStrings())
	}
}
