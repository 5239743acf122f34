package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
)

// The graph of a set is the same from its file and from its topic.
func TestExport(t *testing.T) {
	_, file, summary := explored(t, 600, "--criterion", "correlation")
	id, path := summary.Text(t, "feature_set.id"), filepath.Join(t.TempDir(), "set.onnx")
	said := fz(t, "export", "--file", file, "--onnx", path, "--json").Want(t, cli.ExitOK).Object(t)
	if said.Text(t, "feature_set") != id || said["model"] != nil || len(said.At(t, "inputs").([]any)) != 3 ||
		len(said.At(t, "outputs").([]any)) != 1 {
		t.Errorf("%v", said)
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(want, []byte(id)) {
		t.Fatalf("%v: %d bytes", err, len(want))
	}

	broker := clitest.Broker(t)
	config := clitest.File(t, "eerf.yaml", "kafka: {brokers: ["+broker+"]}\nevents: {label: [churned]}\n")
	fz(t, "topics", "create", "-c", config).Want(t, cli.ExitOK)
	fz(t, "export", "-c", config, "--onnx", path).Want(t, cli.ExitFailure, "has no feature set yet")
	publish(t, broker, file, id)
	for _, args := range [][]string{nil, {"--id", id}} {
		out := fz(t, append([]string{"export", "-c", config, "--onnx", path}, args...)...).Want(t, cli.ExitOK).Out
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) || !strings.Contains(out, "feature set "+id) {
			t.Errorf("%v: %v, %d bytes, want %d\n%s", args, err, len(got), len(want), out)
		}
	}
	fz(t, "export", "-c", config, "--id", "fs-unknown", "--onnx", path).Want(t, cli.ExitFailure, "fs-unknown",
		"is not on topic")
	fz(t, "export", "--file", file, "--id", id, "--onnx", path).Want(t, cli.ExitUsage, "--id")
	fz(t, "export", "--file", file).Want(t, cli.ExitUsage, "--onnx is required")
	// noticed before the work
	fz(t, "export", "--file", "absent.arrow", "--onnx", t.TempDir()).Want(t, cli.ExitFailure, "is a directory")
}

// publish makes the set of a file the current one.
func publish(t *testing.T, broker, file, id string) {
	t.Helper()
	client, err := kafka.New(kafka.Config{Brokers: []string{broker}}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	set, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	pointer, err := wire.EncodeCurrent(&wire.Current{ID: id, Sequence: 1, Time: at})
	if err != nil {
		t.Fatal(err)
	}
	records := []pipeline.Record{{Key: wire.SetKey("default", id), Value: set, Time: at},
		{Key: wire.CurrentKey("default"), Value: pointer, Time: at}}
	if _, err := client.Produce(t.Context(), "default.feature-sets", 0, records); err != nil {
		t.Fatal(err)
	}
}
