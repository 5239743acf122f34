package onnx

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// noCategory is the code of a value that sets no dimension.
const noCategory = -1

// categories are the string columns. The code of a value is the index, within its column, of the
// dimension that it sets.
type categories struct {
	codes []string // for each column, int64 [N, 1]
	order []int    // for all dimensions: the index in the encoder
	// For all dimensions: the column, the code that sets it, and its values when set and when not.
	column, code []int64
	set, unset   []float32
	// effects are the effects of columns, each float [N, 1], and the index in the encoder of each.
	effects     []string
	effectOrder []int
}

// add adds a column. Its first dimension is dimension at of the encoder.
func (c *categories) add(g *graph, e *encoder.Encoder, column *encoder.Column, in Input, at int) {
	keys, values, unknown := codesOf(e, column, in.Missing)
	c.codes = append(c.codes, g.add(in.Name+" code", "LabelEncoder", []string{in.Name},
		textList("keys_strings", keys), integerList("values_int64s", values), integer("default_int64", unknown)))
	effects := c.addEffects(g, e, column, in, at)
	for j := range column.Width {
		if effects[j] {
			continue
		}
		d := dimensionOf(e, column, j, at)
		c.order = append(c.order, d.at)
		c.column, c.code = append(c.column, int64(len(c.codes)-1)), append(c.code, int64(j))
		c.set, c.unset = append(c.set, d.of(1)), append(c.unset, d.of(0))
	}
}

// addEffects adds the effects of a column and returns which of its dimensions they are.
func (c *categories) addEffects(
	g *graph, e *encoder.Encoder, column *encoder.Column, in Input, at int,
) map[int]bool {
	if column.Effects == nil {
		return nil
	}
	dimensions := map[int]bool{}
	for k, values := range e.EffectsOf(column) {
		j := column.EffectDimension(k)
		dimensions[j] = true
		c.effectOrder = append(c.effectOrder, at+j)
		c.effects = append(c.effects, g.add(in.Name+" effect", "LabelEncoder", []string{in.Name},
			textList("keys_strings", column.Effects.Values), floatList("values_floats", values), floating("default_float", 0)))
	}
	return dimensions
}

// codesOf returns the code of each value, those of missing values last, and the code for all other
// values.
func codesOf(e *encoder.Encoder, c *encoder.Column, missing string) (keys []string, codes []int64, unknown int64) {
	for j, value := range c.Categories {
		keys, codes = append(keys, value), append(codes, int64(j))
	}
	unknown = noCategory
	if c.Other {
		unknown = int64(len(c.Categories))
	}
	none := int64(noCategory)
	if c.Missing {
		none = int64(c.Width) - 1
	}
	for _, word := range slices.Concat([]string{missing}, e.NullTexts()) {
		if !slices.Contains(keys, word) {
			keys, codes = append(keys, word), append(codes, none)
		}
	}
	return keys, codes, unknown
}

// of returns the dimension's value for v, rounded as by the encoder.
func (d dimension) of(v float64) float32 {
	z := (v - d.shift) / d.scale
	return float32(math.Copysign(min(math.Abs(z), d.limit), z))
}

// encode adds the dimensions, float [N, all of them].
func (c *categories) encode(g *graph) string {
	codes := g.concat("codes", c.codes)
	if len(c.codes) > 1 {
		codes = g.pick("code of dimension", codes, c.column)
	}
	set := g.add("set", "Equal", []string{codes, g.codes("dimension codes", c.code)})
	return g.where(
		"categories",
		set, g.floats("when set", c.set, len(c.set)), g.floats("when not set", c.unset, len(c.unset)),
	)
}
