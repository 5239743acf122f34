package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// wantCorrupt reads content as a file of this name and wants ErrCorrupt or ErrTooLarge, without a
// large allocation: otherwise the test would crash on a machine with less memory than these files
// claim.
func wantCorrupt(t *testing.T, name string, content []byte) {
	t.Helper()
	if _, _, _, err := drain(writeFile(t, name, content), Options{}); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want ErrCorrupt or ErrTooLarge", err)
	}
}

// streamOf returns a stream of ten rows, and the place of its first message's
// metadata.
func streamOf(t *testing.T) (content []byte, meta messageTable, metaAt int) {
	t.Helper()
	rec := sampleRecord(t, memory.DefaultAllocator, 10)
	defer rec.Release()
	content, err := os.ReadFile(written(t, "a.arrows", rec))
	if err != nil {
		t.Fatal(err)
	}
	size := int(binary.LittleEndian.Uint32(content[4:]))
	meta, err = readMessageTable(content[8 : 8+size])
	if err != nil {
		t.Fatal(err)
	}
	return content, meta, 8
}

func TestArrowBodyOfAnyClaimedLengthIsNotAllocated(t *testing.T) {
	content, meta, at := streamOf(t)
	second := at + len(meta.buf)
	size := int(binary.LittleEndian.Uint32(content[second+4:]))
	batch, err := readMessageTable(content[second+8 : second+8+size])
	if err != nil {
		t.Fatal(err)
	}
	field, ok, err := batch.slot(messageBodyLength, 8)
	if err != nil || !ok {
		t.Fatal("no body length")
	}
	for _, claim := range []uint64{1 << 40, 1 << 62, 1 << 63, 1<<64 - 1} {
		b := slices.Clone(content)
		binary.LittleEndian.PutUint64(b[second+8+field:], claim)
		wantCorrupt(t, "a.arrows", b)
		wantCorrupt(t, "a.arrows.gz", zipped(t, b))
	}
}

func TestArrowSchemaOfAnyClaimedCountIsNotAllocated(t *testing.T) {
	content, meta, at := streamOf(t)
	schema, ok, err := meta.table(messageHeader)
	if err != nil || !ok {
		t.Fatal("no schema")
	}
	start, n, err := schema.vector(schemaFields, 4)
	if err != nil || n != 5 {
		t.Fatalf("%d fields, %v", n, err)
	}
	for _, claim := range []uint32{6000, 1 << 28, 1<<32 - 1} {
		b := slices.Clone(content)
		binary.LittleEndian.PutUint32(b[at+start-4:], claim)
		wantCorrupt(t, "a.arrows", b)
	}
	// Every field's children become the schema's own fields: an endless schema.
	b := slices.Clone(content)
	for i := range n {
		fieldAt, err := schema.follow(start + 4*i)
		if err != nil {
			t.Fatal(err)
		}
		field := flatTable{buf: meta.buf, at: fieldAt}
		if slot, ok, err := field.slot(fieldChildren, 4); err == nil && ok {
			binary.LittleEndian.PutUint32(b[at+slot:], uint32(start-4-slot))
		}
	}
	wantCorrupt(t, "a.arrows", b)
}

// parquetWith returns a file with nothing but the footer.
func parquetWith(footer []byte) []byte {
	b := append([]byte("PAR1"), footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, "PAR1"...)
}

// Pieces of a footer in the compact protocol.
func element(children uint64) []byte { // a SchemaElement with name and children
	b := append([]byte{0x48, 1, 'n', 0x15}, binary.AppendUvarint(nil, children<<1)...)
	return append(b, 0)
}

func schemaOf(claimed int, elements ...[]byte) []byte { // version, then the schema
	b := append([]byte{0x15, 2, 0x19, 0xf0 | thriftStruct}, binary.AppendUvarint(nil, uint64(claimed))...)
	b = append(b, bytes.Join(elements, nil)...)
	return append(b, 0)
}

