package files

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

func TestParquetStructColumnsAreLeftOut(t *testing.T) {
	r, err := Open(filepath.Join("testdata", "v2_struct.parquet"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if out := r.LeftOut(); len(out) != 1 || !strings.HasPrefix(out[0].Type, "struct<") ||
		r.Schema().HasField(out[0].Column) {
		t.Errorf("left out %v of %s", out, columnsText(r.Schema()))
	}
}

func TestFilesOfAnotherProgramAreRead(t *testing.T) {
	want := []string{"1|0.5|a|u|true|[1,2]", "2|(null)|(null)|v|(null)|[3,4]", "3|-2|é|u|false|[5,6]"}
	for _, name := range []string{"v1.parquet", "v2_struct.parquet", "zstd.feather"} {
		t.Run(name, func(t *testing.T) {
			schema, rows := mustDrain(t, filepath.Join("testdata", name), Options{})
			equalLines(t, rows, want)
			columns := columnsText(schema)
			for _, part := range []string{
				"id int64, x float64, name utf8, kind dictionary<values=utf8",
				"flag bool, z fixed_size_list<",
			} {
				if !strings.Contains(columns, part) {
					t.Errorf("columns %q lack %q", columns, part)
				}
			}
		})
	}
}

// Spark's timestamps hold years beyond the nanoseconds of int64, and its decimals are integers.
func TestFilesOfOtherToolsAreRead(t *testing.T) {
	for name, want := range map[string][]string{
		"spark_int96.parquet": {
			"9999-12-31 00:00:00Z|2020-01-01 00:00:00Z|9999-12-31 00:00:00Z|1.25|12345678901234567890.5",
			"(null)|2020-01-01 00:00:00Z|(null)|(null)|(null)",
			"1066-10-14 12:30:00Z|2020-01-01 00:00:00Z|1066-10-14 12:30:00Z|-3.5|-3.5",
			"2021-08-12 01:02:03.456789Z|2020-01-01 00:00:00Z|2021-08-12 01:02:03.456789Z|0|0",
		},
		"polars.parquet": {
			"Oslo|a|true|9999-12-31 00:00:00Z|1|[1,2]", "(null)|b|false|(null)|2|[3]",
			"Rome|a|(null)|1066-10-14 12:30:00Z|(null)|(null)", "Oslo|(null)|true|2021-08-12 01:02:03.456789Z|4|[]",
		},
		"polars.arrow": {
			"Oslo|a|true|9999-12-31 00:00:00Z|1", "(null)|b|false|(null)|2",
			"Rome|a|(null)|1066-10-14 12:30:00Z|(null)", "Oslo|(null)|true|2021-08-12 01:02:03.456789Z|4",
		},
		"pandas_index.parquet": {
			"Oslo|x|1|1.5|2020-01-01 00:00:00Z|7", "(null)|(null)|2|(null)|(null)|8",
			"Rome|y|(null)|2|2021-02-03 00:00:00Z|9", "Oslo|z|4|+Inf|2022-03-04 00:00:00Z|10",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, batch := range []int{0, 1, 3} {
				_, rows := mustDrain(t, filepath.Join("testdata", name), Options{BatchRows: batch})
				equalLines(t, rows, want)
			}
		})
	}
}

func TestUnsupportedParquetEncodingsAreNamed(t *testing.T) {
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
	long := longRecord(t)
	defer long.Release()
	sample := sampleRecord(t, memory.DefaultAllocator, 1000)
	defer sample.Release()
	script := `
import sys, pyarrow.parquet as pq
long, sample = pq.ParquetFile(sys.argv[1]), pq.read_table(sys.argv[2])
assert long.metadata.num_row_groups == 2, long.metadata
z = long.read()["z"].combine_chunks()
assert len(z) == 2**20 + 5 and z.type.list_size == 1 and z.null_count == z.values.null_count == 0, z.type
assert z.values.slice(2**20).to_pylist() == [2**20 + i for i in range(5)]
assert sample["x"].null_count == 200 and sample["z"][999].as_py() == [999, 999.125, 999.25], sample
`
	out, err := exec.Command(
		"python3",
		"-c", script, written(t, "long.parquet", long), written(t, "sample.parquet", sample),
	).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
