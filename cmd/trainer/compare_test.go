package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// small are the flags of a quick comparison.
var small = []string{"--features", "5,10", "--candidates", "60", "--sample", "0.5", "--repeats", "2"}

// compared compares methods on a file of numbers, strings, booleans and nulls.
func compared(t *testing.T, args ...string) clitest.Result {
	t.Helper()
	data := clitest.File(t, "rows.csv", clitest.Mixed(600))
	return tr(t, append(append([]string{"compare", "--data", data, "--label", "churned"}, small...), args...)...)
}

func TestCompareTable(t *testing.T) {
	out := compared(t, "--methods", "plain,energy,correlation,linear,plain-tuned").Want(t, cli.ExitOK).Out
	words := strings.Join(strings.Fields(out), " ")
	for _, text := range []string{
		"M = 5: log loss; a constant has", "wrong %", "AUC", "a constant", "verdict: ", "M = 10:", "− plain", " s │",
		"binary, 402 training and 198 test", "N0 = 201", "seeds 1 to 2", " linear: 7 features plain-tuned: σ × ", "chance",
	} {
		if !strings.Contains(words, text) {
			t.Errorf("no %q in\n%s", text, out)
		}
	}
	for _, line := range strings.Split(out, "\n") {
		if n := utf8.RuneCountInString(line); n > 80 && strings.ContainsAny(line, "│─") {
			t.Errorf("a line of %d characters:\n%s", n, line)
		}
	}
}

func TestCompareChoosesMethods(t *testing.T) {
	data := clitest.File(t, "rows.csv", clitest.Mixed(300))
	run := func(args ...string) clitest.Result {
		args = append([]string{"compare", "--data", data, "--label", "churned",
			"--features", "5", "--candidates", "25", "--repeats", "1"}, args...)
		return tr(t, args...).Want(t, cli.ExitOK)
	}
	methods := func(args ...string) string {
		return fmt.Sprint(run(append(args, "--json")...).Object(t).At(t, "options.methods"))
	}
	if have, want := methods(), "[plain plain-tuned linear residual adaptive-refined]"; have != want {
		t.Errorf("by default %s, want %s", have, want)
	}
	all := "[plain plain-tuned linear energy correlation residual adaptive adaptive-cosine adaptive-refined]"
	if have := methods("--methods", "all"); have != all {
		t.Errorf("all are %s, want %s", have, all)
	}
	if out := run("--methods", "all", "--map", "arccos1").Out; !strings.Contains(out,
		"\nmethod left out: plain-tuned: the bandwidth only scales") {
		t.Error(out)
	}
}

func TestCompareForMachines(t *testing.T) {
	o := compared(t, "--methods", "plain,energy", "--json").Want(t, cli.ExitOK).Object(t)
	if o.At(t, "complete") != true || o.Text(t, "metric") != "log loss" || o.Number(t, "data.train_rows") != 402 {
		t.Errorf("%v", o)
	}
	command := o.Text(t, "made.command")
	if !strings.HasPrefix(command, "trainer compare --data=") ||
		!strings.Contains(command, "--features=5,10 --candidates=60") || !strings.HasSuffix(command, "--json=true") {
		t.Errorf("command %q", command)
	}
	if tables, ok := o.At(t, "tables").([]any); !ok || len(tables) != 2 {
		t.Errorf("tables %v", o.At(t, "tables"))
	}
}

func TestCompareReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "report")
	out := compared(t, "--methods", "energy", "--out", dir).Want(t, cli.ExitOK).Out
	if !strings.Contains(out, "report: "+filepath.Join(dir, "report.html")) {
		t.Error(out)
	}
	for _, name := range []string{"report.html", "results.json"} {
		if content, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(content) < 500 {
			t.Errorf("%s: %d bytes, %v", name, len(content), err)
		}
	}
}

func TestCompareTestFileAndRegression(t *testing.T) {
	train, test := clitest.File(t, "train.csv", clitest.Mixed(500)), clitest.File(t, "test.csv", clitest.Mixed(300))
	args := append([]string{"compare", "--data", train, "--test-file", test, "--label", "income", "--json",
		"--methods", "plain,residual"}, small...)
	o := tr(t, append(args, "--intercept=false")...).Want(t, cli.ExitOK).Object(t)
	if o.Text(t, "metric") != "unexplained variance" || o.At(t, "data.fixed_split") != true ||
		o.Number(t, "data.test_rows") != 300 {
		t.Errorf("%v", o)
	}
	paper := tr(t, append(args, "--measure", "relative_squared_error")...).Want(t, cli.ExitOK).Object(t)
	if paper.Text(t, "metric") != "relative squared error" {
		t.Errorf("by %s", paper.Text(t, "metric"))
	}
}