func TestParquetFooterOfAnyClaimedCountIsNotAllocated(t *testing.T) {
	deep := make([][]byte, 5000)
	for i := range deep {
		deep[i] = element(1)
	}
	for name, footer := range map[string][]byte{
		"empty":                  {},
		"children":               schemaOf(2, element(1<<31-1), element(0)),
		"one child too many":     schemaOf(2, element(2), element(0)),
		"negative children":      schemaOf(1, []byte{0x48, 1, 'n', 0x15, 1, 0}),
		"elements":               schemaOf(1<<30, element(0)),
		"element outside":        schemaOf(3, element(1), element(0), element(0)),
		"deep":                   schemaOf(len(deep), deep...),
		"deep structs":           bytes.Repeat([]byte{0x1c}, 100_000),
		"string":                 {0x68, 0xff, 0xff, 0xff, 0xff, 0x07},
		"map":                    {0x1b, 0xff, 0xff, 0xff, 0x07, 0x88},
		"list of lists of lists": {0x19, 0x19, 0x19, 0x19, 0x19},
		"unknown type":           {0x1f, 0},
		"endless number":         bytes.Repeat([]byte{0xff}, 20),
	} {
		t.Run(name, func(t *testing.T) {
			wantCorrupt(t, "a.parquet", parquetWith(footer))
		})
	}
}

