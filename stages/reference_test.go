package stages

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/cespare/xxhash/v2"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// What follows computes in float64, row by row and from the published descriptions alone, what the package computes
// with kernels and batches: sampling, encoding, labels, feature maps, scores.

// sampled is the documented rule: XXH64 of seed, partition and ordinal, below rate·2⁶⁴.
func sampled(seed uint64, partition int32, ordinal int64, rate float64) bool {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:8], seed)
	binary.LittleEndian.PutUint64(b[8:16], uint64(int64(partition)))
	binary.LittleEndian.PutUint64(b[16:], uint64(ordinal))
	return rate >= 1 || float64(xxhash.Sum64(b[:])) < rate*math.Ldexp(1, 64)
}

// outcome is what becomes of a row.
type outcome string

const (
	notSampled outcome = "not sampled"
	unlabelled outcome = "unlabelled"
	rejected   outcome = "rejected"
	scored     outcome = "scored"
)

// referenceRow is one row in float64.
type referenceRow struct {
	x           []float64
	y           []float64 // raw outputs; nil = unlabelled
	unseenClass bool
	finite      bool
}

// encodeRow reads row i of a record by the encoder's description.
func encodeRow(enc *encoder.Encoder, rec arrow.Record, i int) referenceRow {
	r := referenceRow{finite: true}
	for _, c := range enc.Columns {
		values := make([]float64, c.Width)
		column := rec.Column(rec.Schema().FieldIndices(c.Name)[0])
		switch c.Kind {
		case encoder.Category:
			for j, category := range c.Categories {
				if column.IsValid(i) && column.ValueStr(i) == category {
					values[j] = 1
				}
			}
		case encoder.Bool:
			values[0] = c.Mean[0]
			if column.IsValid(i) {
				values[0] = float64(btoi(column.(*array.Boolean).Value(i)))
			}
		default:
			for j := range values {
				values[j] = c.Mean[j]
				if column.IsValid(i) {
					values[j] = number(column, i, j)
				}
				if math.IsNaN(values[j]) || math.IsInf(values[j], 0) {
					r.finite = false
				}
			}
		}
		for j, v := range values {
			if len(c.Scale) > 0 {
				v = (v - c.Mean[j]) / c.Scale[j]
				if enc.Clip > 0 {
					v = max(-enc.Clip, min(enc.Clip, v))
				}
			}
			r.x = append(r.x, v)
		}
	}
	r.label(enc.Label, rec, i)
	return r
}

// number is element j of row i of a numeric or vector column.
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

func (r *referenceRow) label(l *encoder.Label, rec arrow.Record, i int) {
	column := rec.Column(rec.Schema().FieldIndices(l.Columns[0])[0])
	if column.IsNull(i) {
		return
	}
	if l.Task == scoring.Regression {
		v := number(column, i, 0)
		r.y = []float64{v - l.Mean[0]}
		beyond := l.Min != nil && v < *l.Min || l.Max != nil && v > *l.Max
		if math.IsNaN(v) || math.IsInf(v, 0) || beyond || math.Abs(v) > math.MaxFloat32 {
			r.finite = false
		}
		return
	}
	for k, class := range l.Classes {
		if column.ValueStr(i) == class {
			if l.Task == scoring.Binary {
				r.y = []float64{2*float64(k) - 1}
				return
			}
			r.y = make([]float64, len(l.Classes))
			r.y[k] = 1
			return
		}
	}
	r.unseenClass = true
}

// outcomeOf is the first that applies of not sampled, unlabelled, rejected, scored.
func outcomeOf(spec *wire.Spec, partition int32, ordinal int64, r referenceRow) outcome {
	switch {
	case !sampled(spec.SampleSeed, partition, ordinal, spec.SampleRate):
		return notSampled
	case r.y == nil:
		return unlabelled
	case !r.finite:
		return rejected
	}
	return scored
}

// referencePhi is φ(x, ω) of feature i.
func referencePhi(f *scoring.Features, i int, x []float64) float64 {
	if f.Map == scoring.MapLinear {
		return x[int(f.Omega[i])]
	}
	z := 0.0
	for j, v := range x {
		z += v * float64(f.Omega[i*f.Dim+j])
	}
	switch f.Map {
	case scoring.MapCosine:
		return math.Cos(z + float64(f.Phase[i]))
	case scoring.MapArcCosine0:
		if z == 0 {
			return 0.5
		}
		return float64(btoi(z > 0))
	case scoring.MapArcCosine1:
		return max(z, 0)
	default:
		return max(z, 0) * max(z, 0)
	}
}

// referenceScores are Ŝ_k of every feature of a set, feature-major, over the rows, and sqrt(Σy_k²/n) of each output.
func referenceScores(set *wire.FeatureSet, rows []referenceRow) (scores, spread []float64) {
	features, outputs := set.Set.Features, len(set.Coding.Gain)
	scores, spread = make([]float64, features.Len()*outputs), make([]float64, outputs)
	n := float64(len(rows))
	for _, row := range rows {
		y := make([]float64, outputs)
		for k := range y {
			y[k] = set.Coding.Gain[k]*row.y[k] + set.Coding.Offset[k]
			spread[k] += y[k] * y[k] / n
		}
		for i := range features.Len() {
			phi := referencePhi(features, i, row.x)
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
