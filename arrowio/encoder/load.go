package encoder

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
)

// number is any type that a numeric column stores, but for half floats.
type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// span says where the values of a row lie: row r has the width values from (first+r)·width on.
type span struct{ first, width int }

// valuesOf returns the array that stores the numbers of a, and where those of each row lie in it.
func valuesOf(a arrow.Array) (arrow.Array, span) {
	if list, ok := a.(*array.FixedSizeList); ok {
		width := int(list.DataType().(*arrow.FixedSizeListType).Len())
		return list.ListValues(), span{list.Data().Offset(), width}
	}
	return a, span{0, 1}
}

// loadNumbers fills dst, [rows·width], with the numbers of the given rows of a numeric or vector
// column. What it puts in the place of a null is arbitrary: see markNulls. An array of nulls loads
// nothing.
func loadNumbers(dst []float64, a arrow.Array, rows []int32) {
	a, s := valuesOf(a)
	switch a := a.(type) {
	case *array.Float32:
		gather(dst, a.Float32Values(), rows, s)
	case *array.Float64:
		gather(dst, a.Float64Values(), rows, s)
	case *array.Int64:
		gather(dst, a.Int64Values(), rows, s)
	case *array.Int32:
		gather(dst, a.Int32Values(), rows, s)
	case *array.Int16:
		gather(dst, a.Int16Values(), rows, s)
	case *array.Int8:
		gather(dst, a.Int8Values(), rows, s)
	case *array.Uint64:
		gather(dst, a.Uint64Values(), rows, s)
	case *array.Uint32:
		gather(dst, a.Uint32Values(), rows, s)
	case *array.Uint16:
		gather(dst, a.Uint16Values(), rows, s)
	case *array.Uint8:
		gather(dst, a.Uint8Values(), rows, s)
	case *array.Float16:
		gatherHalf(dst, a, rows, s)
	}
}

// gather copies the numbers of the rows to dst.
func gather[T number](dst []float64, values []T, rows []int32, s span) {
	if s.width == 1 && s.first == 0 {
		dst = dst[:len(rows)]
		for i, r := range rows {
			dst[i] = float64(values[r])
		}
		return
	}
	for i, r := range rows {
		from := values[(s.first+int(r))*s.width:][:s.width]
		to := dst[i*s.width:][:s.width]
		for j, v := range from {
			to[j] = float64(v)
		}
	}
}

// gatherHalf is gather for half floats, which are no Go number.
func gatherHalf(dst []float64, a *array.Float16, rows []int32, s span) {
	values := a.Values()
	for i, r := range rows {
		for j := range s.width {
			dst[i*s.width+j] = float64(values[(s.first+int(r))*s.width+j].Float32())
		}
	}
}

// loadWhole fills dst with the whole numbers of the given rows of an integer column, each under a
// code of its own. It reports whether the column is of an integer type.
func loadWhole(dst []int64, a arrow.Array, rows []int32) bool {
	switch a := a.(type) {
	case *array.Int64:
		gatherWhole(dst, a.Int64Values(), rows)
	case *array.Int32:
		gatherWhole(dst, a.Int32Values(), rows)
	case *array.Int16:
		gatherWhole(dst, a.Int16Values(), rows)
	case *array.Int8:
		gatherWhole(dst, a.Int8Values(), rows)
	case *array.Uint64:
		gatherWhole(dst, a.Uint64Values(), rows)
	case *array.Uint32:
		gatherWhole(dst, a.Uint32Values(), rows)
	case *array.Uint16:
		gatherWhole(dst, a.Uint16Values(), rows)
	case *array.Uint8:
		gatherWhole(dst, a.Uint8Values(), rows)
	default:
		return false
	}
	return true
}

// gatherWhole copies the whole numbers of the rows to dst.
func gatherWhole[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](dst []int64, values []T, rows []int32) {
	for i, r := range rows {
		dst[i] = int64(values[r])
	}
}

// markNulls sets null[i·width+j] for each missing number j of rows[i], clears the others, and
// reports whether there is any. When there is none it may leave null alone.
func markNulls(null []bool, a arrow.Array, rows []int32, width int) bool {
	if _, all := a.(*array.Null); all {
		for i := range null {
			null[i] = true
		}
		return len(null) > 0
	}
	values, s := valuesOf(a)
	if width == 1 && values == a {
		return hasNulls(a) && markBits(null, a, rows)
	}
	if !hasNulls(a) && !hasNulls(values) {
		return false
	}
	found := false
	for i, r := range rows {
		missing := a.IsNull(int(r))
		for j := range width {
			null[i*width+j] = missing || values.IsNull((s.first+int(r))*width+j)
			found = found || null[i*width+j]
		}
	}
	return found
}

// markBits is markNulls for a column of single values that has a null somewhere.
func markBits(null []bool, a arrow.Array, rows []int32) bool {
	bits, first := a.NullBitmapBytes(), a.Data().Offset()
	found := false
	for i, r := range rows {
		null[i] = bitutil.BitIsNotSet(bits, first+int(r))
		found = found || null[i]
	}
	return found
}

// hasNulls reports whether any value of the array is null. It counts bits rather than ask NullN,
// which remembers its answer in the array and so races between readers of one record.
func hasNulls(a arrow.Array) bool {
	bits := a.NullBitmapBytes()
	return len(bits) > 0 && bitutil.CountSetBits(bits, a.Data().Offset(), a.Len()) < a.Len()
}
