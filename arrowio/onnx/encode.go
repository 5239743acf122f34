package onnx

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/onnx/internal/onnxpb"
)

// rows is the result of the encoder's part of a graph.
type rows struct {
	// x names the encoded rows, float [N, d]. Its dimension i is dimension order[i] of the encoder.
	x     string
	order []int
	// rejected names the flags of unusable rows, bool [N, 1]; empty if every row is usable.
	rejected string
}

// encode adds the encoder. Numbers, vectors, booleans and times are processed together, side by
// side, categories separately.
func encode(g *graph, e *encoder.Encoder, inputs []Input) rows {
	n := numbers{nulls: e.NullNumbers()}
	var c categories
	var times []func()
	at := 0
	for i := range e.Columns {
		column := &e.Columns[i]
		in := inputs[i]
		first := at
		at += column.Width
		switch column.Kind {
		case encoder.Category:
			c.add(g, e, column, in, first)
		case encoder.Time, encoder.Clock:
			times = append(times, func() { n.addTime(e, column, in, first) }) // after all numbers
		default:
			n.addNumbers(e, column, in, first)
		}
	}
	for _, add := range times {
		add()
	}
	var out rows
	var parts []string
	if len(n.values) > 0 {
		x, rejected := n.encode(g)
		parts = append(parts, x)
		out.rejected = rejected
		out.order = n.order()
	}
	if len(c.codes) > 0 {
		parts, out.order = append(parts, c.encode(g)), append(out.order, c.order...)
		parts, out.order = append(parts, c.effects...), append(out.order, c.effectOrder...)
	}
	out.x = g.concat("x", parts)
	return out
}

// dimension is a dimension of x and how it is standardized; shift is 0 and scale 1 if it is not.
type dimension struct {
	at           int // index in the encoder
	shift, scale float64
	// limit is the value to clip to, tail the one beyond which values continue as logarithms;
	// accepted is the largest magnitude that is not rejected.
	limit, tail, accepted float64
	// low and high are the standardized bounds.
	low, high float64
}

// dimensionOf is dimension j of a column whose first dimension is dimension at of the encoder.
func dimensionOf(e *encoder.Encoder, c *encoder.Column, j, at int) dimension {
	d := dimension{at: at + j, scale: 1, limit: math.MaxFloat64, tail: math.MaxFloat64, accepted: encoder.MaxMagnitude}
	d.low, d.high = -math.MaxFloat64, math.MaxFloat64
	if j >= len(c.Scale) {
		return d
	}
	d.shift, d.scale = c.Mean[j], c.Scale[j]
	if e.Clip > 0 {
		d.limit, d.accepted = e.Clip, math.MaxFloat64
		if j < len(c.Low) {
			d.low, d.high = (c.Low[j]-d.shift)/d.scale, (c.High[j]-d.shift)/d.scale
		}
		if e.HasTail(c, j) {
			d.tail = e.Clip
		}
	}
	return d
}

// numbers are the columns other than categories. Their values, NaN if missing, are side by side,
// times last, followed by sines, cosines, elapsed parts and the dimensions for missing values.
type numbers struct {
	sources []string // inputs of numbers, double [N, width]
	times   []string // inputs of times, int64 [N, 1]
	values  []dimension
	means   []float64
	// For cycles: the index of the value of each, the start of a period, its length, and the
	// dimensions.
	timed       []int64
	start       []float64
	length      []float64
	sines, coss []dimension
	// Of the cycles of times that have the elapsed part as a dimension: their indices, and the
	// dimensions.
	parts   []int64
	elapsed []dimension
	// For missing values: the index of the value of each.
	watched []int64
	flags   []dimension
	// nulls are the numbers that mean a missing value in the values for which numeric is 1.
	nulls   []float64
	numeric []float64
}

// addNumbers adds a column of numbers or booleans whose first dimension is dimension at of the
// encoder.
func (n *numbers) addNumbers(e *encoder.Encoder, c *encoder.Column, in Input, at int) {
	n.sources = append(n.sources, in.Name)
	n.add(e, c, in.Width, at)
}

// addTime adds a column of times, with its cycles, whose first dimension is dimension at of the
// encoder.
func (n *numbers) addTime(e *encoder.Encoder, c *encoder.Column, in Input, at int) {
	n.times = append(n.times, in.Name)
	dims := c.CycleDims()
	for i, cycle := range c.Cycles {
		start, length := cycle.Period()
		first := 1 + dims*i
		if dims > 2 {
			n.parts, n.elapsed = append(n.parts, int64(len(n.timed))), append(n.elapsed, dimensionOf(e, c, first+2, at))
		}
		n.timed = append(n.timed, int64(len(n.values)))
		n.start = append(n.start, start)
		n.length = append(n.length, length)
		n.sines, n.coss = append(n.sines, dimensionOf(e, c, first, at)), append(n.coss, dimensionOf(e, c, first+1, at))
	}
	n.add(e, c, 1, at)
}

