package main

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/arrowio/onnx"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/internal/testdata"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
)

var fullONNX = flag.Bool("full-onnx", false, "hold ONNX graphs to the programs on all rows of public data, with the settings that fit has by default")

// python3 runs the script of the comparison.
func python3(t *testing.T, args ...string) string {
	t.Helper()
	python := exec.CommandContext(t.Context(), "python3", append([]string{filepath.Join("testdata", "onnx_check.py")}, args...)...)
	python.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+filepath.Join("..", "..", "python", "src"))
	out, err := python.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// onnxruntime gives the same results for a graph as the programs: features, predictions, classes, and rejected rows. The script
// has the cases and the bounds.
func TestONNXAgreesWithThePrograms(t *testing.T) {
	if exec.Command("python3", "-c", "import numpy, pyarrow, onnx, onnxruntime").Run() != nil {
		t.Skip("python3 with numpy, pyarrow, onnx and onnxruntime is not here, so no graph is run")
	}
	folder := t.TempDir()
	args := []string{"rows", folder}
	if *fullONNX {
		args = append(args, "--full")
	}
	if data, ok := testdata.Dir(); ok {
		args = append(args, "--data", data)
	} else {
		t.Log("public data are not here: rows that the test makes are checked alone")
	}
	python3(t, args...)
	cases, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, place := range cases {
		makeONNX(t, place)
	}
	t.Logf("\n%s", python3(t, "compare", folder))
}

// makeONNX adds the programs' results for a case to its folder.
func makeONNX(t *testing.T, place string) {
	t.Helper()
	var its struct{ Flags []string }
	text, err := os.ReadFile(filepath.Join(place, "case.json"))
	if err == nil {
		err = json.Unmarshal(text, &its)
	}
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(place, name) }
	tr(t, slices.Concat([]string{"fit", "--data", at("train.parquet"), "--out", at("model.arrow")}, its.Flags)...).Want(t, cli.ExitOK)
	tr(t, "predict", "--model", at("model.arrow"), "--data", at("test.parquet"), "--out", at("predictions.arrow")).Want(t, cli.ExitOK)
	tr(t, "export", "--model", at("model.arrow"), "--onnx", at("model.onnx")).Want(t, cli.ExitOK)
	set, err := cli.ReadFeatureSet(at("model.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	graph, err := onnx.Encode(set, nil, onnx.Options{})
	if err == nil {
		err = os.WriteFile(at("set.onnx"), graph.Bytes, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	open := func() (events.RowReader, error) { return files.Open(at("test.parquet"), files.Options{}) }
	rows, err := files.Open(at("test.parquet"), files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	schema := featurize.OutputSchema(set, rows.Schema())
	err = cli.WriteRows(at("features.arrow"), "", schema, func(out events.RowWriter) error {
		_, err := featurize.TransformRows(t.Context(), set, open, schema, out)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
