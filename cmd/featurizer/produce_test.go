package main

import (
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// sentMessages is the number of messages on the topic of events.
func sentMessages(t *testing.T, config string) int {
	t.Helper()
	o := fz(t, "topics", "export", "-c", config, "--topic", "default.events", "--out", t.TempDir(), "--json").
		Want(t, cli.ExitOK).Object(t)
	messages, _ := o.At(t, "messages").([]any)
	return len(messages)
}

// renamed are good rows with a renamed column; "" drops it.
func renamed(t *testing.T, old, name string) string {
	t.Helper()
	return clitest.File(t, "rows.csv", strings.Replace(clitest.Mixed(2400), old, name, 1))
}

func TestProduceRefusesUnusableRows(t *testing.T) {
	config := pipelineFile(t, clitest.Broker(t))
	fz(t, "topics", "create", "-c", config).Want(t, cli.ExitOK)

	// Without a set the configuration decides.
	unlabelled := renamed(t, "churned", "left")
	fz(t, "produce", "-c", config, "--data", unlabelled).Want(t, cli.ExitFailure,
		"does not fit the configuration of pipeline default", `label column "churned" is missing`,
		"nothing was sent (--force")
	if n := sentMessages(t, config); n != 0 {
		t.Errorf("%d messages were sent", n)
	}
	fz(t, "produce", "-c", config, "--data", renamed(t, "", ""), "--rows-per-message", "100").Want(t, cli.ExitOK)

	stop := running(t, "-c", config, "--stages", "calibrate,subsample,selection", "--json")
	await(t, always, "inspect", "-c", config, "--json")
	stop().Want(t, cli.ExitOK)
	// The set reads columns that the configuration does not name.
	fz(t, "produce", "-c", config, "--data", renamed(t, "age", "years")).Want(t, cli.ExitFailure,
		"does not fit feature set fs-", `column "age" is missing`)
	changed := clitest.File(t, "rows.csv",
		"age,city,member,income,churned\nold,Rome,true,low,true\nyoung,Rome,true,low,false\n")
	fz(t, "produce", "-c", config, "--data", changed).Want(t, cli.ExitFailure, `column "age" is utf8, want numeric`)
	fz(t, "produce", "-c", config, "--data", unlabelled).Want(t, cli.ExitFailure, `label column "churned" is missing`)
	if n := sentMessages(t, config); n != 24 {
		t.Errorf("%d messages on the topic, want 24", n)
	}
	fz(t, "produce", "-c", config, "--data", unlabelled, "--rows-per-message", "100", "--force").Want(t, cli.ExitOK)
	if n := sentMessages(t, config); n != 48 {
		t.Errorf("%d messages on the topic, want 48", n)
	}
}