// add adds the values of a column and its dimension for missing ones.
func (n *numbers) add(e *encoder.Encoder, c *encoder.Column, values, at int) {
	if c.Missing {
		n.watched, n.flags = append(n.watched, int64(len(n.values))), append(n.flags, dimensionOf(e, c, c.Width-1, at))
	}
	for j := range values {
		n.values, n.means = append(n.values, dimensionOf(e, c, j, at)), append(n.means, c.Mean[j])
		numeric := 0.0
		if c.Kind == encoder.Numeric {
			numeric = 1
		}
		n.numeric = append(n.numeric, numeric)
	}
}

// seconds adds the times of all columns in seconds, NaN if missing. Whole seconds and the rest are
// converted separately, as in the encoder.
func (n *numbers) seconds(g *graph) string {
	const double = onnxpb.TensorProto_DOUBLE
	given := g.concat("given times", n.times)
	missing := g.add("no time", "Equal", []string{given, g.codes("missing time", []int64{missingTime})})
	// subtracting from the least number would overflow
	in := g.where("microseconds", missing, g.codes("any time", []int64{0}), given)
	million := g.codes("million", []int64{1_000_000})
	rest := g.add("rest", "Mod", []string{in, million})
	whole := g.add("whole", "Div", []string{g.add("without rest", "Sub", []string{in, rest}), million})
	nanos := g.add("nanoseconds", "Mul", []string{rest, g.codes("thousand", []int64{1000})})
	fraction := g.add(
		"fraction",
		"Div", []string{g.cast("nanoseconds as double", nanos, double), g.double("billion", 1e9)},
	)
	sum := g.add("seconds", "Add", []string{g.cast("whole as double", whole, double), fraction})
	return g.where("seconds or missing", missing, g.double("missing seconds", math.NaN()), sum)
}

// dimensions returns all dimensions, in the order of the graph.
func (n *numbers) dimensions() []dimension {
	var all []dimension
	for _, list := range [][]dimension{n.values, n.sines, n.coss, n.elapsed, n.flags} {
		all = append(all, list...)
	}
	return all
}

// order returns the indices of the dimensions in the encoder.
func (n *numbers) order() []int {
	var order []int
	for _, d := range n.dimensions() {
		order = append(order, d.at)
	}
	return order
}

// encode adds the dimensions and the flags of rejected rows, whose name is empty if no row can be
// rejected.
func (n *numbers) encode(g *graph) (x, rejected string) {
	sources := n.sources
	if len(n.times) > 0 {
		sources = append(slices.Clip(sources), n.seconds(g))
	}
	values := g.concat("values", sources)
	missing := g.add("missing", "IsNaN", []string{values})
	missing = n.nullNumbers(g, values, missing)
	parts := []string{g.where("imputed", missing, g.row("means", n.means), values)}
	if len(n.timed) > 0 {
		parts = append(parts, n.cycles(g, values, missing)...)
	}
	if len(n.watched) > 0 {
		parts = append(parts, g.cast("indicators", g.pick("watched", missing, n.watched), onnxpb.TensorProto_DOUBLE))
	}
	z := n.standardize(g, g.concat("raw", parts))
	if len(n.sources) > 0 {
		rejected = n.reject(g, z)
	}
	return g.cast("numbers", n.clip(g, n.bound(g, z)), onnxpb.TensorProto_FLOAT), rejected
}

// nullNumbers adds the numbers that mean a missing value to the flags of missing ones.
func (n *numbers) nullNumbers(g *graph, values, missing string) string {
	if len(n.nulls) == 0 || !slices.Contains(n.numeric, 1) {
		return missing
	}
	for _, v := range n.nulls {
		equal := g.add("equal", "Equal", []string{values, g.double("null", v)})
		number := g.cast("number", g.row("numbers", n.numeric), onnxpb.TensorProto_BOOL)
		missing = g.add("missing or null", "Or", []string{missing, g.add("null number", "And", []string{equal, number})})
	}
	return missing
}

