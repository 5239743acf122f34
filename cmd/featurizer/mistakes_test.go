package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// rowsOf is a CSV file with a header and n times the same line.
func rowsOf(header string, n int, line string) string {
	return header + "\n" + strings.Repeat(line+"\n", n)
}

// TestMistakesWithFilesSayWhatToDo explores files with common mistakes.
func TestMistakesWithFilesSayWhatToDo(t *testing.T) {
	for name, tt := range map[string]struct {
		file, content, args string
		code                int
		says                string
	}{
		"semicolons": {"a.csv", "x;y\n1;2\n", "", cli.ExitUsage, "add --delimiter ';'"},
		"decimal commas": {"a.csv", "x;z, scaled;y\n1,5;2,5;3,5\n", "", cli.ExitUsage,
			"3 fields each by ';': add --delimiter ';'"},
		"bars":              {"a.csv", "x|y\n1|2\n", "", cli.ExitUsage, "add --delimiter '|'"},
		"no header":         {"a.csv", "1.5,2\n2.5,3\n", "", cli.ExitUsage, "if that is a row, add --no-header"},
		"label in capitals": {"a.csv", "x,Y\n1,2\n", "", cli.ExitUsage, "its columns are x, Y"},
		"a label of one value": {"a.csv", rowsOf("x,y", 9,
			"1,0"), "", cli.ExitFailure, `label "y" has one value (0) in all 9 labelled rows: set events.label (--label)`},
		"one class": {"a.csv", rowsOf("x,y", 9,
			"1,yes"), "", cli.ExitFailure, `has one value (yes) in all 9 labelled rows: set events.label (--label)`},
		"text for a number": {"a.csv", "x,y\n1,a\n2,b\n", "--task regression", cli.ExitFailure,
			"set events.task (--task) to classification"},
		"no label in any row": {"a.csv", rowsOf("x,y", 9, "1,"), "", cli.ExitFailure,
			"0 labelled calibration rows, want at least 2; is events.label (--label) the column to predict?"},
		"one row": {"a.csv", rowsOf("x,y", 1,
			"1,2"), "", cli.ExitFailure, "1 labelled calibration rows, want at least 2"},
		"only a label": {"a.csv", "y\n1\n2\n", "", cli.ExitFailure,
			"no feature column is left: the rows have none besides the label"},
		"only empty columns": {"a.csv", "x,y\n,1\n,2\n", "", cli.ExitFailure,
			`no feature columns remain; excluded: "x": it has no value`},
		"empty":          {"a.csv", "", "", cli.ExitFailure, "the file is empty"},
		"a header alone": {"a.csv", "x,y\n", "", cli.ExitFailure, "no rows to calibrate on"},
		"ragged": {"a.csv", "x,y\n1,2\n3\n", "", cli.ExitFailure,
			"line 3: the row has 1 fields where the first row has 2"},
		"a spreadsheet": {"a.xlsx", "PK", "", cli.ExitFailure, "a spreadsheet: save it as CSV"},
		"JSON":          {"a.json", "{}", "", cli.ExitFailure, "JSON files: convert them to CSV, Parquet or Arrow"},
		"bytes":         {"a.csv", "x,\x00y\n", "", cli.ExitFailure, "the file is not text"},
		"a missing folder": {"a.csv", "x,y\n1,2\n", "--out absent/set.arrow", cli.ExitFailure,
			"folder absent: no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			path := clitest.File(t, tt.file, tt.content)
			args := append([]string{"explore", "--data", path, "--label", "y"}, strings.Fields(tt.args)...)
			if r := fz(t, args...).Want(t, tt.code, tt.says); r.Out != "" {
				t.Errorf("standard output %q", r.Out)
			}
		})
	}
}

// TestMistakesWithPipelinesAreExplained asks a broker for pipelines that do not exist.
func TestMistakesWithPipelinesAreExplained(t *testing.T) {
	config := clitest.File(t, "eerf.yaml",
		"kafka: {brokers: ['"+clitest.Broker(t)+"']}\nevents: {label: [y]}\npipeline: {name: churn}\n")
	fz(t, "topics", "create", "-c", config).Want(t, cli.ExitOK)
	for name, tt := range map[string]struct{ args, says []string }{
		"pipeline": {
			[]string{"inspect", "--set", "pipeline.name=chrn"},
			[]string{"chrn.explorations", "check pipeline.name"},
		},
		"topic": {
			[]string{"topics", "export", "--topic", "churn.feature", "--out", filepath.Join(t.TempDir(), "out")},
			[]string{"churn.feature"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits for a second, because a topic may be new
			fz(t, append(tt.args, "-c", config)...).Want(t, cli.ExitFailure, tt.says...)
		})
	}
}
