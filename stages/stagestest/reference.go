package stagestest

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/cespare/xxhash/v2"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// The rest of this file computes in float64, row by row and from the published descriptions alone,
// the results that the stages compute with kernels and batches: sampling, encoding, labels, feature
// maps, scores.

// FeatureMaps are the feature maps with their distributions; bandwidth 0 = by the rule.
var FeatureMaps = []struct {
	Name         string
	Map          scoring.Map
	Distribution scoring.Distribution
	Sigma        float64
}{
	{"cosine gaussian", scoring.MapCosine, scoring.Gaussian, 0},
	{"cosine cauchy", scoring.MapCosine, scoring.Cauchy, 4},
	{"cosine laplace", scoring.MapCosine, scoring.Laplace, 0},
	{"arccos0", scoring.MapArcCosine0, scoring.Gaussian, 0},
	{"arccos1", scoring.MapArcCosine1, scoring.Gaussian, 0},
	{"arccos2", scoring.MapArcCosine2, scoring.Gaussian, 0},
	{"linear", scoring.MapLinear, scoring.Gaussian, 0},
}

// Sampled is the documented rule: XXH64 of seed, partition and ordinal, below rate·2⁶⁴.
func Sampled(seed uint64, partition int32, ordinal int64, rate float64) bool {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:8], seed)
	binary.LittleEndian.PutUint64(b[8:16], uint64(int64(partition)))
	binary.LittleEndian.PutUint64(b[16:], uint64(ordinal))
	return rate >= 1 || float64(xxhash.Sum64(b[:])) < rate*math.Ldexp(1, 64)
}

// Outcome is the result of processing a row.
type Outcome string

// The possible outcomes.
const (
	NotSampled Outcome = "not sampled"
	Unlabelled Outcome = "unlabelled"
	Rejected   Outcome = "rejected"
	Scored     Outcome = "scored"
)

// Row is one row in float64.
type Row struct {
	X           []float64
	Y           []float64 // raw outputs; nil = unlabelled
	UnseenClass bool
	Finite      bool
}

// EncodeRow reads row i of a record according to the encoder's description.
func EncodeRow(enc *encoder.Encoder, rec arrow.Record, i int) Row {
	r := Row{Finite: true}
	for _, c := range enc.Columns {
		column := rec.Column(rec.Schema().FieldIndices(c.Name)[0])
		values, missing := r.values(enc, &c, column, i)
		if c.Missing {
			values = append(values, float64(Bit(missing)))
		}
		for j, v := range values {
			if j < len(c.Scale) {
				if j < len(c.Low) {
					v = min(max(v, c.Low[j]), c.High[j])
				}
				v = (v - c.Mean[j]) / c.Scale[j]
				if enc.Clip > 0 && math.Abs(v) > enc.Clip { // clipping concerns numbers; all values here are
					v = math.Copysign(enc.Clip*(1+math.Log(min(math.Abs(v)/enc.Clip, encoder.MaxTail))), v)
				}
			}
			r.X = append(r.X, v)
		}
	}
	r.label(enc.Label, rec, i)
	return r
}

// values returns the dimensions of a column except the missing-value indicator, and whether its
// value is missing.
func (r *Row) values(
	enc *encoder.Encoder,
	c *encoder.Column,
	column arrow.Array,
	i int,
) (values []float64, missing bool) {
	missing = column.IsNull(i)
	switch c.Kind {
	case encoder.Category:
		other := c.Other && !missing
		for _, category := range c.Categories {
			is := !missing && column.ValueStr(i) == category
			values, other = append(values, float64(Bit(is))), other && !is
		}
		if c.Other {
			values = append(values, float64(Bit(other)))
		}
		return values, missing
	case encoder.Bool:
		if missing {
			return []float64{c.Mean[0]}, true
		}
		return []float64{float64(Bit(column.(*array.Boolean).Value(i)))}, false
	}
	width, null := 1, missing
	if c.Kind == encoder.Vector {
		width = c.Width
	}
	for j := range width {
		v := c.Mean[j]
		if !null {
			v = number(column, i, j)
		}
		switch {
		case math.IsNaN(v) && enc.NaN == encoder.NaNMissing:
			v, missing = c.Mean[j], true
		case math.IsNaN(v) || math.IsInf(v, 0):
			r.Finite = false
		}
		values = append(values, v)
	}
	return values, missing
}

// number returns element j of row i of a numeric or vector column.
func number(column arrow.Array, i, j int) float64 {
	if list, ok := column.(*array.FixedSizeList); ok {
		width := int(list.DataType().(*arrow.FixedSizeListType).Len())
		return number(list.ListValues(), (i+list.Offset())*width+j, 0)
	}
	switch c := column.(type) {
	case *array.Float64:
		return c.Value(i)
	case *array.Float32:
		return float64(c.Value(i))
	case *array.Int64:
		return float64(c.Value(i))
	}
	panic("no reference for " + column.DataType().String())
}

