package encoder

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
)

// number is any type stored by a numeric column, except half floats.
type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// picked selects rows of a record: the numbers in list or, if it is nil, the n rows from first on.
type picked struct {
	list     []int32
	first, n int
}

// len returns the number of rows.
func (p picked) len() int {
	if p.list != nil {
		return len(p.list)
	}
	return p.n
}

// row returns the number of row i within the record.
func (p picked) row(i int) int {
	if p.list != nil {
		return int(p.list[i])
	}
	return p.first + i
}

// part returns the rows first to next-1 of the selection.
func (p picked) part(first, next int) picked {
	if p.list != nil {
		return picked{list: p.list[first:next]}
	}
	return picked{first: p.first + first, n: next - first}
}

// span locates the values of a row: row r has the width values from (first+r)·width on.
type span struct{ first, width int }

// valuesOf returns the array that stores the numbers of a, and where each row's numbers are in it.
func valuesOf(a arrow.Array) (arrow.Array, span) {
	if list, ok := a.(*array.FixedSizeList); ok {
		width := int(list.DataType().(*arrow.FixedSizeListType).Len())
		return list.ListValues(), span{list.Data().Offset(), width}
	}
	return a, span{0, 1}
}

// loadNumbers fills dst, [rows·width], with the numbers of the given rows of a numeric or vector
// column. Nulls become arbitrary numbers: see markNulls. An array of nulls loads nothing.
func loadNumbers(dst []float64, a arrow.Array, rows picked) {
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
	default:
		loadScaled(dst, a, rows)
	}
}

// gather copies the numbers of the rows to dst.
func gather[T number](dst []float64, values []T, rows picked, s span) {
	switch {
	case rows.list == nil:
		widen(dst, values[(s.first+rows.first)*s.width:][:rows.n*s.width])
	case s.width == 1 && s.first == 0:
		dst = dst[:len(rows.list)]
		for i, r := range rows.list {
			dst[i] = float64(values[r])
		}
	default:
		for i, r := range rows.list {
			widen(dst[i*s.width:], values[(s.first+int(r))*s.width:][:s.width])
		}
	}
}

// widen copies numbers to the start of dst.
func widen[T number](dst []float64, values []T) {
	dst = dst[:len(values)]
	for i, v := range values {
		dst[i] = float64(v)
	}
}

// gatherHalf is gather for half floats, which Go has no type for.
func gatherHalf(dst []float64, a *array.Float16, rows picked, s span) {
	values := a.Values()
	for i := range rows.len() {
		from := values[(s.first+rows.row(i))*s.width:][:s.width]
		for j, v := range from {
			dst[i*s.width+j] = float64(v.Float32())
		}
	}
}

// loadWhole fills dst with the whole numbers of the given rows of an integer column, each as a
// distinct code. It reports whether the column has an integer type.
func loadWhole(dst []int64, a arrow.Array, rows picked) bool {
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
func gatherWhole[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](
	dst []int64,
	values []T,
	rows picked,
) {
	for i := range dst {
		dst[i] = int64(values[rows.row(i)])
	}
}

// markNulls sets null[i·width+j] for each missing number j of row i, clears the others, and reports
// whether any is missing. If none is, it may leave null unchanged.
func markNulls(null []bool, a arrow.Array, rows picked, width int) bool {
	return mayMiss(a) && markEach(null, a, rows, width)
}

// markEach is markNulls without checking the whole array first.
func markEach(null []bool, a arrow.Array, rows picked, width int) bool {
	if _, all := a.(*array.Null); all {
		for i := range null {
			null[i] = true
		}
		return len(null) > 0
	}
	values, s := valuesOf(a)
	if values == a {
		return markBits(null, a, rows)
	}
	found := false
	for i := range rows.len() {
		row := rows.row(i)
		missing := a.IsNull(row)
		for j := range width {
			null[i*width+j] = missing || values.IsNull((s.first+row)*width+j)
			found = found || null[i*width+j]
		}
	}
	return found
}

// mayMiss reports whether a number of a numeric or vector column may be null.
func mayMiss(a arrow.Array) bool {
	if a.DataType().ID() == arrow.NULL {
		return true
	}
	values, _ := valuesOf(a)
	return hasNulls(a) || values != a && hasNulls(values)
}

// markBits is markEach for a column of single values with at least one null.
func markBits(null []bool, a arrow.Array, rows picked) bool {
	bits, first := a.NullBitmapBytes(), a.Data().Offset()
	null = null[:rows.len()]
	found := false
	for i := 0; i < len(null); i++ {
		at := first + rows.row(i)
		if rows.list == nil && at%8 == 0 && len(null)-i >= 8 {
			found = markByte(null[i:], ^bits[at/8]) || found
			i += 7
			continue
		}
		null[i] = bitutil.BitIsNotSet(bits, at)
		found = found || null[i]
	}
	return found
}

// markByte sets the first eight of null to the bits of missing and reports whether there is any.
func markByte(null []bool, missing byte) bool {
	eight := (*[8]bool)(null)
	if missing == 0 {
		*eight = [8]bool{}
		return false
	}
	eight[0], eight[1], eight[2], eight[3] = missing&1 != 0, missing&2 != 0, missing&4 != 0, missing&8 != 0
	eight[4], eight[5], eight[6], eight[7] = missing&16 != 0, missing&32 != 0, missing&64 != 0, missing&128 != 0
	return true
}

// hasNulls reports whether any value of the array is null. It counts bits instead of calling NullN,
// which caches its result in the array and so races between readers of one record.
func hasNulls(a arrow.Array) bool {
	bits := a.NullBitmapBytes()
	return len(bits) > 0 && bitutil.CountSetBits(bits, a.Data().Offset(), a.Len()) < a.Len()
}
