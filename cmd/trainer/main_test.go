package main

import (
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// tr runs a command line of trainer.
func tr(t testing.TB, args ...string) clitest.Result {
	t.Helper()
	return clitest.Run(t, newRoot, args...)
}

func TestEveryCommandExplainsItself(t *testing.T) {
	if help := tr(t, "--help").Want(t, cli.ExitOK).Out; !strings.Contains(help, "trainer fit -c") {
		t.Error(help)
	}
	for _, c := range newRoot().Commands() {
		help := tr(t, c.Name(), "--help").Want(t, cli.ExitOK).Out
		if !strings.Contains(help, "Examples:\n  trainer "+c.Name()) || !strings.Contains(help, "--json") {
			t.Errorf("%s:\n%s", c.Name(), help)
		}
	}
}

func TestWrongUsageExitsWith2(t *testing.T) {
	for args, says := range map[string]string{
		"guess":                       `unknown command "guess"`,
		"fit extra":                   `unexpected argument "extra"`,
		"fit --guess":                 "unknown flag: --guess",
		"fit --held-out 2":            "train.held_out_fraction = 2",
		"run --set train.interval=-1": "train.interval = -1",
		"run --lambda-grid wide":      "train.lambda_grid = wide",
		"fit --intercept=perhaps":     "invalid argument",
	} {
		tr(t, strings.Fields(args)...).Want(t, cli.ExitUsage, says)
	}
	tr(t, "fit", "-c", "absent.yaml").Want(t, cli.ExitFailure, "absent.yaml", "no such file")
}

func TestFitGivesUp(t *testing.T) {
	tr(t, "fit", "--set", "kafka.brokers=127.0.0.1:1", "--timeout", "300ms").
		Want(t, cli.ExitFailure, "gave up after 300ms (--timeout)", "connection refused")
	tr(t, "fit", "--set", "kafka.brokers="+clitest.Broker(t)).
		Want(t, cli.ExitFailure, "unknown topic", "featurizer topics create")
}
