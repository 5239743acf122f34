package main

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