// After a change of the relation, the last rows of a file are predicted worse than random rows.
func TestCompareByTime(t *testing.T) {
	data := clitest.File(t, "rows.csv", noisy(1000, 9, 0.8))
	measured := func(args ...string) (float64, clitest.Object) {
		args = append([]string{"compare", "--data", data, "--label", "y", "--exclude", "day",
			"--methods", "adaptive", "--features", "20", "--repeats", "1", "--json"}, args...)
		o := tr(t, args...).Want(t, cli.ExitOK).Object(t)
		lines := o.At(t, "tables").([]any)[0].(map[string]any)["lines"].([]any)
		return clitest.Object(lines[1].(map[string]any)).Number(t, "error.mean"), o
	}
	random, _ := measured("--split", "random")
	late, o := measured()
	if late < random+20 || o.Number(t, "data.test_rows") != 200 || o.At(t, "data.fixed_split") != true ||
		o.Text(t, "data.split") != `the last 20 % of the rows by column "day"` {
		t.Errorf("random %.1f, the last rows %.1f; %v", random, late, o.At(t, "data"))
	}
	if !strings.Contains(fmt.Sprint(o.At(t, "notes")), `sorted by "day"`) {
		t.Errorf("notes %v", o.At(t, "notes"))
	}
	if half, o := measured("--split", "time", "--test-fraction", "0.5"); o.Number(t, "data.test_rows") != 500 ||
		half == late {
		t.Errorf("%v", o.At(t, "data"))
	}
}

func TestCompareWrongUsage(t *testing.T) {
	data := clitest.File(t, "rows.csv", clitest.Mixed(300))
	one := clitest.File(t, "one.csv",
		strings.ReplaceAll(strings.ReplaceAll(clitest.Mixed(300), "true\n", "yes\n"), "false\n", "yes\n"))
	for args, says := range map[string]string{
		"":               "--data, the file of rows to compare on, is required",
		"--data " + data: "--label is required",
		"--data " + data + " --label churned --features 0":                     "expected positive numbers",
		"--data " + data + " --label churned --test-fraction 1":                "--test-fraction 1",
		"--data " + data + " --label churned --task guess":                     `task "guess"`,
		"--data " + data + " --label churned --split last":                     "--split last: expected",
		"--data " + data + " --label churned --time when":                      `no column "when" (--time`,
		"--label churned --split time --data " + data + " --test-file " + data: "--split: --test-file already gives",
	} {
		tr(t, append([]string{"compare"}, strings.Fields(args)...)...).Want(t, cli.ExitUsage, says)
	}
	tr(t, "compare", "--data", "absent.csv", "--label", "y").Want(t, cli.ExitFailure, "no such file")
	tr(t, "compare", "--data", one, "--label", "churned").Want(t, cli.ExitFailure, "class")
}

// The uses of columns are above the tables, and the ones of a test file among the notes.
func TestCompareReportsUsesOfColumns(t *testing.T) {
	rows := strings.Split(clitest.Mixed(300), "\n")
	rows[9] = "n.v." + rows[9][strings.Index(rows[9], ","):]
	data := clitest.File(t, "rows.csv", strings.Join(rows, "\n"))
	args := append([]string{"compare", "--data", data, "--test-file", data, "--label", "churned", "--methods", "plain"},
		small...)
	out := tr(t, args...).Want(t, cli.ExitOK).Out
	for _, text := range []string{
		"columns: 3 of 4 are features (1 number, 1 boolean, 1 category; ",
		"left out: income: ",
		`  age: numbers in text; 1 of 289 values are none and count as missing: "n.v." in 1 row`,
	} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), strings.TrimSpace(text)) {
			t.Errorf("no %q in\n%s", text, out)
		}
	}
	uses := tr(t, append(args, "--json")...).Want(t, cli.ExitOK).Object(t).At(t, "data.columns").([]any)
	if len(uses) != 5 || !strings.Contains(fmt.Sprint(uses[0]), "n.v.") {
		t.Errorf("columns %v", uses)
	}
}
