package onnx

import (
	"encoding/json"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/eerf-stream/eerf/arrowio/onnx/internal/onnxpb"
	"github.com/eerf-stream/eerf/arrowio/wire"
)

// formatVersion is the version of the inputs, outputs and metadata of a graph.
const formatVersion = 1

// metadata describes the graph's contents and how to fill its inputs.
func metadata(
	set *wire.FeatureSet,
	model *wire.Model,
	inputs []Input,
	threshold float64,
) []*onnxpb.StringStringEntryProto {
	var entries []*onnxpb.StringStringEntryProto
	add := func(key, text string) {
		entries = append(entries, &onnxpb.StringStringEntryProto{Key: proto.String("eerf." + key), Value: proto.String(text)})
	}
	add("format_version", strconv.Itoa(formatVersion))
	add("pipeline", set.Lineage.Pipeline)
	add("exploration", set.Lineage.Exploration)
	add("feature_set", set.ID())
	add("inputs", list(inputs))
	if model == nil {
		return entries
	}
	add("model", wire.ModelID(model))
	add("label", list(set.Encoder.Label.Columns))
	if classes := set.Encoder.Label.Classes; len(classes) > 0 {
		add("classes", list(classes))
	}
	if threshold != 0 {
		add("threshold", strconv.FormatFloat(threshold, 'g', -1, 64))
	}
	return entries
}

// list writes a list as JSON.
func list[T any](values []T) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic("onnx: " + err.Error()) // only text and numbers
	}
	return string(text)
}

// describe returns the graph with all its descriptive fields.
func describe(g *graph, set *wire.FeatureSet, model *wire.Model, inputs []Input, o Options) *onnxpb.ModelProto {
	return &onnxpb.ModelProto{
		IrVersion:    proto.Int64(irVersion),
		OpsetImport:  g.opsets(),
		ProducerName: proto.String(o.Program), ProducerVersion: proto.String(o.Version),
		Domain: proto.String("com.github.eerf-stream"), ModelVersion: proto.Int64(set.Lineage.Sequence),
		DocString:     proto.String(sentence(set, model)),
		MetadataProps: metadata(set, model, inputs, o.Threshold),
		Graph: &onnxpb.GraphProto{
			Name: proto.String("eerf"), Input: valuesOf(inputs), Output: g.outputs, Initializer: g.constants, Node: g.nodes,
		},
	}
}

// sentence describes the graph.
func sentence(set *wire.FeatureSet, model *wire.Model) string {
	text := fmt.Sprintf(
		"%d random features (%v) of feature set %s",
		set.Set.Features.Len(), set.Set.Features.Map, set.ID(),
	)
	if model != nil {
		text += fmt.Sprintf(", and the predictions of model %s", wire.ModelID(model))
	}
	return text
}
