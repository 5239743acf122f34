package wire

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// column is one column of a message, without nulls unless it is nullable.
type column struct {
	name     string
	arr      arrow.Array
	nullable bool
}

// newRecord makes a record from columns and takes ownership of them.
func newRecord(meta *arrow.Metadata, columns []column) arrow.Record {
	fields := make([]arrow.Field, len(columns))
	arrays := make([]arrow.Array, len(columns))
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.name, Type: c.arr.DataType()}
		arrays[i] = c.arr
	}
	rec := array.NewRecord(arrow.NewSchema(fields, meta), arrays, int64(arrays[0].Len()))
	for _, a := range arrays {
		a.Release()
	}
	return rec
}

// fixedWidth wraps the bytes of n values as an array; it does not copy.
func fixedWidth(t arrow.DataType, raw []byte, n int) arrow.Array {
	data := array.NewData(t, n, []*memory.Buffer{nil, memory.NewBufferBytes(raw)}, nil, 0, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// numeric are the types of numbers in the columns of this package.
type numeric interface {
	int32 | int64 | uint64 | float32 | float64
}

// numbers returns a column of numbers; it does not copy them.
func numbers[T numeric](name string, v []T) column {
	return column{name: name, arr: fixedWidth(arrow.GetDataType[T](), arrow.GetBytes(v), len(v))}
}

func textColumn(name string, v []string) column {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(v, nil)
	return column{name: name, arr: b.NewArray()}
}

// listColumn turns a column of rows·n values into one of rows lists of n.
func listColumn(values column, rows, n int) column {
	t := arrow.FixedSizeListOfNonNullable(int32(n), values.arr.DataType())
	data := array.NewData(t, rows, []*memory.Buffer{nil}, []arrow.ArrayData{values.arr.Data()}, 0, 0)
	defer data.Release()
	defer values.arr.Release()
	return column{name: values.name, arr: array.MakeFromData(data)}
}

// raggedColumn turns a column of values into one of lists of these lengths.
func raggedColumn(values column, lengths []int) column {
	t := arrow.ListOfNonNullable(values.arr.DataType())
	offsets := make([]int32, len(lengths)+1)
	for i, n := range lengths {
		offsets[i+1] = offsets[i] + int32(n)
	}
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.GetBytes(offsets))}
	data := array.NewData(t, len(lengths), buffers, []arrow.ArrayData{values.arr.Data()}, 0, 0)
	defer data.Release()
	defer values.arr.Release()
	return column{name: values.name, arr: array.MakeFromData(data)}
}

// reader reads the columns of a record and keeps the first fault.
type reader struct {
	rec arrow.Record
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
	}
}

// has reports whether the record has the column.
func (r *reader) has(name string) bool { return r.rec.Schema().HasField(name) }

// find returns the named column, which must exist once and have no nulls; nil after a fault.
func (r *reader) find(name string) arrow.Array {
	at := r.rec.Schema().FieldIndices(name)
	if len(at) != 1 {
		r.fail("%d columns %q instead of one", len(at), name)
		return nil
	}
	arr := r.rec.Column(at[0])
	if arr.NullN() != 0 {
		r.fail("column %q has nulls", name)
		return nil
	}
	return arr
}

// values returns the numbers of a column, a view of the record.
func values[T numeric](r *reader, name string) []T {
	arr := r.find(name)
	if arr == nil {
		return nil
	}
	if !arrow.TypeEqual(arr.DataType(), arrow.GetDataType[T]()) {
		r.fail("column %q is %v", name, arr.DataType())
		return nil
	}
	return numbersOf[T](arr)
}

// numbersOf returns the numbers of an array without nulls.
func numbersOf[T numeric](arr arrow.Array) []T {
	data := arr.Data()
	if data.Len() == 0 {
		return []T{}
	}
	return arrow.GetData[T](data.Buffers()[1].Bytes())[data.Offset():][:data.Len()]
}

// lists returns the numbers of a column of lists of n numbers, a view of the record.
func lists[T numeric](r *reader, name string, n int) []T {
	arr := r.find(name)
	if arr == nil {
		return nil
	}
	list, ok := arr.(*array.FixedSizeList)
	if !ok || int64(list.DataType().(*arrow.FixedSizeListType).Len()) != int64(n) ||
		!arrow.TypeEqual(list.ListValues().DataType(), arrow.GetDataType[T]()) {
		r.fail("column %q is %v instead of lists of %d", name, arr.DataType(), n)
		return nil
	}
	first, last := list.Offset()*n, (list.Offset()+list.Len())*n
	inner := list.ListValues()
	if last > inner.Len() || inner.NullN() != 0 {
		r.fail("column %q has nulls or too few values in its lists", name)
		return nil
	}
	return numbersOf[T](inner)[first:last]
}

// ragged returns the lengths of the lists of a column and their numbers, a view of the record. Both
// are nil after a fault.
func ragged[T numeric](r *reader, name string) (lengths []int, all []T) {
	arr := r.find(name)
	if arr == nil {
		return nil, nil
	}
	list, ok := arr.(*array.List)
	if !ok || !arrow.TypeEqual(list.ListValues().DataType(), arrow.GetDataType[T]()) {
		r.fail("column %q is %v", name, arr.DataType())
		return nil, nil
	}
	if list.ListValues().NullN() != 0 {
		r.fail("column %q has nulls in its lists", name)
		return nil, nil
	}
	lengths, all = make([]int, list.Len()), numbersOf[T](list.ListValues())
	first, last := int64(0), int64(0)
	for i := range lengths {
		from, to := list.ValueOffsets(i) // the decoder has checked that offsets ascend within the values
		if i == 0 {
			first = from
		}
		lengths[i], last = int(to-from), to
	}
	return lengths, all[first:last]
}

// texts returns the strings of a column.
func (r *reader) texts(name string) []string {
	arr, ok := r.find(name).(*array.String)
	if !ok {
		r.fail("column %q does not hold strings", name)
		return nil
	}
	v := make([]string, arr.Len())
	for i := range v {
		v[i] = strings.Clone(arr.Value(i))
	}
	return v
}

// finite reports whether no value is NaN or infinite: x − x is 0 for all others.
func finite[T float32 | float64](v []T) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}
