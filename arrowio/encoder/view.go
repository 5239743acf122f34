package encoder

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// view returns the rows as they are in the record, or nil if X must be computed: it needs raw rows of one float32
// vector without nulls, and all rows of the record.
func (r *Rows) view() []float32 {
	if !r.binding.raw || len(r.inputs) != 1 || r.inputs[0].missing || r.picked.list != nil {
		return nil
	}
	values, s := valuesOf(r.inputs[0].array)
	floats, ok := values.(*array.Float32)
	if !ok {
		return nil
	}
	return floats.Float32Values()[s.first*s.width:][:r.N*s.width]
}

// judgeView finds the faults of rows when X is a view.
func (r *Rows) judgeView() {
	s := &r.binding.columns[0].scaling
	if within(r.X, s.bound) {
		return
	}
	b := block{rows: r.picked, x: r.X, dim: r.Dim, fault: r.fault, counts: &r.Counts}
	for i := range r.N {
		row := r.X[i*r.Dim:][:r.Dim]
		if within(row, s.bound) {
			continue
		}
		for j, v := range row {
			x := b.exact(i, j, float64(v), s)
			if s.nanMissing && math.IsNaN(float64(v)) {
				r.own()
				r.X[i*r.Dim+j] = x
			}
		}
	}
}

// own gives X its own memory, so that it may be written.
func (r *Rows) own() {
	if !r.viewing {
		return
	}
	r.dense = resize(r.dense, len(r.X))
	copy(r.dense, r.X)
	r.X, r.viewing = r.dense, false
}

// within reports whether the magnitude of every value is below bound, which is false for NaN. It
// checks two values in one word: without the sign, a greater float32 has greater bits. The bits of
// each value and the complement of bound are added, so a value that reaches bound carries into the
// sign bit.
func within(values []float32, bound float32) bool {
	const signs = 1<<63 | 1<<31
	room := uint64(1<<31 - math.Float32bits(bound))
	room |= room << 32
	raw := arrow.Float32Traits.CastToBytes(values)
	for ; len(raw) >= 64; raw = raw[64:] {
		beyond := uint64(0)
		for k := 0; k < 64; k += 8 {
			beyond |= binary.NativeEndian.Uint64(raw[k:])&^signs + room
		}
		if beyond&signs != 0 {
			return false
		}
	}
	for ; len(raw) > 0; raw = raw[4:] {
		if (binary.NativeEndian.Uint32(raw)&^(1<<31)+uint32(room))>>31 != 0 {
			return false
		}
	}
	return true
}
