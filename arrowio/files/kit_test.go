package files

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// writeFile writes content to a new file with this name and returns its path.
func writeFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// zipped returns content compressed by gzip.
func zipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// drain reads path to its end: the schema, the rows as text ("(null)" for null),
// and the sizes of the records.
func drain(path string, o Options) (schema *arrow.Schema, rows []string, sizes []int, err error) {
	r, err := Open(path, o)
	if err != nil {
		return nil, nil, nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Schema(), rows, sizes, nil
		}
		if err != nil {
			return r.Schema(), rows, sizes, err
		}
		if !rec.Schema().Equal(r.Schema()) {
			return nil, nil, nil, fmt.Errorf("a record's schema is not the reader's: %s", rec.Schema())
		}
		sizes = append(sizes, int(rec.NumRows()))
		rows = append(rows, rowTexts(rec)...)
		rec.Release()
	}
}

func rowTexts(rec arrow.Record) []string {
	rows := make([]string, rec.NumRows())
	cells := make([]string, rec.NumCols())
	for i := range rows {
		for j, c := range rec.Columns() {
			cells[j] = cellText(c, i)
		}
		rows[i] = strings.Join(cells, "|")
	}
	return rows
}

// cellText is value i as text. Lists are put together here, because the library's
// text of a list panics on NaN.
func cellText(a arrow.Array, i int) string {
	list, ok := a.(array.ListLike)
	if !ok || a.IsNull(i) {
		return a.ValueStr(i)
	}
	start, end := list.ValueOffsets(i)
	var parts []string
	for k := start; k < end; k++ {
		parts = append(parts, cellText(list.ListValues(), int(k)))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// mustDrain is drain of a file that must be readable.
func mustDrain(t *testing.T, path string, o Options) (*arrow.Schema, []string) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	o.Allocator = mem
	schema, rows, _, err := drain(path, o)
	if err != nil {
		t.Fatal(err)
	}
	mem.AssertSize(t, 0)
	return schema, rows
}

// columnsText is a schema as "name type, name type".
func columnsText(s *arrow.Schema) string {
	parts := make([]string, s.NumFields())
	for i, f := range s.Fields() {
		parts[i] = f.Name + " " + f.Type.String()
	}
	return strings.Join(parts, ", ")
}

// equalLines compares rows and shows the first that differs.
func equalLines(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d; the first is %q", len(got), len(want), slices.Concat(got, []string{""})[0])
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("row %d: %q, want %q", i, got[i], want[i])
		}
	}
}

// wantError checks that err is an *Error for the file and line whose text contains every word.
func wantError(t *testing.T, err error, path string, line int64, words ...string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v (%T) is not an *Error", err, err)
	}
	if e.Path != path || e.Line != line {
		t.Errorf("error %q is at %s line %d, want %s line %d", err, e.Path, e.Line, path, line)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

// sampleRecord is a record with every kind of column that pipelines use.
func sampleRecord(t testing.TB, mem memory.Allocator, rows int) arrow.Record {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "z", Type: arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32)},
	}, nil)
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	z := b.Field(4).(*array.FixedSizeListBuilder)
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		if i%5 == 4 {
			b.Field(1).AppendNull()
			b.Field(2).AppendNull()
			b.Field(3).AppendNull()
		} else {
			b.Field(1).(*array.Float64Builder).Append(float64(i) / 4)
			b.Field(2).(*array.BooleanBuilder).Append(i%2 == 0)
			b.Field(3).(*array.StringBuilder).Append(fmt.Sprintf("name %d, \"é\"", i%7))
		}
		z.Append(true)
		for k := range 3 {
			z.ValueBuilder().(*array.Float32Builder).Append(float32(i) + float32(k)/8)
		}
	}
	return b.NewRecord()
}

// written makes a file with this name by Create, and returns its path.
func written(t testing.TB, name string, recs ...arrow.Record) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w, err := Create(path, recs[0].Schema(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