func TestThriftWalkPassesOverEveryType(t *testing.T) {
	value := []byte{
		0x11, 0x12, // booleans
		0x13, 9, // byte
		0x14, 2, 0x15, 4, 0x16, 0x80, 1, // whole numbers
		0x17, 0, 0, 0, 0, 0, 0, 0, 0, // double
		0x18, 2, 'h', 'i', // text
		0x19, 0x21, 1, 2, // list of two booleans
		0x1a, 0x13, 7, // set of one byte
		0x1b, 0, // empty map
		0x1b, 1, 0x83, 1, 'k', 5, // map of text to byte
		0x1c, 0x15, 2, 0, // struct
		0x05, 0x64, 2, // a field with its number written out
		0,
	}
	w := thriftWalk{buf: value}
	if err := w.skipStruct(0); err != nil || w.at != len(value) {
		t.Fatalf("stopped at %d of %d: %v", w.at, len(value), err)
	}
	for n := range value {
		w := thriftWalk{buf: value[:n]}
		if err := w.skipStruct(0); !errors.Is(err, errThrift) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

// invalid is array data that the library builds an array of, but that is not safe
// to touch.
func TestValidatorFindsDataThatIsNotSafeToTouch(t *testing.T) {
	buffer := func(b ...byte) *memory.Buffer { return memory.NewBufferBytes(b) }
	offsets := func(v ...int32) *memory.Buffer { return memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(v)) }
	large := func(v ...int64) *memory.Buffer { return memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(v)) }
	ints := array.NewData(arrow.PrimitiveTypes.Int8, 4, []*memory.Buffer{nil, buffer(1, 2, 3, 4)}, nil, 0, 0)
	words := array.NewData(arrow.BinaryTypes.String, 2, []*memory.Buffer{nil, offsets(0, 1, 2), buffer('a', 'b')}, nil, 0, 0)
	list := arrow.ListOf(arrow.PrimitiveTypes.Int8)
	fixed := arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8)
	pair := arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8})
	dict := func(index arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}
	}
	kids := func(d ...arrow.ArrayData) []arrow.ArrayData { return d }
	type buffers = []*memory.Buffer
	for name, c := range map[string]struct {
		sound bool
		data  *array.Data
	}{
		"sound numbers":       {true, ints},
		"sound text":          {true, words},
		"short numbers":       {false, array.NewData(arrow.PrimitiveTypes.Int32, 2, buffers{nil, buffer(1, 2, 3, 4)}, nil, 0, 0)},
		"no numbers":          {false, array.NewData(arrow.PrimitiveTypes.Int32, 2, buffers{nil, nil}, nil, 0, 0)},
		"short bits":          {false, array.NewData(arrow.FixedWidthTypes.Boolean, 9, buffers{nil, buffer(1)}, nil, 0, 0)},
		"short null bitmap":   {false, array.NewData(arrow.PrimitiveTypes.Int8, 9, buffers{buffer(1), buffer(make([]byte, 9)...)}, nil, 1, 0)},
		"offset beyond":       {false, array.NewData(arrow.PrimitiveTypes.Int8, 4, buffers{nil, buffer(1, 2, 3, 4)}, nil, 0, 1)},
		"few offsets":         {false, array.NewData(arrow.BinaryTypes.String, 2, buffers{nil, offsets(0, 1), buffer('a', 'b')}, nil, 0, 0)},
		"falling offsets":     {false, array.NewData(arrow.BinaryTypes.String, 2, buffers{nil, offsets(0, 2, 1), buffer('a', 'b')}, nil, 0, 0)},
		"offsets beyond":      {false, array.NewData(arrow.BinaryTypes.String, 2, buffers{nil, offsets(0, 1, 3), buffer('a', 'b')}, nil, 0, 0)},
		"negative offset":     {false, array.NewData(arrow.BinaryTypes.String, 1, buffers{nil, offsets(-1, 1), buffer('a', 'b')}, nil, 0, 0)},
		"large offsets":       {true, array.NewData(arrow.BinaryTypes.LargeString, 1, buffers{nil, large(0, 2), buffer('a', 'b')}, nil, 0, 0)},
		"large beyond":        {false, array.NewData(arrow.BinaryTypes.LargeString, 1, buffers{nil, large(0, 1<<62), buffer('a', 'b')}, nil, 0, 0)},
		"sound list":          {true, array.NewData(list, 1, buffers{nil, offsets(0, 4)}, kids(ints), 0, 0)},
		"list beyond":         {false, array.NewData(list, 1, buffers{nil, offsets(0, 5)}, kids(ints), 0, 0)},
		"list of nothing":     {false, array.NewData(list, 1, buffers{nil, offsets(0, 5)}, nil, 0, 0)},
		"sound fixed list":    {true, array.NewData(fixed, 2, buffers{nil}, kids(ints), 0, 0)},
		"short fixed list":    {false, array.NewData(fixed, 3, buffers{nil}, kids(ints), 0, 0)},
		"sound struct":        {true, array.NewData(pair, 4, buffers{nil}, kids(ints), 0, 0)},
		"short struct":        {false, array.NewData(pair, 5, buffers{nil}, kids(ints), 0, 0)},
		"struct of nothing":   {false, array.NewData(pair, 5, buffers{nil}, nil, 0, 0)},
		"sound dictionary":    {true, array.NewDataWithDictionary(dict(arrow.PrimitiveTypes.Int8), 2, buffers{nil, buffer(0, 1)}, 0, 0, words)},
		"index beyond":        {false, array.NewDataWithDictionary(dict(arrow.PrimitiveTypes.Int8), 2, buffers{nil, buffer(0, 2)}, 0, 0, words)},
		"negative index":      {false, array.NewDataWithDictionary(dict(arrow.PrimitiveTypes.Int8), 2, buffers{nil, buffer(0, 0xff)}, 0, 0, words)},
		"index beyond, null":  {true, array.NewDataWithDictionary(dict(arrow.PrimitiveTypes.Int16), 2, buffers{buffer(1), buffer(0, 0, 9, 9)}, 1, 0, words)},
		"wide index":          {false, array.NewDataWithDictionary(dict(arrow.PrimitiveTypes.Uint32), 1, buffers{nil, buffer(0, 0, 0, 1)}, 0, 0, words)},
		"widest index":        {false, array.NewDataWithDictionary(dict(arrow.PrimitiveTypes.Int64), 1, buffers{nil, buffer(0, 0, 0, 0, 0, 0, 0, 1)}, 0, 0, words)},
		"unchecked type":      {false, array.NewData(arrow.SparseUnionOf(nil, nil), 0, buffers{nil, nil}, nil, 0, 0)},
		"number of values":    {false, array.NewData(arrow.Null, 1<<62, buffers{nil}, nil, 0, 0)},
		"nulls":               {true, array.NewData(arrow.Null, 10, buffers{nil}, nil, 10, 0)},
		"no values, no bytes": {true, array.NewData(arrow.BinaryTypes.String, 0, buffers{nil, nil, nil}, nil, 0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			v := validator{}
			for range 2 { // the second time, dictionaries are known
				if err := v.data(c.data.DataType(), c.data); (err == nil) != c.sound {
					t.Errorf("error %v, sound %v", err, c.sound)
				}
			}
		})
	}
}
