package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// pipelineFile is the configuration of a small pipeline on a broker.
func pipelineFile(t *testing.T, broker string) string {
	t.Helper()
	return clitest.File(t, "eerf.yaml", fmt.Sprintf(`
kafka: {brokers: [%q], fetch_max_wait: 20ms}
topics: {partitions: 2}
events: {label: [churned], nan: reject}
exploration: {criterion: residual, features: 16, candidates: 64, sample_rate: 1, min_rows: 1200, calibration_rows: 300}
log: {format: console, level: warn}
admin: {listen: ""}
`, broker))
}

// running starts `featurizer run` and returns a function that stops it and returns its result.
func running(t *testing.T, args ...string) (stop func() clitest.Result) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), clitest.Patience)
	ended := make(chan clitest.Result, 1)
	go func() { ended <- clitest.RunContext(ctx, newRoot, append([]string{"run"}, args...)...) }()
	stopped := false
	stop = func() clitest.Result {
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if !stopped {
			stop()
		}
	})
	return stop
}

// await runs a command until it succeeds with an output that ok accepts.
func await(t *testing.T, ok func(clitest.Object) bool, args ...string) (o clitest.Object) {
	t.Helper()
	clitest.Eventually(t, strings.Join(args, " "), func() bool {
		r := fz(t, args...)
		if r.Code != cli.ExitOK {
			return false
		}
		o = r.Object(t)
		return ok(o)
	})
	return o
}

func always(clitest.Object) bool { return true }

func TestCommandsRunPipeline(t *testing.T) {
	config := pipelineFile(t, clitest.Broker(t))
	data := clitest.File(t, "rows.csv", clitest.Mixed(2400))

	fz(t, "topics", "check", "-c", config).Want(t, cli.ExitFailure, "topic default.events", "featurizer topics create")
	fz(t, "inspect", "-c", config).Want(t, cli.ExitFailure, "explorations", "featurizer topics create")
	fz(t, "produce", "-c", config, "--data", data).Want(t, cli.ExitFailure, "events", "featurizer topics create")

	created := fz(t, "topics", "create", "-c", config, "--json").Want(t, cli.ExitOK).Object(t)
	if done := created.At(t, "done").([]any); len(done) != 9 {
		t.Errorf("%v", done)
	}
	out := fz(t, "topics", "create", "-c", config).Want(t, cli.ExitOK).Out
	address := created.At(t, "brokers").([]any)[0].(string)
	if !strings.HasPrefix(out, "nothing to do: every topic exists\n") ||
		!strings.Contains(out, "on the cluster at "+address) {
		t.Error(out)
	}
	if o := fz(t, "topics", "check", "-c", config, "--json").Want(t, cli.ExitOK).Object(t); o["ok"] != true {
		t.Errorf("%v", o)
	}
	fz(t, "inspect", "-c", config).Want(t, cli.ExitFailure, "no feature set yet")
	if out := fz(t, "explorations", "list", "-c", config).Want(t, cli.ExitOK).
		Out; !strings.Contains(out, "no exploration yet") {
		t.Error(out)
	}
	fz(t, "explorations", "start", "--dry-run", "-c", config).Want(t, cli.ExitFailure, "1200 are missing")
	if out := fz(t, "explorations", "cancel", "-c", config).Want(t, cli.ExitOK).
		Out; !strings.Contains(out, "no exploration is running") {
		t.Error(out)
	}

	produced := fz(t, "produce", "-c", config, "--data", data, "--rows-per-message", "100", "--json").Want(t, cli.ExitOK).
		Object(t)
	if produced.Number(t, "rows") != 2400 || produced.Number(t, "messages") != 24 {
		t.Errorf("%v", produced)
	}

	dry := fz(t, "explorations", "start", "--dry-run", "--from", "earliest", "-c", config, "--json").Want(t, cli.ExitOK).
		Object(t)
	if dry.Text(t, "from") != "earliest" || dry.Number(t, "labelled_rows") != 2400 ||
		dry.Number(t, "sample_rows") != 1920 || dry.Number(t, "memory_bytes") < 2400 {
		t.Errorf("%v", dry)
	}
	stop := running(t, "-c", config, "--stages", "calibrate,subsample,selection,featurize", "--json")
	first := await(t, always, "inspect", "-c", config, "--json")
	if first.Number(t, "exploration.sample_rows") != 1896 || first.Text(t, "feature_set.task") != "binary" {
		t.Errorf("%v", first)
	}
	if out := fz(t, "inspect", "-c", config).Want(t, cli.ExitOK).Out; !strings.Contains(out,
		"from recent: 2400 labelled rows") {
		t.Error(out)
	}

	fz(t, "explorations", "start", "--dry-run", "-c", config).Want(t, cli.ExitFailure, "nothing new")
	fz(t, "produce", "-c", config, "--data", data, "--rows-per-message", "100").Want(t, cli.ExitOK)
	request := fz(t, "explorations", "start", "-c", config, "--from", "next", "--reason", "a test", "--json").
		Want(t, cli.ExitOK).Object(t)
	if request.Text(t, "reason") != "a test" || request.Text(t, "action") != "start" || request.Text(t, "from") != "next" {
		t.Errorf("%v", request)
	}
	list := await(t, func(o clitest.Object) bool {
		return o.Number(t, "newest.sequence") == 2 && o.Text(t, "newest.status") == "published"
	}, "explorations", "list", "-c", config, "--json")
	if open := list.At(t, "requests").([]any); len(open) != 0 {
		t.Errorf("an answered request is listed as open: %v", open)
	}
	if list.Text(t, "current.id") != first.Text(t, "feature_set.id") ||
		!strings.HasSuffix(list.Text(t, "newest.reason"), ": a test") {
		t.Errorf("the same rows gave a set other than %s, or the reason is lost: %v", first.Text(t, "feature_set.id"),
			list)
	}
	if out := fz(t, "explorations", "list", "-c", config).Want(t, cli.ExitOK).Out; !strings.Contains(out, "current") {
		t.Error(out)
	}
	fz(t, "inspect", "-c", config, "--id", "fs-none").Want(t, cli.ExitFailure,
		"fs-none is not on topic default.feature-sets")

	totals := stop().Want(t, cli.ExitOK).Object(t)
	if totals.Number(t, "scoring.scored") != 2*1896 || totals.Number(t, "featurize.rejected") != 0 {
		t.Errorf("%v", totals)
	}
}

func TestOneShotCommandsGiveUpOnUnavailableBroker(t *testing.T) {
	away := []string{"--set", "kafka.brokers=127.0.0.1:1", "--timeout", "1s"}
	data := clitest.File(t, "rows.csv", clitest.Mixed(50))
	for _, args := range [][]string{
		{"topics", "create"}, {"topics", "check"}, {"inspect"}, {"explorations", "list"}, {"explorations",
			"start"}, {"produce", "--data", data},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			fz(t, append(args, away...)...).Want(t, cli.ExitFailure, "gave up after 1s (--timeout)", "connection refused",
				"check that Kafka is running")
		})
	}
}

func TestRunRefusesToPlanWithoutLabel(t *testing.T) {
	fz(t, "run", "--set", "kafka.brokers=127.0.0.1:1").Want(t, cli.ExitUsage, "events.label is not set")
	if r := fz(t, "config", "check"); r.Code != cli.ExitOK || !strings.Contains(r.Out, "note: events.label is not set") {
		t.Errorf("config check: exit code %d, %s", r.Code, r.Out)
	}
}
