package wire

import (
	"fmt"
	"math"

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

func int32Column(name string, v []int32) column {
	return column{name: name, arr: fixedWidth(arrow.PrimitiveTypes.Int32, arrow.Int32Traits.CastToBytes(v), len(v))}
}

func int64Column(name string, v []int64) column {
	return column{name: name, arr: fixedWidth(arrow.PrimitiveTypes.Int64, arrow.Int64Traits.CastToBytes(v), len(v))}
}

func float32Column(name string, v []float32) column {
	return column{name: name, arr: fixedWidth(arrow.PrimitiveTypes.Float32, arrow.Float32Traits.CastToBytes(v), len(v))}
}

func float64Column(name string, v []float64) column {
	return column{name: name, arr: fixedWidth(arrow.PrimitiveTypes.Float64, arrow.Float64Traits.CastToBytes(v), len(v))}
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

// find returns the named column, which must be there once and without nulls.
func find(rec arrow.Record, name string) (arrow.Array, error) {
	at := rec.Schema().FieldIndices(name)
	if len(at) != 1 {
		return nil, fmt.Errorf("%w: %d columns %q instead of one", ErrMalformed, len(at), name)
	}
	arr := rec.Column(at[0])
	if arr.NullN() != 0 {
		return nil, fmt.Errorf("%w: column %q has nulls", ErrMalformed, name)
	}
	return arr, nil
}

// typed returns the named column as the array type A.
func typed[A arrow.Array](rec arrow.Record, name string) (A, error) {
	var none A
	arr, err := find(rec, name)
	if err != nil {
		return none, err
	}
	a, ok := arr.(A)
	if !ok {
		return none, fmt.Errorf("%w: column %q is %v", ErrMalformed, name, arr.DataType())
	}
	return a, nil
}

func int32Values(rec arrow.Record, name string) ([]int32, error) {
	a, err := typed[*array.Int32](rec, name)
	if err != nil {
		return nil, err
	}
	return a.Int32Values(), nil
}

func int64Values(rec arrow.Record, name string) ([]int64, error) {
	a, err := typed[*array.Int64](rec, name)
	if err != nil {
		return nil, err
	}
	return a.Int64Values(), nil
}

func float32Values(rec arrow.Record, name string) ([]float32, error) {
	a, err := typed[*array.Float32](rec, name)
	if err != nil {
		return nil, err
	}
	return a.Float32Values(), nil
}

func float64Values(rec arrow.Record, name string) ([]float64, error) {
	a, err := typed[*array.Float64](rec, name)
	if err != nil {
		return nil, err
	}
	return a.Float64Values(), nil
}

func textValues(rec arrow.Record, name string) ([]string, error) {
	a, err := typed[*array.String](rec, name)
	if err != nil {
		return nil, err
	}
	v := make([]string, a.Len())
	for i := range v {
		v[i] = string([]byte(a.Value(i)))
	}
	return v, nil
}

// lists returns the values of a column of lists of n numbers, and the column's length.
func lists[A arrow.Array](rec arrow.Record, name string, n int) (values A, first, last int, err error) {
	l, err := typed[*array.FixedSizeList](rec, name)
	if err != nil {
		return values, 0, 0, err
	}
	if width := int(l.DataType().(*arrow.FixedSizeListType).Len()); width != n {
		return values, 0, 0, fmt.Errorf("%w: column %q has lists of %d instead of %d", ErrMalformed, name, width, n)
	}
	values, ok := l.ListValues().(A)
	if !ok {
		return values, 0, 0, fmt.Errorf("%w: column %q is %v", ErrMalformed, name, l.DataType())
	}
	first, last = l.Offset()*n, (l.Offset()+l.Len())*n
	if last > values.Len() || values.NullN() != 0 {
		return values, 0, 0, fmt.Errorf("%w: column %q has nulls or too few values in its lists", ErrMalformed, name)
	}
	return values, first, last, nil
}

func float32Lists(rec arrow.Record, name string, n int) ([]float32, error) {
	a, first, last, err := lists[*array.Float32](rec, name, n)
	if err != nil {
		return nil, err
	}
	return a.Float32Values()[first:last], nil
}

func float64Lists(rec arrow.Record, name string, n int) ([]float64, error) {
	a, first, last, err := lists[*array.Float64](rec, name, n)
	if err != nil {
		return nil, err
	}
	return a.Float64Values()[first:last], nil
}

// finite32 reports whether no value is NaN or infinite: only those have all exponent bits set.
func finite32(v []float32) bool {
	for _, x := range v {
		if math.Float32bits(x)&0x7F800000 == 0x7F800000 {
			return false
		}
	}
	return true
}

// finite64 is finite32 in double precision.
func finite64(v []float64) bool {
	const exponent = 0x7FF << 52
	for _, x := range v {
		if math.Float64bits(x)&exponent == exponent {
			return false
		}
	}
	return true
}
