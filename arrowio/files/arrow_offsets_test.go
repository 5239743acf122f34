package files

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

// TestOffsetsMayBeginAnywhere reads text, lists and a dictionary whose first value is not the first in the file, and
// passes them on as a message.
func TestOffsetsMayBeginAnywhere(t *testing.T) {
	text := arrow.BinaryTypes.String
	for name, column := range map[string]arrow.DataType{
		"text": text, "list": arrow.ListOf(text), "coded": &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: text},
		"struct": arrow.StructOf(arrow.Field{Name: "t", Type: text}),
	} {
		t.Run(name, func(t *testing.T) {
			rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "x", Type: column}}, nil),
				bytes.NewReader([]byte(map[string]string{
					"text": `[{"x": "abc"}, {"x": "d"}]`, "list": `[{"x": ["abc", "d"]}]`, "coded": `[{"x": "abc"}, {"x": "d"}]`,
					"struct": `[{"x": {"t": "abc"}}, {"x": {"t": "d"}}]`,
				}[name])))
			if err != nil {
				t.Fatal(err)
			}
			defer rec.Release()
			content, err := os.ReadFile(written(t, "a.arrows", rec))
			if err != nil {
				t.Fatal(err)
			}
			offsets := []byte{0, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0}
			if bytes.Count(content, offsets) != 1 {
				t.Fatalf("%d places of the offsets", bytes.Count(content, offsets))
			}
			binary.LittleEndian.PutUint32(content[bytes.Index(content, offsets):], 1)
			got := passedOn(t, writeFile(t, "a.arrows", content))
			for i, want := range []string{"bc", "d"} {
				if got.ValueStr(i) != want {
					t.Errorf("value %d is %q, want %q", i, got.ValueStr(i), want)
				}
			}
		})
	}
}

// passedOn reads a file's record, sends it as a message, and returns the text in what arrives.
func passedOn(t *testing.T, path string) arrow.Array {
	t.Helper()
	r, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	message, err := arrowio.EncodeStream(rec.Schema(), rec)
	if err != nil {
		t.Fatal(err)
	}
	recs, err := arrowio.NewDecoder(arrowio.Limits{}).Decode(message)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(recs[0].Release)
	switch column := recs[0].Column(0).(type) {
	case *array.List:
		return column.ListValues()
	case *array.Struct:
		return column.Field(0)
	default:
		return column
	}
}
