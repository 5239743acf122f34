package files

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

var binaryNames = []string{"a.arrow", "a.arrows", "a.parquet"}

func TestMetadataOfTheSchemaIsKept(t *testing.T) {
	plain := sampleRecord(t, memory.DefaultAllocator, 3)
	defer plain.Release()
	meta := arrow.NewMetadata([]string{"eerf.set", "empty"}, []string{"fs-1", ""})
	fields := plain.Schema().Fields()
	fields[1].Metadata = arrow.NewMetadata([]string{"unit"}, []string{"°C"})
	rec := array.NewRecord(arrow.NewSchema(fields, &meta), plain.Columns(), 3)
	defer rec.Release()
	for _, name := range binaryNames {
		schema, _ := mustDrain(t, written(t, name, rec), Options{})
		got := schema.Metadata()
		if v, _ := got.GetValue("eerf.set"); v != "fs-1" || got.FindKey("empty") < 0 {
			t.Errorf("%s: metadata %v", name, got)
		}
		if v, _ := schema.Field(1).Metadata.GetValue("unit"); v != "°C" {
			t.Errorf("%s: field metadata %v", name, schema.Field(1).Metadata)
		}
	}
}

// dictionaryRecord has a dictionary column with a null.
func dictionaryRecord(t testing.TB) arrow.Record {
	t.Helper()
	kind := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	b := array.NewRecordBuilder(
		memory.DefaultAllocator,
		arrow.NewSchema([]arrow.Field{{Name: "d", Type: kind, Nullable: true}}, nil),
	)
	defer b.Release()
	d := b.Field(0).(*array.BinaryDictionaryBuilder)
	for i := range 100 {
		if i == 50 {
			d.AppendNull()
		} else if err := d.AppendString(fmt.Sprintf("v%d", i%3)); err != nil {
			t.Fatal(err)
		}
	}
	return b.NewRecord()
}

func TestBinaryFilesOfWrongContentAreRefused(t *testing.T) {
	rec := sampleRecord(t, memory.DefaultAllocator, 50)
	defer rec.Release()
	read := func(name string) []byte {
		content, err := os.ReadFile(written(t, name, rec))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	file, pq := read("a.arrow"), read("a.parquet")
	for name, c := range map[string]struct {
		file    string
		content []byte
		kind    error
	}{
		"empty arrow":      {"a.arrow", nil, ErrEmpty},
		"empty parquet":    {"a.parquet", nil, ErrEmpty},
		"text as arrow":    {"a.arrow", []byte(twoRows), arrowio.ErrCorrupt},
		"text as parquet":  {"a.parquet", []byte(strings.Repeat(twoRows, 9)), arrowio.ErrCorrupt},
		"parquet as arrow": {"a.arrow", pq, arrowio.ErrCorrupt},
		"arrow as parquet": {"a.parquet", file, arrowio.ErrCorrupt},
		"prefix of 2 GiB":  {"a.arrows", []byte{0xff, 0xff, 0xff, 0xff, 0xf0, 0xff, 0xff, 0x7f}, arrowio.ErrCorrupt},
		"feather 1":        {"a.feather", []byte("FEA1 and more bytes"), arrowio.ErrUnsupported},
		"parquet footer too long": {
			"a.parquet",
			append(append([]byte{}, pq[:len(pq)-8]...), 0xff, 0xff, 0xff, 0x7f, 'P', 'A', 'R', '1'),
			arrowio.ErrCorrupt,
		},
		"parquet encrypted": {"a.parquet", append([]byte("PARE"), pq[4:]...), arrowio.ErrUnsupported},
		"parquet in gzip":   {"a.parquet.gz", zipped(t, pq), arrowio.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, c.file, c.content)
			_, _, _, err := drain(path, Options{})
			if !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), path) {
				t.Errorf("error %v, want one of %q that names the file", err, c.kind)
			}
		})
	}
}
