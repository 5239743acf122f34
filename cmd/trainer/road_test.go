package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// programs builds both commands, as a user would, and returns what runs them as processes.
func programs(t *testing.T) func(name string, args ...string) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("builds both commands")
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir, "../featurizer", "../trainer")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(name string, args ...string) *exec.Cmd {
		return exec.CommandContext(t.Context(), filepath.Join(dir, name), args...)
	}
}

// process is a service under test.
type process struct {
	cmd       *exec.Cmd
	out, errs output
	ended     chan error
}

// output is what a process wrote, which may be looked at while it runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String is what was written until now.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// awaitLog returns when the service has logged a text.
func (p *process) awaitLog(t *testing.T, text string) {
	t.Helper()
	clitest.Eventually(t, "log of "+text, func() bool { return strings.Contains(p.errs.String(), text) })
}

func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, ended: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = &p.out, &p.errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- cmd.Wait() }()
	return p
}

// stop ends a service as Kubernetes does and returns its result.
func (p *process) stop(t *testing.T) clitest.Result {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	return clitest.Result{Args: p.cmd.Args, Code: p.cmd.ProcessState.ExitCode(), Out: p.out.String(), Err: p.errs.String()}
}

func finish(t *testing.T, cmd *exec.Cmd) clitest.Result {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return clitest.Result{Args: cmd.Args, Code: cmd.ProcessState.ExitCode(), Out: out.String(), Err: errs.String()}
}

// The road of the README, by the programs themselves: topics, events, stages, features, models.
func TestTheWholeRoad(t *testing.T) {
	program := programs(t)
	config := clitest.File(t, "eerf.yaml", fmt.Sprintf(`
kafka: {brokers: [%q], fetch_max_wait: 20ms}
topics: {partitions: 3}
events: {label: [churned], passthrough: [city]}
exploration: {features: 32, candidates: 128, sample_rate: 1, sample_rows: 1200, calibration_rows: 300}
train: {min_rows: 500, interval: 300ms}
`, clitest.Broker(t)))
	const rows = 3000
	data := clitest.File(t, "rows.csv", clitest.Mixed(rows))

	finish(t, program("featurizer", "topics", "create", "-c", config)).Want(t, cli.ExitOK)
	finish(t, program("featurizer", "produce", "-c", config, "--data", data, "--rows-per-message", "100")).Want(t, cli.ExitOK)
	finish(t, program("trainer", "fit", "-c", config, "--timeout", "300ms")).Want(t, cli.ExitFailure, "wait for a feature set")

	service := start(t, program("featurizer", "run", "-c", config, "--json", "--stages", "calibrate,subsample,select,featurize"))
	model := untilTrained(t, program, config, rows)
	totals := service.stop(t).Want(t, cli.ExitOK, "feature set published", "stopped").Object(t)
	if scored, featurized := totals.Number(t, "scoring.scored"), totals.Number(t, "featurize.featurized"); scored != 1200 || featurized != rows {
		t.Errorf("%v rows scored, %v featurized", scored, featurized)
	}
	if e, constant := model.Number(t, "model.metrics.misclassification"), model.Number(t, "model.metrics.constant_error"); e >= constant {
		t.Errorf("the model errs in %.1f %%, a constant in %.1f %%", e, constant)
	}
	inspected := finish(t, program("featurizer", "inspect", "-c", config, "--json")).Want(t, cli.ExitOK).Object(t)
	if a, b := inspected.Text(t, "feature_set.id"), model.Text(t, "model.feature_set"); a != b {
		t.Errorf("the model is on %s, current is %s", b, a)
	}

	// The same rows give the same model again, by the service too.
	again := finish(t, program("trainer", "fit", "-c", config)).Want(t, cli.ExitOK)
	if !strings.Contains(again.Out, model.Text(t, "model.id")) {
		t.Errorf("want model %s again:\n%s", model.Text(t, "model.id"), again.Out)
	}
	trainer := start(t, program("trainer", "run", "-c", config, "--json"))
	trainer.awaitLog(t, "model published")
	counts := trainer.stop(t).Want(t, cli.ExitOK, "model published", model.Text(t, "model.id")).Object(t)
	if n := counts.Number(t, "train.rows"); n != rows {
		t.Errorf("%v rows trained", n)
	}
}

// untilTrained fits until every row is featurized.
func untilTrained(t *testing.T, program func(string, ...string) *exec.Cmd, config string, rows float64) (o clitest.Object) {
	t.Helper()
	clitest.Eventually(t, "every row is trained on", func() bool {
		r := finish(t, program("trainer", "fit", "-c", config, "--json"))
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
	service := start(t, program("featurizer", "run", "--set", "events.label=y", "--set", "kafka.brokers=127.0.0.1:1"))
	service.awaitLog(t, "trying again")
	service.stop(t).Want(t, cli.ExitOK, "stopped")

	demo := program("featurizer", "demo", "--rows", "20000000")
	dir := t.TempDir()
	demo.Env = append(os.Environ(), "TMPDIR="+dir)
	long := start(t, demo)
	clitest.Eventually(t, "the demo has a broker", func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) > 0
	})
	long.stop(t).Want(t, cli.ExitInterrupted, "featurizer demo: interrupted")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("an interrupted demo left %v, %v", entries, err)
	}
}
