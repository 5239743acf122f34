package onnx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/onnx/internal/onnxpb"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// numbersOf returns the numbers of a constant.
func numbersOf(c *onnxpb.TensorProto) (values []float64) {
	raw := c.GetRawData()
	for len(raw) > 0 {
		switch onnxpb.TensorProto_DataType(c.GetDataType()) {
		case onnxpb.TensorProto_FLOAT:
			values, raw = append(values, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))), raw[4:]
		case onnxpb.TensorProto_DOUBLE:
			values, raw = append(values, math.Float64frombits(binary.LittleEndian.Uint64(raw))), raw[8:]
		default:
			values, raw = append(values, float64(int64(binary.LittleEndian.Uint64(raw)))), raw[8:]
		}
	}
	return values
}

// exports are graphs with everything that a graph can have, by name.
func exports(t testing.TB) map[string]func() (*wire.FeatureSet, *wire.Model) {
	with := func(
		m scoring.Map, columns []encoder.Column, label *encoder.Label, loss string,
	) func() (*wire.FeatureSet, *wire.Model) {
		return func() (*wire.FeatureSet, *wire.Model) {
			set := setOf(t, m, columns, label)
			if loss == "" {
				return set, nil
			}
			return set, modelOf(t, set, loss)
		}
	}
	texts := []encoder.Column{{Name: "plan", Kind: encoder.Category, Width: 2, Categories: []string{"a", "b"}}}
	effects := []encoder.Column{{
		Name: "shop", Kind: encoder.Category, Width: 4, Categories: []string{"a"}, Other: true, Missing: true,
		Effects: &encoder.Effects{
			Values: []string{"a", "b"}, Rows: []int64{1, 2, 3, 4, 5, 6, 7, 8}, Sums: []float64{1, -1, 2, -2, 1, 3, -3, 4},
			Mean: []float64{0.25}, Prior: 3, Scale: []float64{0.5},
		},
	}}
	times := []encoder.Column{{Name: "seen", Kind: encoder.Time, Width: 1, Mean: []float64{1.7e9}, Scale: []float64{1e7}}}
	return map[string]func() (*wire.FeatureSet, *wire.Model){
		"effects":       with(scoring.MapCosine, effects, regression(1, ""), training.LossSquared),
		"set":           with(scoring.MapCosine, everyKind(), classes(3), ""),
		"three_classes": with(scoring.MapCosine, everyKind(), classes(3), training.LossLogistic),
		"two_classes":   with(scoring.MapArcCosine0, everyKind(), classes(2), training.LossLogistic),
		"squared":       with(scoring.MapArcCosine1, everyKind(), classes(2), training.LossSquared),
		"regression":    with(scoring.MapArcCosine2, everyKind(), regression(1, ""), training.LossSquared),
		"outputs":       with(scoring.MapLinear, everyKind(), regression(2, ""), training.LossSquared),
		"log":           with(scoring.MapCosine, everyKind(), regression(1, encoder.TransformLog), training.LossSquared),
		"log1p_texts":   with(scoring.MapCosine, texts, regression(1, encoder.TransformLog1p), training.LossSquared),
		"mixed": func() (*wire.FeatureSet, *wire.Model) {
			set := setOf(t, scoring.MapCosine, everyKind(), classes(2))
			f := *set.Set.Features
			f.Omega, f.Phase, f.Ramps = f.Omega[:2*f.Dim], []float32{1, -3}, 1
			f.Products = []scoring.Product{
				{
					Order:      2,
					Coordinate: [scoring.MaxOrder]uint16{5, 2},
					Sign:       [scoring.MaxOrder]float32{1, -1},
					Threshold:  [scoring.MaxOrder]float32{0.5, 2},
				},
			}
			set.Set.Features = &f
			return set, modelOf(t, set, training.LossLogistic)
		},
		"boxes": func() (*wire.FeatureSet, *wire.Model) {
			set := setOf(t, scoring.MapCosine, everyKind(), classes(2))
			f := scoring.Features{Map: scoring.MapCosine, Dim: set.Encoder.Dim, Omega: []float32{}, Phase: []float32{}}
			for j := range uint16(3) {
				f.Products = append(f.Products, scoring.Product{
					Box: true, Order: 1, Coordinate: [scoring.MaxOrder]uint16{j}, Sign: [scoring.MaxOrder]float32{1},
					Threshold: [scoring.MaxOrder]float32{0.25},
				})
			}
			set.Set.Features = &f
			return set, nil
		},
		"null_words": func() (*wire.FeatureSet, *wire.Model) {
			set := setOf(t, scoring.MapCosine, everyKind(), classes(2))
			set.Encoder.NullWords = []string{"-999", "keine"}
			return set, nil
		},
		"times": with(scoring.MapCosine, times, classes(2), training.LossLogistic),
	}
}

