package docscheck

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/stages/events"
)

var update = flag.Bool("update", false, "write examples/python/eerf_wire.py anew")

const wireModule = root + "/examples/python/eerf_wire.py"

// hasPython reports whether python3 is there with the modules.
func hasPython(modules ...string) bool {
	return exec.Command("python3", "-c", "import "+strings.Join(modules, ", ")).Run() == nil
}

// The module that the example imports is the Python of docs/wire-formats.md, whose blocks another test runs.
func TestPythonOfTheWireFormats(t *testing.T) {
	const head = "# The Python of docs/wire-formats.md, put together by a test: change it there.\n"
	var parts []string
	for _, b := range readPages(t)["docs/wire-formats.md"].blocks {
		if b.info == "python" {
			parts = append(parts, b.text)
		}
	}
	want := []byte(head + strings.Join(parts, "\n\n"))
	if *update {
		if err := os.WriteFile(wireModule, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(wireModule)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is out of date; rewrite it with: go test ./cmd/internal/docscheck -run %s -update", wireModule, t.Name())
	}
}

// The example reads what the programs write: rows come back once, and their features are those of the events.
func TestPythonExampleReadsTheTopics(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("builds both programs, without the race detector")
	}
	if !hasPython("numpy", "pyarrow") {
		t.Skip("python3 with numpy and pyarrow is not here, so examples/python is not run")
	}
	programs, err := clitest.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) clitest.Result {
		return clitest.Finish(t, programs.Command(t, name, args...))
	}
	const rows = 1500
	address := clitest.Broker(t)
	configuration := clitest.File(t, "eerf.yaml", fmt.Sprintf(`
kafka: {brokers: [%q], fetch_max_wait: 20ms}
topics: {partitions: 3}
events: {label: [churned], passthrough: [city]}
exploration: {features: 24, candidates: 96, sample_rate: 1, min_rows: 1000, calibration_rows: 300}
train: {min_rows: 500}
admin: {listen: ""}
`, address))
	data := clitest.File(t, "rows.csv", clitest.Mixed(rows))
	run("featurizer", "topics", "create", "-c", configuration).Want(t, cli.ExitOK)
	run("featurizer", "produce", "-c", configuration, "--data", data, "--rows-per-message", "100").Want(t, cli.ExitOK)
	service := clitest.Start(t, programs.Command(t, "featurizer", "run", "-c", configuration, "--json"))
	clitest.Eventually(t, "every row is featurized", func() bool {
		r := run("trainer", "fit", "-c", configuration, "--json")
		return r.Code == cli.ExitOK && r.Object(t).Number(t, "model.train_rows") == rows
	})
	service.Stop(t).Want(t, cli.ExitOK)

	messages := t.TempDir()
	for _, topic := range []string{"events", "feature-sets", "features"} {
		run("featurizer", "topics", "export", "-c", configuration, "--topic", "default."+topic, "--out", filepath.Join(messages, "default."+topic)).Want(t, cli.ExitOK)
	}
	tryPython(t, rows, "--messages", messages)
	if hasPython("confluent_kafka") {
		tryPython(t, rows, "--brokers", address)
	} else {
		t.Log("confluent_kafka is not here: the example read exported messages alone")
	}
}

// tryPython runs both commands of the example on one source.
func tryPython(t *testing.T, rows int, source ...string) {
	t.Helper()
	example := func(args ...string) clitest.Result {
		program := exec.CommandContext(t.Context(), "python3", append([]string{root + "/examples/python/features.py"}, args...)...)
		program.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		return clitest.Finish(t, program)
	}
	checked := example(append([]string{"check"}, source...)...).Want(t, cli.ExitOK)
	if want := fmt.Sprintf("%d rows of 24 features of fs-", rows); !strings.HasPrefix(checked.Out, want) {
		t.Errorf("check says %q, want %q", checked.Out, want)
	}
	table := filepath.Join(t.TempDir(), "features.parquet")
	written := example(append([]string{"table", "--out", table}, source...)...).Want(t, cli.ExitOK)
	if want := fmt.Sprintf("%d rows of 24 features of fs-", rows); !strings.HasPrefix(written.Out, want) {
		t.Errorf("table says %q, want %q", written.Out, want)
	}
	if info, err := os.Stat(table); err != nil || info.Size() == 0 {
		t.Errorf("%v", err)
	}
}

// The producer of docs/wire-formats.md makes messages of events that the stages read.
func TestPythonProducerMakesEvents(t *testing.T) {
	if !hasPython("numpy", "pyarrow") {
		t.Skip("python3 with numpy and pyarrow is not here, so the producer of docs/wire-formats.md is not run")
	}
	const program = `
import datetime, sys
import pyarrow as pa
from eerf_wire import event
sys.stdout.buffer.write(event({
    "age": [41, 17, None], "city": ["Rome", None, "Oslo"], "churned": [True, False, None],
    "seen": [datetime.datetime(2026, 11, 3, 12)] * 3, "pixels": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.float32(), 2)),
}))`
	python := exec.CommandContext(t.Context(), "python3", "-c", program)
	python.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+filepath.Dir(wireModule))
	message, err := python.Output()
	if err != nil {
		t.Fatal(err)
	}
	batches, err := events.NewReader(events.DefaultLimits().Decoder(), nil).Read(message)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Release(batches)
	if n := events.CountRows(batches); n != 3 {
		t.Fatalf("%d rows, want 3", n)
	}
	learn := encoder.NewCalibrator(encoder.Options{Label: []string{"churned"}, Features: []string{"age", "city", "pixels"}, Clip: encoder.DefaultClip})
	for _, batch := range batches {
		if err := learn.Add(batch); err != nil {
			t.Fatal(err)
		}
	}
	enc, report, err := learn.Encoder()
	if err != nil {
		t.Fatal(err)
	}
	if enc.Dim != 7 || // with a dimension for the missing ones of age and city
		report.Labelled != 2 || enc.Label.Classes[1] != "true" {
		t.Errorf("%d dimensions, %d labelled rows, label %+v", enc.Dim, report.Labelled, enc.Label)
	}
}