// label returns the label, or no label if the record lacks its columns.
func (r *Row) label(l *encoder.Label, rec arrow.Record, i int) {
	if !rec.Schema().HasField(l.Columns[0]) {
		return
	}
	if l.Task == scoring.Regression {
		r.outputs(l, rec, i)
		return
	}
	column := rec.Column(rec.Schema().FieldIndices(l.Columns[0])[0])
	if column.IsNull(i) {
		return
	}
	for k, class := range l.Classes {
		if column.ValueStr(i) == class {
			if l.Task == scoring.Binary {
				r.Y = []float64{2*float64(k) - 1}
				return
			}
			r.Y = make([]float64, len(l.Classes))
			r.Y[k] = 1
			return
		}
	}
	r.UnseenClass = true
}

// outputs returns the labels of a regression; none if any is missing.
func (r *Row) outputs(l *encoder.Label, rec arrow.Record, i int) {
	finite := r.Finite
	for k, name := range l.Columns {
		column := rec.Column(rec.Schema().FieldIndices(name)[0])
		if column.IsNull(i) {
			r.Y, r.Finite = nil, finite
			return
		}
		v := number(column, i, 0)
		r.Y = append(r.Y, v-l.Mean[k])
		beyond := l.Min != nil && v < *l.Min || l.Max != nil && v > *l.Max
		if math.IsNaN(v) || math.IsInf(v, 0) || beyond || math.Abs(v) > math.MaxFloat32 {
			r.Finite = false
		}
	}
}

// OutcomeOf returns the first applicable outcome of NotSampled, Unlabelled, Rejected and Scored.
func OutcomeOf(spec *wire.Spec, partition int32, ordinal int64, r Row) Outcome {
	switch {
	case !Sampled(spec.SampleSeed, partition, ordinal, spec.SampleRate):
		return NotSampled
	case r.Y == nil:
		return Unlabelled
	case !r.Finite:
		return Rejected
	}
	return Scored
}

// Phi returns φ(x, ω) of feature i.
func Phi(f *scoring.Features, i int, x []float64) float64 {
	switch f.Kind(i) {
	case scoring.KindRamp:
		return max(product(f, i, x)+float64(f.Phase[i]), 0)
	case scoring.KindHinge, scoring.KindBox:
		return thresholds(&f.Products[i-f.Projections()], x)
	case scoring.KindCosine: // or the map's own kind
	}
	switch f.Map {
	case scoring.MapLinear:
		return x[int(f.Omega[i])]
	case scoring.MapCosine:
		return math.Cos(product(f, i, x) + float64(f.Phase[i]))
	case scoring.MapArcCosine0:
		z := product(f, i, x)
		if z == 0 {
			return 0.5
		}
		return float64(Bit(z > 0))
	case scoring.MapArcCosine1:
		return max(product(f, i, x), 0)
	case scoring.MapArcCosine2:
		z := max(product(f, i, x), 0)
		return z * z
	}
	panic("no " + f.Map.String())
}

// thresholds computes a hinge or a box.
func thresholds(p *scoring.Product, x []float64) float64 {
	v := 1.0
	for a := range p.Order {
		z := float64(p.Sign[a]) * (x[p.Coordinate[a]] - float64(p.Threshold[a]))
		if p.Box {
			z = float64(Bit(z >= 0))
		}
		v *= max(z, 0)
	}
	return v
}

// product returns ω·x of feature i.
func product(f *scoring.Features, i int, x []float64) (z float64) {
	for j, v := range x {
		z += v * float64(f.Omega[i*f.Dim+j])
	}
	return z
}

// Scores returns Ŝ_k of every feature of a set, feature-major, over the rows, and sqrt(Σy_k²/n) of
// each output.
func Scores(set *wire.FeatureSet, rows []Row) (scores, spread []float64) {
	features, outputs := set.Set.Features, len(set.Coding.Gain)
	scores, spread = make([]float64, features.Len()*outputs), make([]float64, outputs)
	n := float64(len(rows))
	for _, row := range rows {
		y := make([]float64, outputs)
		for k := range y {
			y[k] = set.Coding.Gain[k]*row.Y[k] + set.Coding.Offset[k]
			spread[k] += y[k] * y[k] / n
		}
		for i := range features.Len() {
			phi := Phi(features, i, row.X)
			for k := range y {
				scores[i*outputs+k] += y[k] * phi / n
			}
		}
	}
	for k := range spread {
		spread[k] = math.Sqrt(spread[k])
	}
	return scores, spread
}

// UsableRows returns the rows that featurizing does not reject.
func UsableRows(set *wire.FeatureSet, rows arrow.Record) []int {
	var usable []int
	for i := range int(rows.NumRows()) {
		if EncodeRow(set.Encoder, rows, i).Finite {
			usable = append(usable, i)
		}
	}
	return usable
}

// CheckFeatures compares the features of a row with a tolerance of 2e-5, which is relative where φ
// is unbounded and exceeds 1.
func CheckFeatures(t testing.TB, set *wire.FeatureSet, rows arrow.Record, row int, z []float32) {
	t.Helper()
	x := EncodeRow(set.Encoder, rows, row).X
	features := set.Set.Features
	for i, got := range z {
		want := Phi(features, i, x)
		size := 1.0
		if features.Map != scoring.MapCosine {
			size = max(1, math.Abs(want))
		}
		if off := math.Abs(float64(got)/float64(set.Set.Scale) - want); !(off <= 2e-5*size) {
			t.Fatalf("row %d, feature %d: %v, want %v", row, i, float64(got)/float64(set.Set.Scale), want)
		}
	}
}