// A graph keeps its inputs, outputs, operators and constants: a program that can run one of today
// must be able to run one of tomorrow.
func TestGraphs(t *testing.T) {
	for name, parts := range exports(t) {
		t.Run(name, func(t *testing.T) {
			set, model := parts()
			file, m := decoded(t, set, model, testOptions)
			for _, fault := range faults(m.GetGraph()) {
				t.Error(fault)
			}
			again, err := Encode(set, model, testOptions)
			if err != nil || !bytes.Equal(file.Bytes, again.Bytes) {
				t.Errorf("another time other bytes: %v", err)
			}
			path, got := filepath.Join("testdata", name+".txt"), render(m)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the graph is not that of %s (-update):\n%s", path, got)
			}
		})
	}
}

// Columns may have the names of outputs and of internal values.
func TestInputsOfReservedNamesAreRenamed(t *testing.T) {
	var columns []encoder.Column
	for _, name := range []string{
		"", "x", "features", "class", "class_", "probabilities", "values", "omega", "make x", "_",
	} {
		columns = append(
			columns,
			encoder.Column{Name: name, Kind: encoder.Numeric, Width: 1, Mean: []float64{0}, Scale: []float64{1}},
		)
	}
	set := setOf(t, scoring.MapCosine, columns, classes(2))
	file, m := decoded(t, set, modelOf(t, set, training.LossLogistic), testOptions)
	for _, fault := range faults(m.GetGraph()) {
		t.Error(fault)
	}
	var names []string
	for i, in := range file.Inputs {
		names = append(names, in.Name)
		if in.Column != columns[i].Name {
			t.Errorf("input %q is of %q, want %q", in.Name, in.Column, columns[i].Name)
		}
	}
	want := []string{"__", "x", "features_", "class__", "class_", "probabilities_", "values", "omega", "make x", "_"}
	if !slices.Equal(names, want) {
		t.Errorf("inputs %q, want %q", names, want)
	}
}

func TestSetsWithoutAGraphAreRefused(t *testing.T) {
	set, model := exports(t)["regression"]()
	other := *model
	other.FeatureSetID = "fs-other"
	unknown := *set
	features := *set.Set.Features
	unknown.Set.Features, features.Map = &features, 77
	kinds := setOf(t, scoring.MapCosine, everyKind(), classes(2))
	kinds.Encoder.Columns[0].Kind = "colour"
	for _, c := range []struct {
		name  string
		set   *wire.FeatureSet
		model *wire.Model
		o     Options
		is    error
		says  string
	}{
		{"model of another set", set, &other, Options{}, wire.ErrOtherSet, "fs-other"},
		{
			"missing text that is a category",
			set,
			model,
			Options{MissingText: "Oslo"},
			ErrNotExportable,
			`"Oslo", which stands for a missing text, is a category of column "city"`,
		},
		{"every such column", set, nil, Options{MissingText: "a"}, ErrNotExportable, `column "plan"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Encode(c.set, c.model, c.o); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %v with %q", err, c.is, c.says)
			}
		})
	}
	if _, err := apply(newGraph(nil), unknown.Set.Features, "t"); err == nil || !strings.Contains(err.Error(), "77") {
		t.Errorf("map without operators: %v", err)
	}
	if _, err := inputsOf(kinds.Encoder, ""); err == nil || !strings.Contains(
		err.Error(),
		`column "age" is of kind "colour"`,
	) {
		t.Errorf("kind without an input: %v", err)
	}
	for _, label := range []*encoder.Label{nil, regression(1, "cube"), {Task: 9}} {
		if err := predict(newGraph(nil), label, model.Model, 0, outFeatures, ""); err == nil {
			t.Errorf("label %+v passes", label)
		}
	}
}

// The values for a category are those of the encoder, whatever is standardized.
func TestStandardizedCategoriesEqualTheEncoder(t *testing.T) {
	e := &encoder.Encoder{Clip: 2, Tail: encoder.TailLog, Standardize: encoder.StandardizeAll}
	c := &encoder.Column{
		Name:       "city",
		Kind:       encoder.Category,
		Width:      2,
		Categories: []string{"a", "b"},
		Mean:       []float64{0.5, 0.01},
		Scale:      []float64{0.5, 0.1},
	}
	for _, want := range []struct {
		dimension int
		value     float64
		holds     float32
	}{{0, 0, -1}, {0, 1, 1}, {1, 0, -0.1}, {1, 1, 2}} {
		if got := dimensionOf(e, c, want.dimension, 0).of(want.value); got != want.holds {
			t.Errorf("%s: %v, want %v", fmt.Sprint(want), got, want.holds)
		}
	}
}
