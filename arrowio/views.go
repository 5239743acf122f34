package arrowio

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// A view is 16 bytes: the length, and either up to 12 bytes of value or a prefix of it, the index
// of a data buffer and the offset in it.
const (
	viewBytes  = 16
	viewInline = 12
)

// loadView reads a column of views and returns it as plain strings or bytes. So other code only
// sees one kind of text, and since many views may show the same bytes, the budget is charged for
// their total size.
func (a slot) loadView() (*array.Data, error) {
	views, err := a.next(int64(a.n)*viewBytes, 1)
	if err != nil {
		return nil, fmt.Errorf("views: %w", err)
	}
	buffers := make([][]byte, a.b.views.at(a.view, 0))
	a.view++
	for i := range buffers {
		b, err := a.next(-1, 1)
		if err != nil {
			return nil, fmt.Errorf("view data: %w", err)
		}
		buffers[i] = b.Bytes()
	}
	total, err := a.measureViews(views.Bytes(), buffers)
	if err != nil {
		return nil, err
	}
	offsets, values, err := a.copyViews(views.Bytes(), buffers, total)
	if err != nil {
		return nil, err
	}
	return a.data(a.column.dtype, nil, offsets, values), nil
}

// measureViews checks every view that is not null and adds up their lengths.
func (a slot) measureViews(views []byte, buffers [][]byte) (total int64, err error) {
	for i := range a.n {
		if a.isNull(i) {
			continue
		}
		value, ok := viewed(views[i*viewBytes:], buffers)
		if !ok {
			return 0, corrupt("view %d points outside its buffers", i)
		}
		if a.column.utf8 && !utf8.Valid(value) {
			return 0, corrupt("value %d is not UTF-8", i)
		}
		total += int64(len(value))
		// Views may show the same megabyte many times: stop early.
		if total > a.s.budget.Left {
			break
		}
	}
	return total, nil
}

// copyViews copies the values one after another.
func (a slot) copyViews(views []byte, buffers [][]byte, total int64) (offsets, values *memory.Buffer, err error) {
	size := int64(a.n+1) * 4
	if total > math.MaxInt32 {
		return nil, nil, overBudget("%d bytes of text in one column", total)
	}
	if err := a.s.budget.Take(size + total); err != nil {
		return nil, nil, err
	}
	offsets, values = a.allocate(int(size)), a.allocate(int(total))
	ends, data := arrow.Int32Traits.CastFromBytes(offsets.Bytes()), values.Bytes()
	done := 0
	for i := range a.n {
		ends[i] = int32(done)
		if a.isNull(i) {
			continue
		}
		value, _ := viewed(views[i*viewBytes:], buffers)
		done += copy(data[done:], value)
	}
	ends[a.n] = int32(done)
	return offsets, values, nil
}

func (a slot) isNull(i int) bool {
	return a.validity != nil && bitutil.BitIsNotSet(a.validity.Bytes(), i)
}

// viewed returns the bytes that a view shows.
func viewed(view []byte, buffers [][]byte) (value []byte, ok bool) {
	n := int64(int32(binary.LittleEndian.Uint32(view)))
	if n < 0 {
		return nil, false
	}
	if n <= viewInline {
		return view[4 : 4+n], true
	}
	buffer := int64(int32(binary.LittleEndian.Uint32(view[8:])))
	offset := int64(int32(binary.LittleEndian.Uint32(view[12:])))
	if buffer < 0 || buffer >= int64(len(buffers)) {
		return nil, false
	}
	data := buffers[buffer]
	if offset < 0 || offset > int64(len(data)) || n > int64(len(data))-offset {
		return nil, false
	}
	return data[offset : offset+n], true
}
