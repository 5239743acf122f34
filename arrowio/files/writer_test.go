package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// scalars is a record of one column of each plain type.
func scalars(t testing.TB) arrow.Record {
	t.Helper()
	types := []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Timestamp_us,
		arrow.BinaryTypes.LargeString, &arrow.Decimal128Type{Precision: 9, Scale: 2},
	}
	fields := make([]arrow.Field, len(types))
	for i, typ := range types {
		fields[i] = arrow.Field{Name: typ.Name(), Type: typ, Nullable: true}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i, typ := range types {
		for _, text := range []string{"7", "9"} {
			switch typ.ID() {
			case arrow.DATE32:
				text = "2024-02-2" + text
			case arrow.TIMESTAMP:
				text = "2024-02-2" + text + " 01:02:03"
			case arrow.DECIMAL128:
				b.Field(i).(*array.Decimal128Builder).Append(decimal128.FromI64(1234))
				continue
			}
			if err := b.Field(i).AppendValueFromString(text); err != nil {
				t.Fatal(err)
			}
		}
		b.Field(i).AppendNull()
	}
	return b.NewRecord()
}

func TestScalarsOfEveryTypeAreWritten(t *testing.T) {
	rec := scalars(t)
	defer rec.Release()
	for _, name := range binaryNames {
		t.Run(name, func(t *testing.T) {
			_, rows := mustDrain(t, written(t, name, rec), Options{})
			equalLines(t, rows, rowTexts(rec))
		})
	}
	t.Run("csv", func(t *testing.T) {
		_, rows := mustDrain(t, written(t, "a.csv", rec), Options{Schema: arrow.NewSchema(rec.Schema().Fields()[:11], nil)})
		equalLines(t, rows, []string{
			strings.ReplaceAll(rowTexts(rec)[0], "|1234", "|12.34"),
			strings.ReplaceAll(rowTexts(rec)[1], "|1234", "|12.34"),
			rowTexts(rec)[2],
		})
	})
}

func TestCSVIsWrittenWithListsInColumns(t *testing.T) {
	rec := sampleRecord(t, memory.DefaultAllocator, 6)
	defer rec.Release()
	part := rec.NewSlice(3, 6)
	defer part.Release()
	for _, name := range []string{"a.csv", "a.csv.gz", "a.tsv"} {
		t.Run(name, func(t *testing.T) {
			schema, rows := mustDrain(t, written(t, name, part), Options{})
			want := "id int64, x float64, flag bool, name utf8, z_0 int64, z_1 float64, z_2 float64"
			if got := columnsText(schema); got != want {
				t.Errorf("columns %q, want %q", got, want)
			}
			equalLines(t, rows, []string{
				"3|0.75|false|name 3, \"é\"|3|3.125|3.25",
				"4|(null)|(null)|(null)|4|4.125|4.25",
				"5|1.25|false|name 5, \"é\"|5|5.125|5.25",
			})
		})
	}
}

func TestCSVNamesElementsAsTheMetadataSay(t *testing.T) {
	for name, c := range map[string]struct {
		names []string
		want  string
	}{
		"named":           {[]string{"no", "yes, \"é\"", "3"}, "z_no float64, z_yes, \"é\" float64, z_3 float64"},
		"not all":         {[]string{"no"}, "z_0 float64, z_1 float64, z_2 float64"},
		"none of a list ": {nil, "z_0 float64, z_1 float64, z_2 float64"},
	} {
		plain := sampleRecord(t, memory.DefaultAllocator, 5)
		fields := plain.Schema().Fields()[4:]
		fields[0].Metadata = ElementNames(c.names)
		rec := array.NewRecord(arrow.NewSchema(fields, nil), plain.Columns()[4:], 5)
		types := arrow.NewSchema(nil, nil)
		if schema, _ := mustDrain(
			t,
			written(t, "a.csv", rec), Options{Schema: types},
		); strings.ReplaceAll(columnsText(schema), "int64", "float64") != c.want {
			t.Errorf("%s: columns %q, want %q", name, columnsText(schema), c.want)
		}
		rec.Release()
		plain.Release()
	}
}

func wantContent(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
	}
}

func TestWholeFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model.arrow")
	if err := errors.Join(CheckTarget(path), WriteWhole(path, []byte("old")), CheckTarget(path)); err != nil {
		t.Fatal(err)
	}
	wantContent(t, path, "old")
	if err := WriteWhole(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	wantContent(t, path, "new")
	for _, bad := range []string{dir, filepath.Join(dir, "absent", "model.arrow"), filepath.Join(path, "model.arrow")} {
		var e *Error
		if err := CheckTarget(bad); !errors.As(err, &e) || e.Path != bad {
			t.Errorf("%s: %v", bad, err)
		}
		if err := WriteWhole(bad, nil); !errors.As(err, &e) || e.Path != bad {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if err := errors.Join(CheckTarget(os.DevNull), WriteWhole(os.DevNull, []byte("x"))); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
}

func TestCreateRefusesUnsupportedTargets(t *testing.T) {
	plain := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil)
	nested := arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64)}}, nil)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		path, format string
		schema       *arrow.Schema
		say          string
	}{
		"unknown name":     {"out", "", plain, "give one of arrow, csv, parquet"},
		"unknown format":   {"out", "json", plain, "cannot write format \"json\""},
		"gzip of arrow":    {"out.arrow.gz", "", plain, "only csv"},
		"nested in csv":    {"out.csv", "", nested, "out.csv: column \"l\": not supported"},
		"no columns":       {"out.csv", "", arrow.NewSchema(nil, nil), "without columns"},
		"absent directory": {filepath.Join("absent", "out.csv"), "", plain, "no such file"},
		"a directory":      {".", "csv", plain, "directory"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, c.path)
			_, err := Create(path, c.schema, c.format)
			wantError(t, err, path, 0, c.say)
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("files left: %v", left)
			}
		})
	}
}

// longRecord is a list of one number per row, the number of the row: more rows than a row group of
// Parquet.
func longRecord(t testing.TB) arrow.Record {
	t.Helper()
	const rows = maxRowGroupRows + 5
	values := arrow.FixedSizeListOf(1, arrow.PrimitiveTypes.Float32)
	bytes := arrow.Float32Traits.CastToBytes(make([]float32, rows))
	for i := range rows {
		arrow.Float32Traits.CastFromBytes(bytes)[i] = float32(i)
	}
	elements := array.NewData(
		arrow.PrimitiveTypes.Float32,
		rows, []*memory.Buffer{nil, memory.NewBufferBytes(bytes)}, nil, 0, 0,
	)
	lists := array.NewFixedSizeListData(
		array.NewData(values, rows, []*memory.Buffer{nil}, []arrow.ArrayData{elements}, 0, 0),
	)
	return array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "z", Type: values}}, nil), []arrow.Array{lists}, rows)
}

func TestParquetOfMoreThanOneRowGroup(t *testing.T) {
	rec := longRecord(t)
	defer rec.Release()
	path := written(t, "a.parquet", rec)
	r, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	next := 0
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range rec.Column(0).(*array.FixedSizeList).ListValues().(*array.Float32).Float32Values() {
			if v != float32(next) {
				t.Fatalf("row %d holds %g", next, v)
			}
			next++
		}
		rec.Release()
	}
	if rows := int(rec.NumRows()); next != rows {
		t.Errorf("%d rows, want %d", next, rows)
	}
}
