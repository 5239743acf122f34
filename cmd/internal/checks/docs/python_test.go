package docs

import (
	"fmt"
	"io/fs"
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

// hasPython reports whether python3 is installed with the modules.
func hasPython(modules ...string) bool {
	return exec.Command("python3", "-c", "import "+strings.Join(modules, ", ")).Run() == nil
}

// The package in python/ reads the output of the programs: each row comes back once, with the
// features of its event.
func TestPythonPackageReadsTheTopics(t *testing.T) {
	if testing.Short() {
		t.Skip("builds both programs")
	}
	if !hasPython("numpy", "pyarrow") {
		t.Skip("python3 with numpy and pyarrow is not installed; the package in python/ is not tested")
	}
	run := func(name string, args ...string) clitest.Result {
		return clitest.Finish(t, clitest.Command(t, name, args...))
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
	service := clitest.Start(t, clitest.Command(t, "featurizer", "run", "-c", configuration, "--json"))
	clitest.Eventually(t, "every row is featurized", func() bool {
		r := run("trainer", "fit", "-c", configuration, "--json")
		return r.Code == cli.ExitOK && r.Object(t).Number(t, "model.train_rows") == rows
	})
	inUse := run("trainer", "models", "list", "-c", configuration, "--json").Object(t).Text(t, "current.id")
	service.Stop(t).Want(t, cli.ExitOK)

	messages := t.TempDir()
	for _, topic := range []string{"events", "feature-sets", "features", "models"} {
		run("featurizer", "topics", "export", "-c", configuration, "--topic", "default."+topic,
			"--out", filepath.Join(messages, "default."+topic)).Want(t, cli.ExitOK)
	}
	tryPython(t, rows, inUse, "--messages", messages)
	if hasPython("confluent_kafka") {
		tryPython(t, rows, inUse, "--brokers", address)
		produceAsDocumented(t, address)
		run("featurizer", "topics", "export", "-c", configuration, "--topic", "default.events", "--limit", "0",
			"--out", filepath.Join(messages, "more")).Want(t, cli.ExitOK)
		if !holds(t, filepath.Join(messages, "more"), `[{"age": 41, "city": "Rome"`) {
			t.Error("the producer of docs/formats.md has written no message")
		}
	} else {
		t.Log("confluent_kafka is not installed; the package read exported messages only")
	}
}

// produceAsDocumented runs the producer of JSON in docs/formats.md.
func produceAsDocumented(t *testing.T, address string) {
	t.Helper()
	for _, b := range readPages(t)["docs/formats.md"].blocks {
		if strings.Contains(b.text, "confluent_kafka") {
			clitest.Finish(t, python(t, "-c", strings.Replace(b.text, "127.0.0.1:9092", address, 1))).Want(t, cli.ExitOK)
		}
	}
}

// holds reports whether a file below a folder holds a text.
func holds(t *testing.T, folder, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		found = found || strings.Contains(string(content), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// python runs python3 with the repository's package on its path.
func python(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	source, err := filepath.Abs(filepath.Join(root, "python", "src"))
	if err != nil {
		t.Fatal(err)
	}
	program := exec.CommandContext(t.Context(), "python3", args...)
	program.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+source)
	return program
}

// tryPython runs the topic commands on one source.
func tryPython(t *testing.T, rows int, inUse string, source ...string) {
	t.Helper()
	eerf := func(args ...string) clitest.Result {
		return clitest.Finish(t, python(t, append([]string{"-m", "eerf"}, args...)...))
	}
	model := filepath.Join(t.TempDir(), "model.arrow")
	eerf(append([]string{"model", "--out", model}, source...)...).Want(t, cli.ExitOK)
	read, set, err := cli.ReadModel(model)
	if err != nil || read.ID != inUse || set.ID() != read.FeatureSetID {
		t.Fatalf("the file of the current model: %v", err)
	}
	// A set may come out smaller than exploration.features.
	want := fmt.Sprintf("%d rows of %d features of %s", rows, set.Set.Features.Len(), set.ID())
	checked := eerf(append([]string{"check"}, source...)...).Want(t, cli.ExitOK)
	if !strings.HasPrefix(checked.Out, want) {
		t.Errorf("check says %q, want %q", checked.Out, want)
	}
	table := filepath.Join(t.TempDir(), "features.parquet")
	written := eerf(append([]string{"table", "--out", table}, source...)...).Want(t, cli.ExitOK)
	if !strings.HasPrefix(written.Out, want) {
		t.Errorf("table says %q, want %q", written.Out, want)
	}
	if info, err := os.Stat(table); err != nil || info.Size() == 0 {
		t.Errorf("%v", err)
	}
}

// The package writes messages of events that the stages can read.
func TestPythonMakesEvents(t *testing.T) {
	if !hasPython("numpy", "pyarrow") {
		t.Skip("python3 with numpy and pyarrow is not installed; the package in python/ is not tested")
	}
	const program = `
import datetime, sys
import pyarrow as pa
from eerf import event
sys.stdout.buffer.write(event({
    "age": [41, 17, None], "city": ["Rome", None, "Oslo"], "churned": [True, False, None],
    "seen": [datetime.datetime(2026, 11, 3, 12)] * 3, "pixels": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.float32(), 2)),
}))`
	message, err := python(t, "-c", program).Output()
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
	learn := encoder.NewCalibrator(encoder.Options{Label: []string{"churned"}, Features: []string{"age", "city", "pixels"},
		Clip: encoder.DefaultClip})
	for _, batch := range batches {
		if err := learn.Add(batch); err != nil {
			t.Fatal(err)
		}
	}
	enc, report, err := learn.Encoder()
	if err != nil {
		t.Fatal(err)
	}
	if enc.Dim != 7 || // including dimensions for missing age and city
		report.Labelled != 2 || enc.Label.Classes[1] != "true" {
		t.Errorf("%d dimensions, %d labelled rows, label %+v", enc.Dim, report.Labelled, enc.Label)
	}
}
