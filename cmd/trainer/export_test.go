package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// exported runs export with --onnx and returns the file.
func exported(t *testing.T, args ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.onnx")
	tr(t, append([]string{"export", "--onnx", path}, args...)...).Want(t, cli.ExitOK)
	graph, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return graph
}

func TestExportOfFiles(t *testing.T) {
	data := clitest.File(t, "rows.csv", clitest.Mixed(1000))
	model, summary := fitted(t, data, append(fewer, "--label", "churned", "--loss", "logistic")...)
	graph := exported(t, "--model", model)
	for _, text := range []string{summary.Text(t, "model.id"), summary.Text(t, "feature_set.id"), "city", "Rome"} {
		if !bytes.Contains(graph, []byte(text)) {
			t.Errorf("the graph does not mention %s", text)
		}
	}
	path := filepath.Join(t.TempDir(), "model.onnx")
	said := tr(t, "export", "--model", model, "--onnx", path, "--missing-text", "none", "--json").Want(t,
		cli.ExitOK).Object(t)
	if said.Text(t, "model") != summary.Text(t, "model.id") || said.Number(t, "bytes") == 0 ||
		len(said.At(t, "inputs").([]any)) != 3 || len(said.At(t, "outputs").([]any)) != 3 {
		t.Errorf("%v", said)
	}
	out := tr(t, "export", "--model", model, "--onnx", path, "--missing-text", "none").Want(t, cli.ExitOK).Out
	for _, text := range []string{"model " + said.Text(t, "model"), "city", `"none"`, "NaN", "probabilities", "[N, 2]"} {
		if !strings.Contains(out, text) {
			t.Errorf("no %q in\n%s", text, out)
		}
	}
}

// The export from topics equals the export from a file of the same set and model.
func TestExportOfTopics(t *testing.T) {
	data := clitest.File(t, "rows.csv", clitest.Mixed(1000))
	file, _ := fitted(t, data, append(fewer, "--label", "churned")...)
	model, set, err := cli.ReadModel(file)
	if err != nil {
		t.Fatal(err)
	}
	p := newModelPipeline(t)
	brokers := "kafka.brokers=" + p.broker
	path := filepath.Join(t.TempDir(), "model.onnx")
	from := func(args ...string) clitest.Result {
		return tr(t, append([]string{"export", "--set", brokers, "--onnx", path}, args...)...)
	}
	from().Want(t, cli.ExitFailure, "pipeline default has no model yet")

	value, err := wire.EncodeModel(model)
	if err != nil {
		t.Fatal(err)
	}
	p.put(p.topics.Models, wire.SetKey("default", model.ID), value)
	p.point(p.topics.Models, model.ID)
	from().Want(t, cli.ExitFailure, "feature set "+set.ID()+" of model "+model.ID+" is no longer on topic")

	value, err = wire.EncodeFeatureSet(set)
	if err != nil {
		t.Fatal(err)
	}
	p.put(p.topics.FeatureSets, wire.SetKey("default", set.ID()), value)
	want := exported(t, "--model", file)
	for _, args := range [][]string{nil, {"--id", model.ID}, {"--id", model.ID[:10]}} {
		if !bytes.Equal(exported(t, append(args, "--set", brokers)...), want) {
			t.Errorf("%v: the graph is not that of the file", args)
		}
	}
	from("--id", "m-unknown").Want(t, cli.ExitFailure, "m-unknown", "trainer models list")
}

func TestExportRefusesWrongUsage(t *testing.T) {
	data := clitest.File(t, "rows.csv", clitest.Mixed(600))
	model, _ := fitted(t, data, append(fewer, "--label", "churned")...)
	nowhere := filepath.Join(t.TempDir(), "none", "model.onnx")
	tr(t, "export", "--model", model).Want(t, cli.ExitUsage, "--onnx is required")
	tr(t, "export", "--model", model, "--id", "m-0", "--onnx", "x").Want(t, cli.ExitUsage, "--id", "--model")
	tr(t, "export", "--feature-set", model, "--onnx", "x").Want(t, cli.ExitUsage, "--feature-set needs --model")
	// The output is checked before the model is read.
	tr(t, "export", "--model", "absent.arrow", "--onnx", nowhere).Want(t, cli.ExitFailure, nowhere)
	tr(t, "export", "--model", model, "--onnx", t.TempDir()).Want(t, cli.ExitFailure, "is a directory")
	path := filepath.Join(t.TempDir(), "model.onnx")
	tr(t, "export", "--model", model, "--onnx", path, "--missing-text", "Rome").Want(t, cli.ExitFailure,
		"cannot be written as ONNX", `"Rome"`, `"city"`)
	tr(t, "export", "--model", data, "--onnx", path).Want(t, cli.ExitFailure, data)
	if _, err := os.Stat(path); err == nil {
		t.Errorf("%s exists", path)
	}
}
