package arrowio

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// noOffsets are the offsets of an array without values. Writers may omit them, but the array types
// require them.
var noOffsets = make([]byte, 8)

// offsets reads n+1 ascending offsets, for values from first up to, not including, last, and
// returns them relative to first. The format lets offsets begin anywhere. If such an array is
// written again, the library's writer cuts off the values before first but leaves the offsets as
// they were.
func (a slot) offsets() (counted *memory.Buffer, first, last int64, err error) {
	width := a.column.width
	if a.n == 0 {
		_, err := a.nextRaw()
		return memory.NewBufferBytes(noOffsets[:width]), 0, 0, err
	}
	size := (int64(a.n) + 1) * int64(width)
	b, err := a.next(size, width)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("offsets: %w", err)
	}
	if first, last, err = checkOffsets(b.Bytes(), width); err != nil || first == 0 {
		return b, first, last, err
	}
	if err := a.s.budget.Take(size); err != nil {
		return nil, 0, 0, fmt.Errorf("offsets: %w", err)
	}
	counted = a.allocate(int(size))
	shiftOffsets(counted.Bytes(), b.Bytes(), width)
	return counted, first, last, nil
}

func (a slot) loadBinary() (*array.Data, error) {
	offsets, first, last, err := a.offsets()
	if err != nil {
		return nil, err
	}
	values, err := a.next(last, 1)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if first > 0 {
		values = own(a.loader, memory.SliceBuffer(values, int(first), int(last-first)))
	}
	if a.column.utf8 {
		if err := checkText(values.Bytes(), offsets.Bytes(), a.column.width, a.valid()); err != nil {
			return nil, err
		}
	}
	return a.data(a.column.dtype, nil, offsets, values), nil
}

// checkOffsets checks n+1 offsets: none may be negative or less than the one before. It returns the
// first and the last.
func checkOffsets(raw []byte, width int) (first, last int64, err error) {
	if width == 4 {
		return ascending(arrow.Int32Traits.CastFromBytes(raw))
	}
	return ascending(arrow.Int64Traits.CastFromBytes(raw))
}

// ascending is checkOffsets for one width.
func ascending[T int32 | int64](offsets []T) (first, last int64, err error) {
	prev := T(0)
	for i, o := range offsets {
		if o < prev {
			return 0, 0, corrupt("offset %d is %d after %d", i, o, prev)
		}
		prev = o
	}
	return int64(offsets[0]), int64(prev), nil
}

// shiftOffsets writes offsets relative to the first.
func shiftOffsets(to, from []byte, width int) {
	if width == 4 {
		subtractFirst(arrow.Int32Traits.CastFromBytes(to), arrow.Int32Traits.CastFromBytes(from))
		return
	}
	subtractFirst(arrow.Int64Traits.CastFromBytes(to), arrow.Int64Traits.CastFromBytes(from))
}

// subtractFirst is shiftOffsets for one width.
func subtractFirst[T int32 | int64](to, from []T) {
	for i, o := range from {
		to[i] = o - from[0]
	}
}
