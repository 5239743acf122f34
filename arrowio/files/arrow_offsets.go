package files

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// countedFromZero returns a record like rec in which the offsets of text, lists and maps start at 0. Files may
// start them anywhere, but the library's writer turns such columns into unreadable streams. The caller releases the
// record.
func countedFromZero(rec arrow.Record) (arrow.Record, error) {
	columns := append([]arrow.Array(nil), rec.Columns()...)
	for i, column := range columns {
		if !beginsLate(column.Data()) {
			column.Retain()
		} else if copied, err := copyFromZero(column); err == nil {
			columns[i] = copied
		} else {
			releaseArrays(columns[:i])
			return nil, &Error{Column: rec.ColumnName(i), Err: err}
		}
	}
	defer releaseArrays(columns)
	return array.NewRecord(rec.Schema(), columns, rec.NumRows()), nil
}

func releaseArrays(arrays []arrow.Array) {
	for _, a := range arrays {
		a.Release()
	}
}

// beginsLate reports whether the array, or one inside it, has a first offset other than 0.
func beginsLate(d arrow.ArrayData) bool {
	if t, ok := d.DataType().(arrow.OffsetsDataType); ok && d.Len() > 0 {
		size := t.OffsetTypeTraits().BytesRequired(1)
		raw := d.Buffers()[1].Bytes()[d.Offset()*size:]
		if size == 4 && binary.NativeEndian.Uint32(raw) != 0 || size == 8 && binary.NativeEndian.Uint64(raw) != 0 {
			return true
		}
	}
	for _, child := range d.Children() {
		if beginsLate(child) {
			return true
		}
	}
	_, coded := d.DataType().(*arrow.DictionaryType)
	return coded && beginsLate(d.Dictionary())
}

// copyFromZero copies an array; concatenation recounts its offsets.
func copyFromZero(a arrow.Array) (arrow.Array, error) {
	coded, ok := a.(*array.Dictionary)
	if !ok {
		return array.Concatenate([]arrow.Array{a}, memory.DefaultAllocator)
	}
	values, err := copyFromZero(coded.Dictionary())
	if err != nil {
		return nil, err
	}
	defer values.Release()
	return array.NewDictionaryArray(coded.DataType(), coded.Indices(), values), nil
}
