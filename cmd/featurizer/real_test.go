package main

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/internal/testdata"
)

// demoOn runs a demo on real rows and checks what holds for all of them.
func demoOn(t *testing.T, args ...string) clitest.Object {
	t.Helper()
	o := fz(t, append([]string{"demo", "--json"}, args...)...).Want(t, cli.ExitOK).Object(t)
	reconciles(t, o)
	t.Logf("%s: %.2f %% with selected features, %.2f %% with plain ones, %v test rows", o.Text(t, "model.metric"),
		o.Number(t, "model.error"), o.Number(t, "model.baseline_error"), o.Number(t, "rows.test"))
	return o
}

// long skips a test of several seconds in short runs.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() || underRace {
		t.Skip("takes seconds, and far longer under the race detector")
	}
}

// unzipped reads the lines of a compressed file of the data folder.
func unzipped(t *testing.T, name string) *bufio.Scanner {
	t.Helper()
	return bufio.NewScanner(gunzip(t, name))
}

func gunzip(t *testing.T, name string) io.Reader {
	t.Helper()
	file, err := os.Open(testdata.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	reader, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

// Adult as published: strings, "?" for missing values, no header. Its test file has a comment line and a full stop after
// each label, which the test removes.
func TestAdultWithStrings(t *testing.T) {
	long(t)
	var clean strings.Builder
	for lines := unzipped(t, "adult.test.gz"); lines.Scan(); {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "|") {
			clean.WriteString(strings.TrimSuffix(line, ".") + "\n")
		}
	}
	data := filepath.Join(t.TempDir(), "adult.csv.gz") // the published name does not give the format
	copyFile(t, testdata.Path(t, "adult.data.gz"), data)
	o := demoOn(t, "--data", data, "--test-file", clitest.File(t, "adult.test.csv", clean.String()),
		"--no-header", "--label", "f14", "--features", "100", "--candidates", "1000", "--sample", "0.1")
	if in, test := o.Number(t, "rows.in"), o.Number(t, "rows.test"); in != 32561 || test != 16281 {
		t.Errorf("%v rows in, %v test rows", in, test)
	}
	if dim := o.Number(t, "encoder.dim"); dim < 90 || dim > 108 { // rare categories may be missing from calibration
		t.Errorf("%v dimensions, want about 100", dim)
	}
	if e := o.Number(t, "model.error"); e > 16.5 {
		t.Errorf("%.2f %%, want at most 16.5", e)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeDigits converts the first rows of idx files of images and labels to an Arrow file.
func writeDigits(t *testing.T, path, images, labels string, rows int) {
	t.Helper()
	const dim = 28 * 28
	pixels, digits := idx(t, images, 3, rows*dim), idx(t, labels, 1, rows)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "pixels", Type: arrow.FixedSizeListOf(dim, arrow.PrimitiveTypes.Float32)},
		{Name: "digit", Type: arrow.PrimitiveTypes.Int32},
	}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	vectors := builder.Field(0).(*array.FixedSizeListBuilder)
	values := vectors.ValueBuilder().(*array.Float32Builder)
	for i := range rows {
		vectors.Append(true)
		for _, p := range pixels[i*dim : (i+1)*dim] {
			values.Append(float32(p) / 255)
		}
		builder.Field(1).(*array.Int32Builder).Append(int32(digits[i]))
	}
	record := builder.NewRecord()
	defer record.Release()
	out, err := files.Create(path, schema, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// idx reads the first bytes of an idx file of so many dimensions.
func idx(t *testing.T, name string, dimensions, n int) []byte {
	t.Helper()
	reader := gunzip(t, name)
	header := make([]byte, 4+4*dimensions)
	values := make([]byte, n)
	if _, err := io.ReadFull(reader, header); err != nil {
		t.Fatal(err)
	}
	if magic := binary.BigEndian.Uint32(header); magic != 0x0800|uint32(dimensions) {
		t.Fatalf("%s: magic number %#x", name, magic)
	}
	if _, err := io.ReadFull(reader, values); err != nil {
		t.Fatal(err)
	}
	return values
}
