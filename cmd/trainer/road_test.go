package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// programs returns what runs both commands as processes.
func programs(t *testing.T) func(name string, args ...string) *exec.Cmd {
	t.Helper()
	built := clitest.Built(t)
	return func(name string, args ...string) *exec.Cmd { return built.Command(t, name, args...) }
}

// The tour of the README with the built programs: topics, events, stages, features, models.
func TestTheWholeRoad(t *testing.T) {
	program := programs(t)
	config := clitest.File(t, "eerf.yaml", fmt.Sprintf(`
kafka: {brokers: [%q], fetch_max_wait: 20ms}
topics: {partitions: 3}
events: {label: [churned], passthrough: [city]}
exploration: {features: 32, candidates: 128, sample_rate: 1, calibration_rows: 300}
train: {min_rows: 500, interval: 300ms, promote: {rule: always}}
admin: {listen: ""}
`, clitest.Broker(t)))
	const rows = 3000
	data := clitest.File(t, "rows.csv", clitest.Mixed(rows))

	clitest.Finish(t, program("featurizer", "topics", "create", "-c", config)).Want(t, cli.ExitOK)
	clitest.Finish(t, program("featurizer", "produce", "-c", config, "--data", data, "--rows-per-message", "100")).Want(t, cli.ExitOK)
	clitest.Finish(t, program("trainer", "fit", "-c", config, "--timeout", "300ms")).Want(t, cli.ExitFailure, "has no feature set yet")

	service := clitest.Start(t, program("featurizer", "run", "-c", config, "--json", "--stages", "calibrate,subsample,select,featurize"))
	model := untilTrained(t, program, config, rows)
	totals := service.Stop(t).Want(t, cli.ExitOK, "feature set published", "stopped").Object(t)
	if scored, featurized := totals.Number(t, "scoring.scored"), totals.Number(t, "featurize.featurized"); scored != rows || featurized != rows {
		t.Errorf("%v rows scored, %v featurized", scored, featurized)
	}
	if e, constant := model.Number(t, "model.metrics.misclassification"), model.Number(t, "model.metrics.constant_error"); e >= constant {
		t.Errorf("the model errs in %.1f %%, a constant in %.1f %%", e, constant)
	}
	inspected := clitest.Finish(t, program("featurizer", "inspect", "-c", config, "--json")).Want(t, cli.ExitOK).Object(t)
	if a, b := inspected.Text(t, "feature_set.id"), model.Text(t, "model.feature_set"); a != b {
		t.Errorf("the model is on %s, current is %s", b, a)
	}

	// The same rows give the same model again, from the service too.
	again := clitest.Finish(t, program("trainer", "fit", "-c", config)).Want(t, cli.ExitOK)
	if !strings.Contains(again.Out, model.Text(t, "model.id")) {
		t.Errorf("want model %s again:\n%s", model.Text(t, "model.id"), again.Out)
	}
	if listed := clitest.Finish(t, program("trainer", "models", "list", "-c", config)).Want(t, cli.ExitOK).Out; !strings.Contains(listed, model.Text(t, "model.id")) {
		t.Errorf("model %s is not listed:\n%s", model.Text(t, "model.id"), listed)
	}
	trainer := clitest.Start(t, program("trainer", "run", "-c", config, "--json"))
	trainer.AwaitLog(t, "model unchanged")
	counts := trainer.Stop(t).Want(t, cli.ExitOK, model.Text(t, "model.id")).Object(t)
	if n := counts.Number(t, "train.rows"); n != rows {
		t.Errorf("%v rows trained", n)
	}
	predictsElsewhere(t, program, config, data, model)
}

// predictsElsewhere predicts without the broker, with the model and the feature set from the
// topics.
func predictsElsewhere(t *testing.T, program func(string, ...string) *exec.Cmd, config, data string, model clitest.Object) {
	t.Helper()
	exported := func(topic, id string) string {
		dir := filepath.Join(t.TempDir(), topic)
		list := clitest.Finish(t, program("featurizer", "topics", "export", "-c", config, "--topic", topic, "--limit", "0", "--out", dir, "--json")).
			Want(t, cli.ExitOK).Object(t)
		for _, entry := range list.At(t, "messages").([]any) {
			if message := clitest.Object(entry.(map[string]any)); strings.HasSuffix(message.Text(t, "key"), "/"+id) {
				return filepath.Join(dir, message.Text(t, "file"))
			}
		}
		t.Fatalf("%s is not on topic %s: %v", id, topic, list)
		return ""
	}
	file, set := exported("default.models", model.Text(t, "model.id")), exported("default.feature-sets", model.Text(t, "model.feature_set"))
	out := filepath.Join(t.TempDir(), "predictions.csv")
	predict := []string{"predict", "--model", file, "--data", data, "--out", out, "--json"}
	clitest.Finish(t, program("trainer", predict...)).Want(t, cli.ExitUsage, "holds a model without its feature set")
	done := clitest.Finish(t, program("trainer", append(predict, "--feature-set", set)...)).Want(t, cli.ExitOK).Object(t)
	if done.Text(t, "model") != model.Text(t, "model.id") || done.Number(t, "rows.predicted") != model.Number(t, "model.train_rows") {
		t.Errorf("%v", done)
	}
	if content, err := os.ReadFile(out); err != nil || !strings.HasPrefix(string(content), "city,churned,row,prediction") {
		t.Errorf("predictions %.60s, %v", content, err)
	}
}

// untilTrained fits until every row is featurized.
func untilTrained(t *testing.T, program func(string, ...string) *exec.Cmd, config string, rows float64) (o clitest.Object) {
	t.Helper()
	clitest.Eventually(t, "every row is trained on", func() bool {
		r := clitest.Finish(t, program("trainer", "fit", "-c", config, "--json"))
		if r.Code != cli.ExitOK {
			return false
		}
		o = r.Object(t)
		return o.Number(t, "model.train_rows") == rows
	})
	return o
}

// A signal stops a service cleanly, and a command before its end; nothing is left behind.
func TestSignalsEndAProcess(t *testing.T) {
	program := programs(t)
	service := clitest.Start(t, program("featurizer", "run", "--set", "events.label=y", "--set", "kafka.brokers=127.0.0.1:1",
		"--set", "admin.listen="))
	service.AwaitLog(t, "trying again")
	service.Stop(t).Want(t, cli.ExitOK, "stopped")

	demo := program("featurizer", "demo", "--rows", "20000000")
	dir := t.TempDir()
	demo.Env = append(os.Environ(), "TMPDIR="+dir)
	long := clitest.Start(t, demo)
	clitest.Eventually(t, "the demo has a broker", func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) > 0
	})
	long.Stop(t).Want(t, cli.ExitInterrupted, "featurizer demo: interrupted")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("an interrupted demo left %v, %v", entries, err)
	}
}
