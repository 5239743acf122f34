package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// service starts the program as a process.
func service(t *testing.T, args ...string) *clitest.Process {
	t.Helper()
	return clitest.Start(t, clitest.Command(t, "featurizer", args...))
}

// fz runs a command line of featurizer.
func fz(t testing.TB, args ...string) clitest.Result {
	t.Helper()
	return clitest.Run(t, newRoot, args...)
}

// leaves are the commands without subcommands.
func leaves(c *cobra.Command) []*cobra.Command {
	if !c.HasSubCommands() {
		return []*cobra.Command{c}
	}
	var all []*cobra.Command
	for _, child := range c.Commands() {
		all = append(all, leaves(child)...)
	}
	return all
}

func TestEveryCommandExplainsItself(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		args := append(strings.Fields(c.CommandPath())[1:], "--help")
		help := fz(t, args...).Want(t, cli.ExitOK).Out
		if c.HasParent() && !strings.Contains(help, "Examples:\n  "+c.CommandPath()) {
			t.Errorf("%s --help has no example of it:\n%s", c.CommandPath(), help)
		}
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: %q", c.CommandPath(), c.Short)
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(newRoot())
	for _, c := range leaves(newRoot()) {
		switch c.CommandPath() {
		case "featurizer config schema", "featurizer pipe": // print only JSON, only Arrow
			continue
		}
		if c.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json", c.CommandPath())
		}
	}
}

func TestWrongUsageExitsWith2(t *testing.T) {
	rows := clitest.File(t, "rows.csv", clitest.Mixed(50))
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, says string }{
		{"frobnicate", `unknown command "frobnicate"`},
		{
			"topics list -c eerf.yaml",
			`unknown command "list" for "featurizer topics": its commands are create, check, export`,
		},
		{"config chek", `unknown command "chek"`},
		{"demo extra", `unexpected argument "extra"`},
		{"explore " + rows, "did you mean --data " + rows},
		{"explore --dta x", "unknown flag: --dta"},
		{"explore --label churned --out " + rows + " --data " + rows, "is also an input file"},
		{"demo --test-fraction 1", "--test-fraction 1"},
		{"demo --flip --rows 1000", "--flip generates its own rows"},
		{"demo --label y", "--label requires --data"},
		{"demo --keep " + full, "not empty"},
		{"demo --data " + rows + " --label chrned",
			`no column "chrned" (events.label); its columns are age, city, member, income, churned`},
		{"demo --data " + rows + " --label churned --format xls", "--format xls: expected one of arrow, csv, parquet"},
		{"explore", "--data is required"},
		{"transform --data " + rows, "--set, --data and --out are required"},
		{"produce", "--data is required"},
		{"produce --format xml --data " + rows, "--format xml: expected one of arrow, csv, parquet"},
		{"run --stages subsample,guess", `unknown stage "guess"`},
		{"inspect --file a --id b", "set only one of them"},
		{"explorations start --from tomorrow", "expected one of [recent earliest next]"},
		{"topics export --out x", "--topic is required"},
		{"topics export --topic events --out x --limit -1", "--limit -1"},
		{"pipe", "--feature-set or --model is required"},
		{"pipe --feature-set x --mode sum", "--mode sum: expected features or predictions"},
		{"pipe --feature-set x --mode predictions", "--mode predictions requires --model"},
		{"pipe --feature-set x --threads -1", "--threads -1"},
		{"broker --listen 0.0.0.0:9092", "loopback"},
	} {
		r := fz(t, strings.Fields(tt.args)...).Want(t, cli.ExitUsage, tt.says, "run `featurizer ")
		if r.Out != "" {
			t.Errorf("%s: standard output %q", tt.args, r.Out)
		}
	}
}

func TestMissingFilesExitWith1AndAreNamed(t *testing.T) {
	rows := clitest.File(t, "rows.csv", clitest.Mixed(50))
	for _, args := range []string{
		"demo --data absent.csv --label y",
		"demo --label churned --test-file absent.csv --data " + rows,
		"explore --data absent.csv --label y",
		"transform --set absent.arrow --out x.csv --data " + rows,
		"produce --data absent.csv",
		"inspect --file absent.arrow",
		"pipe --model absent.arrow",
		"config check -c absent.yaml",
		"run -c absent.yaml",
	} {
		fz(t, strings.Fields(args)...).Want(t, cli.ExitFailure, "absent.", "no such file")
	}
}

func TestUnwritableOutputsAreReportedFirst(t *testing.T) {
	rows := clitest.File(t, "rows.csv", clitest.Mixed(50)) // not a folder
	for _, args := range []string{
		"demo --data " + rows + " --label churned --keep " + rows + "/kept",
		"explore --data " + rows + " --label churned --out " + rows + "/set.arrow",
		"transform --set absent.arrow --data " + rows + " --out " + rows + "/features.csv",
	} {
		r := fz(t, strings.Fields(args)...).Want(t, cli.ExitFailure, "not a directory")
		if r.Out != "" {
			t.Errorf("%s: standard output %q", args, r.Out)
		}
	}
}

func TestFilesOfWrongContentAreNamed(t *testing.T) {
	rows := clitest.File(t, "rows.csv", clitest.Mixed(50))
	fz(t, "inspect", "--file", rows).Want(t, cli.ExitFailure, rows, "not an arrow stream")
	set := filepath.Join(t.TempDir(), "set.arrow")
	fz(t, "explore", "--data", rows, "--label", "churned", "--features", "5", "--candidates", "50",
		"--criterion", "correlation", "--out", set).Want(t, cli.ExitOK)
	fz(t, "serve", "--model", set).Want(t, cli.ExitFailure, set+" contains a feature set without a model")
}
