package arrowio

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// TestCheckFindsUnsafeArrays gives it data that the library makes arrays of.
func TestCheckFindsUnsafeArrays(t *testing.T) {
	buffer := func(b ...byte) *memory.Buffer { return memory.NewBufferBytes(b) }
	offsets := func(v ...int32) *memory.Buffer { return memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(v)) }
	large := func(v ...int64) *memory.Buffer { return memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(v)) }
	ints := array.NewData(arrow.PrimitiveTypes.Int8, 4, []*memory.Buffer{nil, buffer(1, 2, 3, 4)}, nil, 0, 0)
	words := array.NewData(
		arrow.BinaryTypes.String,
		2,
		[]*memory.Buffer{nil, offsets(0, 1, 2), buffer('a', 'b')},
		nil,
		0,
		0,
	)
	list := arrow.ListOf(arrow.PrimitiveTypes.Int8)
	fixed := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8)
	pair := arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8})
	dict := func(index arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}
	}
	kids := func(d ...arrow.ArrayData) []arrow.ArrayData { return d }
	type buffers = []*memory.Buffer
	for name, c := range map[string]struct {
		valid bool
		data  *array.Data
	}{
		"valid numbers": {true, ints},
		"valid text":    {true, words},
		"short numbers": {
			false,
			array.NewData(arrow.PrimitiveTypes.Int32, 2, buffers{nil, buffer(1, 2, 3, 4)}, nil, 0, 0),
		},
		"no numbers": {false, array.NewData(arrow.PrimitiveTypes.Int32, 2, buffers{nil, nil}, nil, 0, 0)},
		"short bits": {false, array.NewData(arrow.FixedWidthTypes.Boolean, 9, buffers{nil, buffer(1)}, nil, 0, 0)},
		"short null bitmap": {
			false,
			array.NewData(arrow.PrimitiveTypes.Int8, 9, buffers{buffer(1), buffer(make([]byte, 9)...)}, nil, 1, 0),
		},
		"offset beyond": {
			false,
			array.NewData(arrow.PrimitiveTypes.Int8, 4, buffers{nil, buffer(1, 2, 3, 4)}, nil, 0, 1),
		},
		"few offsets": {
			false,
			array.NewData(arrow.BinaryTypes.String, 2, buffers{nil, offsets(0, 1), buffer('a', 'b')}, nil, 0, 0),
		},
		"falling offsets": {
			false,
			array.NewData(arrow.BinaryTypes.String, 2, buffers{nil, offsets(0, 2, 1), buffer('a', 'b')}, nil, 0, 0),
		},
		"offsets beyond": {
			false,
			array.NewData(arrow.BinaryTypes.String, 2, buffers{nil, offsets(0, 1, 3), buffer('a', 'b')}, nil, 0, 0),
		},
		"negative offset": {
			false,
			array.NewData(arrow.BinaryTypes.String, 1, buffers{nil, offsets(-1, 1), buffer('a', 'b')}, nil, 0, 0),
		},
		"large offsets": {
			true,
			array.NewData(arrow.BinaryTypes.LargeString, 1, buffers{nil, large(0, 2), buffer('a', 'b')}, nil, 0, 0),
		},
		"large beyond": {
			false,
			array.NewData(arrow.BinaryTypes.LargeString, 1, buffers{nil, large(0, 1<<62), buffer('a', 'b')}, nil, 0, 0),
		},
		"valid list":        {true, array.NewData(list, 1, buffers{nil, offsets(0, 4)}, kids(ints), 0, 0)},
		"list beyond":       {false, array.NewData(list, 1, buffers{nil, offsets(0, 5)}, kids(ints), 0, 0)},
		"list of nothing":   {false, array.NewData(list, 1, buffers{nil, offsets(0, 5)}, nil, 0, 0)},
		"valid fixed list":  {true, array.NewData(fixed, 2, buffers{nil}, kids(ints), 0, 0)},
		"short fixed list":  {false, array.NewData(fixed, 3, buffers{nil}, kids(ints), 0, 0)},
		"valid struct":      {true, array.NewData(pair, 4, buffers{nil}, kids(ints), 0, 0)},
		"short struct":      {false, array.NewData(pair, 5, buffers{nil}, kids(ints), 0, 0)},
		"struct of nothing": {false, array.NewData(pair, 5, buffers{nil}, nil, 0, 0)},
		"valid dictionary": {
			true,
			array.NewDataWithDictionary(dict(arrow.PrimitiveTypes.Int8), 2, buffers{nil, buffer(0, 1)}, 0, 0, words),
		},
		"index beyond": {
			false,
			array.NewDataWithDictionary(dict(arrow.PrimitiveTypes.Int8), 2, buffers{nil, buffer(0, 2)}, 0, 0, words),
		},
		"negative index": {
			false,
			array.NewDataWithDictionary(dict(arrow.PrimitiveTypes.Int8), 2, buffers{nil, buffer(0, 0xff)}, 0, 0, words),
		},
		"index beyond, null": {
			true,
			array.NewDataWithDictionary(dict(arrow.PrimitiveTypes.Int16), 2, buffers{
				buffer(1),
				buffer(0, 0, 9, 9),
			}, 1, 0, words),
		},
		"wide index": {
			false,
			array.NewDataWithDictionary(dict(arrow.PrimitiveTypes.Uint32), 1, buffers{nil, buffer(0, 0, 0, 1)}, 0, 0, words),
		},
		"widest index": {
			false,
			array.NewDataWithDictionary(dict(arrow.PrimitiveTypes.Int64), 1, buffers{
				nil,
				buffer(0, 0, 0, 0, 0, 0, 0, 1),
			}, 0, 0, words),
		},
		"unchecked type":      {false, array.NewData(arrow.SparseUnionOf(nil, nil), 0, buffers{nil, nil}, nil, 0, 0)},
		"number of values":    {false, array.NewData(arrow.Null, 1<<62, buffers{nil}, nil, 0, 0)},
		"nulls":               {true, array.NewData(arrow.Null, 10, buffers{nil}, nil, 10, 0)},
		"no values, no bytes": {true, array.NewData(arrow.BinaryTypes.String, 0, buffers{nil, nil, nil}, nil, 0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			if err := checkData(c.data.DataType(), c.data); (err == nil) != c.valid {
				t.Errorf("error %v, want valid %v", err, c.valid)
			}
		})
	}
}
