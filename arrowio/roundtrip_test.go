package arrowio

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// write encodes with the library's writer and the given options.
func write(t testing.TB, schema *arrow.Schema, recs []arrow.Record, options ...ipc.Option) []byte {
	t.Helper()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(options, ipc.WithSchema(schema))...)
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRoundTrip encodes and decodes every type that has a stream, as a whole, in slices, several
// batches at once, plain and compressed.
func TestRoundTrip(t *testing.T) {
	for name, stream := range streams(t) {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(Limits{})
			recs := mustDecode(t, d, stream)
			schema := d.Schema()
			recs = append(recs, tails(t, recs)...)
			want := renderAll(recs)
			for codec, options := range map[string][]ipc.Option{
				"none": nil, "lz4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()},
			} {
				d := NewDecoder(Limits{})
				got := mustDecode(t, d, write(t, schema, recs, options...))
				if !reflect.DeepEqual(renderAll(got), want) {
					t.Errorf("%s: got  %v\nwant %v", codec, renderAll(got), want)
				}
				if !d.Schema().Equal(schema) {
					t.Errorf("%s: schema\n%v\nwant\n%v", codec, d.Schema(), schema)
				}
			}
		})
	}
}

// tails returns views of the records with an offset and a shorter length.
func tails(t testing.TB, recs []arrow.Record) []arrow.Record {
	t.Helper()
	var all []arrow.Record
	for _, rec := range recs {
		if n := rec.NumRows(); n > 1 {
			s := rec.NewSlice(1, n)
			t.Cleanup(s.Release)
			all = append(all, s)
		}
	}
	return all
}

// TestMetadataSurvives checks the metadata of schemas and fields; an extension type arrives as its
// storage type with its name in the metadata.
func TestMetadataSurvives(t *testing.T) {
	about := arrow.NewMetadata([]string{"eerf:test", "empty"}, []string{`{"a": 1}`, ""})
	kind := arrow.NewMetadata([]string{"ARROW:extension:name", "unit"}, []string{"example.angle", "degree"})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "angle", Type: arrow.PrimitiveTypes.Float64, Metadata: kind},
		{
			Name:     "",
			Type:     arrow.StructOf(arrow.Field{Name: "angle", Type: arrow.PrimitiveTypes.Int8, Metadata: kind}),
			Nullable: true,
		},
		{Name: "angle", Type: arrow.Null},
	}, &about)
	raw, err := EncodeStream(schema)
	if err != nil {
		t.Fatal(err)
	}
	d := NewDecoder(Limits{})
	if recs := mustDecode(t, d, raw); len(recs) != 0 {
		t.Errorf("%d records", len(recs))
	}
	if got := d.Schema(); !got.Equal(schema) || !got.Metadata().Equal(about) || !got.Field(0).Metadata.Equal(kind) {
		t.Errorf("got\n%v\nwant\n%v", got, schema)
	}
}

// TestUnalignedMessages decodes from every address within a word.
func TestUnalignedMessages(t *testing.T) {
	for _, name := range []string{"flat", "temporal", "nested", "views", "dictionary_replaced"} {
		stream := readFile(t, "pyarrow", name+".arrows")
		want := renderAll(mustDecode(t, NewDecoder(Limits{}), stream))
		for shift := 1; shift < 8; shift++ {
			moved := append(make([]byte, shift, shift+len(stream)), stream...)[shift:]
			got := mustDecode(t, NewDecoder(Limits{}), moved)
			if !reflect.DeepEqual(renderAll(got), want) {
				t.Fatalf("%s moved by %d: got %v, want %v", name, shift, renderAll(got), want)
			}
			for _, rec := range got {
				for _, col := range rec.Columns() {
					checkAligned(t, col.Data())
				}
			}
		}
	}
}

func checkAligned(t *testing.T, data arrow.ArrayData) {
	t.Helper()
	_, raw := data.DataType().(*arrow.FixedSizeBinaryType)
	if dt, ok := data.DataType().(arrow.FixedWidthDataType); ok && !raw && len(data.Buffers()) > 1 &&
		data.Buffers()[1] != nil {
		if width := dt.BitWidth() / 8; width > 1 && !aligned(data.Buffers()[1].Bytes(), min(width, 8)) {
			t.Errorf("%s at an odd address", dt)
		}
	}
	for _, child := range data.Children() {
		checkAligned(t, child)
	}
}

// TestRecordsShareTheMessage shows that plain columns are views, not copies.
func TestRecordsShareTheMessage(t *testing.T) {
	b := array.NewFloat32Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues([]float32{1, 2, 3}, nil)
	col := b.NewArray()
	defer col.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float32}}, nil)
	rec := array.NewRecord(schema, []arrow.Array{col}, 3)
	defer rec.Release()
	raw, err := EncodeStream(schema, rec)
	if err != nil {
		t.Fatal(err)
	}
	got := mustDecode(t, NewDecoder(Limits{}), raw)[0].Column(0).(*array.Float32)
	at := bytes.Index(raw, []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40})
	raw[at+3] = 0xbf
	if got.Value(0) != -1 {
		t.Errorf("value %v does not follow the message", got.Value(0))
	}
}
