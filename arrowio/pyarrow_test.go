package arrowio

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

func readFile(t testing.TB, elem ...string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// streams returns every stream that pyarrow wrote, by name.
func streams(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/pyarrow/*.arrows")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no streams in testdata/pyarrow: %v", err)
	}
	all := make(map[string][]byte)
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(p), ".arrows")] = raw
	}
	return all
}

// TestReadsPyarrow compares decoded streams of another implementation with the values that it
// wrote.
func TestReadsPyarrow(t *testing.T) {
	for name, stream := range streams(t) {
		t.Run(name, func(t *testing.T) {
			recs := mustDecode(t, NewDecoder(Limits{}), stream)
			if name == "lz4_blocks" {
				checkSquares(t, recs)
				return
			}
			var want []any
			if err := json.Unmarshal(readFile(t, "pyarrow", name+".json"), &want); err != nil {
				t.Fatal(err)
			}
			if got := renderAll(recs); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

func checkSquares(t *testing.T, recs []arrow.Record) {
	t.Helper()
	value := recs[0].Column(0).(*array.Binary).Value(0)
	if len(value) != 100_000 {
		t.Fatalf("%d bytes, want 100000", len(value))
	}
	for i, v := range value {
		if v != byte(i*i%251) {
			t.Fatalf("byte %d is %d, want %d", i, v, i*i%251)
		}
	}
}

// mustDecode decodes and releases at the end of the test.
func mustDecode(t testing.TB, d *Decoder, stream []byte) []arrow.Record {
	t.Helper()
	recs, err := d.Decode(stream)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { releaseAll(recs) })
	return recs
}

func releaseAll(recs []arrow.Record) {
	for _, rec := range recs {
		rec.Release()
	}
}

func TestSchemaOfAStreamWithoutBatches(t *testing.T) {
	d := NewDecoder(Limits{})
	if d.Schema() != nil {
		t.Error("a schema before any message")
	}
	recs := mustDecode(t, d, readFile(t, "pyarrow", "schema_only.arrows"))
	if len(recs) != 0 {
		t.Errorf("%d records", len(recs))
	}
	md := d.Schema().Metadata()
	if i := md.FindKey("raw"); i < 0 || md.Values()[i] != "\xff\xfe" {
		t.Errorf("metadata %v", md)
	}
	if _, err := d.Decode([]byte("nonsense")); err == nil || d.Schema() != nil {
		t.Error("a refused message has a schema")
	}
}