// cycles adds sine and cosine of the elapsed part of each time's period, and the elapsed parts, all
// 0 where the time is missing.
func (n *numbers) cycles(g *graph, values, missing string) []string {
	length, absent := g.row("cycle lengths", n.length), g.pick("timeless", missing, n.timed)
	since := g.add("since start", "Sub", []string{g.pick("times", values, n.timed), g.row("cycle starts", n.start)})
	periods := g.add("periods", "Floor", []string{g.add("turns", "Div", []string{since, length})})
	into := g.add("into period", "Sub", []string{since, g.add("at period", "Mul", []string{periods, length})})
	phase := g.add("phase", "Div", []string{into, length})
	angle := g.add("angle", "Mul", []string{phase, g.double("turn", 2*math.Pi)})
	ahead := g.add("angle ahead", "Add", []string{angle, g.double("quarter turn", quarterTurn)})
	zero := g.double("zero", 0)
	found := []string{
		g.where("sines", absent, zero, g.add("sine", "Sin", []string{angle})),
		g.where("cosines", absent, zero, g.add("cosine", "Sin", []string{ahead})),
	}
	if len(n.parts) == 0 {
		return found
	}
	doubled := g.add("twice the phase", "Mul", []string{g.pick("phases", phase, n.parts), g.double("two", 2)})
	centred := g.add("centred phase", "Sub", []string{doubled, g.double("one", 1)})
	return append(found, g.where("elapsed", g.pick("elapsed absent", absent, n.parts), zero, centred))
}

// quarterTurn turns a sine into a cosine: runtimes of two years ago support the cosine only in
// float64.
const quarterTurn = math.Pi / 2

// standardize adds (v − shift)/scale.
func (n *numbers) standardize(g *graph, raw string) string {
	var shift, scale []float64
	standard := false
	for _, d := range n.dimensions() {
		shift, scale = append(shift, d.shift), append(scale, d.scale)
		standard = standard || d.shift != 0 || d.scale != 1
	}
	if !standard {
		return raw
	}
	return g.add(
		"scaled",
		"Div", []string{g.add("shifted", "Sub", []string{raw, g.row("shift", shift)}), g.row("scale", scale)},
	)
}

// reject adds the flags of rows with a number that the encoder rejects.
func (n *numbers) reject(g *graph, z string) string {
	var accepted []float64
	for _, d := range n.dimensions() {
		accepted = append(accepted, d.accepted)
	}
	beyond := g.add("beyond", "Greater", []string{g.add("size", "Abs", []string{z}), g.row("accepted", accepted)})
	most := g.add("most beyond", "ReduceMax", []string{g.cast("beyond as numbers", beyond, onnxpb.TensorProto_FLOAT)},
		integerList("axes", []int64{1}), integer("keepdims", 1))
	return g.cast("rejected", most, onnxpb.TensorProto_BOOL)
}

// bound keeps the dimensions within their bounds.
func (n *numbers) bound(g *graph, z string) string {
	var low, high []float64
	bounded := false
	for _, d := range n.dimensions() {
		low, high = append(low, d.low), append(high, d.high)
		bounded = bounded || d.high != math.MaxFloat64
	}
	if !bounded {
		return z
	}
	above := g.add("above low", "Max", []string{z, g.row("low", low)})
	return g.add("within bounds", "Min", []string{above, g.row("high", high)})
}

// clip adds the limits of the dimensions that have one, and the logarithms beyond them.
func (n *numbers) clip(g *graph, z string) string {
	var upper, lower, tails []float64
	clips, logs := false, false
	for _, d := range n.dimensions() {
		upper = append(upper, d.limit)
		lower = append(lower, -d.limit)
		tails = append(tails, d.tail)
		clips, logs = clips || d.limit != math.MaxFloat64, logs || d.tail != math.MaxFloat64
	}
	if !clips {
		return z
	}
	below := g.add("clipped above", "Min", []string{z, g.row("upper", upper)})
	clipped := g.add("clipped", "Max", []string{below, g.row("lower", lower)})
	if !logs {
		return clipped
	}
	// A value becomes c·(1 + ln(|z|/c)) beyond its limit c; within it the logarithm's argument is
	// 1.
	ratio := g.add("ratio", "Div", []string{g.add("magnitude", "Abs", []string{z}), g.row("tails", tails)})
	bounded := g.add("ratio within", "Min", []string{ratio, g.double("most", encoder.MaxTail)})
	logarithm := g.add(
		"logarithm",
		"Log", []string{g.add("ratio beyond", "Max", []string{bounded, g.double("inside", 1)})},
	)
	return g.add("with tails", "Mul", []string{clipped, g.add("factor", "Add", []string{logarithm, g.double("one", 1)})})
}
