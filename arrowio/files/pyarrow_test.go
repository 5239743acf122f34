package files

import (
	"errors"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

func TestFilesOfAnotherProgramAreRead(t *testing.T) {
	want := []string{"1|0.5|a|u|true|[1,2]", "2|(null)|(null)|v|(null)|[3,4]", "3|-2|é|u|false|[5,6]"}
	for _, name := range []string{"v1.parquet", "v2_struct.parquet", "zstd.feather"} {
		t.Run(name, func(t *testing.T) {
			schema, rows := mustDrain(t, filepath.Join("testdata", name), Options{})
			equalLines(t, rows, want)
			columns := columnsText(schema)
			for _, part := range []string{"id int64, x float64, name utf8, kind dictionary<values=utf8", "flag bool, z fixed_size_list<"} {
				if !strings.Contains(columns, part) {
					t.Errorf("columns %q lack %q", columns, part)
				}
			}
		})
	}
}

func TestParquetThatTheLibraryLacksIsNamed(t *testing.T) {
	for name, say := range map[string]string{
		"lz4_raw.parquet":           "column \"id\": not supported: LZ4_RAW compression",
		"byte_stream_split.parquet": "column \"x\": not supported: BYTE_STREAM_SPLIT encoding",
	} {
		_, _, _, err := drain(filepath.Join("testdata", name), Options{})
		if !errors.Is(err, arrowio.ErrUnsupported) || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: error %v, want %q", name, err, say)
		}
	}
}

// What is written as Parquet, pyarrow reads, lists in several row groups and nulls among them.
func TestParquetIsReadByAnotherProgram(t *testing.T) {
	if err := exec.Command("python3", "-c", "import pyarrow.parquet").Run(); err != nil {
		t.Skip("python3 with pyarrow is not here")
	}
	const rows, features = 90_000, 200 // 72 MB: two row groups
	rec := featureRecord(t, rows, features)
	defer rec.Release()
	sample := sampleRecord(t, memory.DefaultAllocator, 1000)
	defer sample.Release()
	script := `
import sys, pyarrow.parquet as pq
features, sample = pq.ParquetFile(sys.argv[1]), pq.read_table(sys.argv[2])
assert features.metadata.num_row_groups == 2, features.metadata
table = features.read()
z = table["features"].combine_chunks()
assert table.num_rows == 90000 and z.type.list_size == 200 and z.null_count == 0, table.schema
for i in (0, 1, 45678, 89999):
    assert table["row"][i].as_py() == i and table["label"][i].as_py() == ("no", "yes")[i % 2]
    assert abs(z[i].as_py()[3] - __import__("math").cos((200 * i + 3) * 1.618) / 200 ** 0.5) < 1e-6, i
assert z.values.null_count == 0 and len(z.values) == 200 * 90000
assert sample["x"].null_count == 200 and sample["z"][999].as_py() == [999, 999.125, 999.25], sample
`
	out, err := exec.Command("python3", "-c", script, written(t, "features.parquet", rec), written(t, "sample.parquet", sample)).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// featureRecord is rows as written by transform: a label, the row's number and a vector of features.
func featureRecord(t testing.TB, rows, features int) arrow.Record {
	t.Helper()
	values := make([]float32, rows*features)
	for i := range values {
		values[i] = float32(math.Cos(float64(i)*1.618) / math.Sqrt(float64(features)))
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "label", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "row", Type: arrow.PrimitiveTypes.Int64},
		{Name: "features", Type: arrow.FixedSizeListOfNonNullable(int32(features), arrow.PrimitiveTypes.Float32)},
	}, nil)
	labels, numbers := array.NewStringBuilder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
	for i := range rows {
		labels.Append([]string{"no", "yes"}[i%2])
		numbers.Append(int64(i))
	}
	elements := array.NewData(arrow.PrimitiveTypes.Float32, len(values),
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Float32Traits.CastToBytes(values))}, nil, 0, 0)
	vectors := array.NewData(schema.Field(2).Type, rows, []*memory.Buffer{nil}, []arrow.ArrayData{elements}, 0, 0)
	return array.NewRecord(schema, []arrow.Array{labels.NewArray(), numbers.NewArray(), array.NewFixedSizeListData(vectors)}, int64(rows))
}
