package compare

import (
	"slices"

	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/scoring"
)

// origin is subtracted from the encoded rows of a split, [dim]: the commonest value of each column, if many rows have
// it. A column of a category or a pixel is then zero in most rows, however it was standardized, and zeros cost the
// kernels no time. It is folded into the features again. nil if too few numbers become zero.
type origin []float32

const (
	// originRows is the number of training rows used to find the commonest values.
	originRows = 1000
	// originLimit bounds a value that is subtracted, as arrowio/encoder bounds the mean that it folds: rounding of
	// features grows with it.
	originLimit = 4
	// originCommon is the share of rows at which a value is common, originZeros the share of zeros at which kernels
	// take less time.
	originCommon, originZeros = 0.1, 0.5
)

// originOf returns the origin for the rows of a split.
func originOf(train *datasets.Data) origin {
	rows := min(train.N, originRows)
	column, o, zeros := make([]float32, rows), make(origin, train.Dim), 0
	for k := range o {
		for i := range column {
			column[i] = train.X[i*train.N/rows*train.Dim+k]
		}
		value, count := commonest(column)
		if value >= -originLimit && value <= originLimit && float64(count) >= originCommon*float64(rows) {
			o[k] = value
			zeros += count
		}
	}
	if float64(zeros) < originZeros*float64(rows*train.Dim) || !slices.ContainsFunc(o, func(v float32) bool { return v != 0 }) {
		return nil
	}
	return o
}

// commonest sorts the values and returns the most frequent one, the least of several.
func commonest(values []float32) (value float32, count int) {
	slices.Sort(values)
	run := 0
	for i, v := range values {
		if i == 0 || v != values[i-1] {
			run = 0
		}
		if run++; run > count {
			value, count = v, run
		}
	}
	return value, count
}

// take subtracts the origin from encoded rows.
func (o origin) take(x []float32) {
	for ; len(x) > 0 && len(o) > 0; x = x[len(o):] {
		for k, v := range o {
			x[k] -= v
		}
	}
}

// encoded returns rows with the origin added back, in the memory of dst, or x if there is no origin.
func (o origin) encoded(dst, x []float32) []float32 {
	if o == nil {
		return x
	}
	dst = append(dst[:0], x...)
	for row := dst; len(row) > 0; row = row[len(o):] {
		for k, v := range o {
			row[k] += v
		}
	}
	return dst
}

// affine is how the rows are encoded.
func (o origin) affine() *scoring.Affine {
	if o == nil {
		return nil
	}
	a := &scoring.Affine{Shift: make([]float64, len(o)), Scale: make([]float64, len(o))}
	for k, v := range o {
		a.Shift[k], a.Scale[k] = -float64(v), 1
	}
	return a
}
