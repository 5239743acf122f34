package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// turning returns rows ordered by hour. The relation of x and y turns in the middle.
func turning(rows int) string {
	var text strings.Builder
	text.WriteString("hour,x,w,y\n")
	for i := range rows {
		x, sign := 3*math.Sin(float64(i)*0.7), 1.0
		if i > rows/2 {
			sign = -1
		}
		fmt.Fprintf(&text, "%d,%.4f,%.4f,%.4f\n", i, x, math.Cos(float64(i)*1.3), sign*x+0.1*math.Sin(float64(i)*37))
	}
	return text.String()
}

func TestBacktestOfAChange(t *testing.T) {
	data, curve := clitest.File(t, "rows.csv", turning(8000)), filepath.Join(t.TempDir(), "curve.csv")
	o := tr(t, "backtest", "--data", data, "--label", "y", "--time", "hour", "--features", "20", "--first", "1000",
		"--every", "500", "--out", curve, "--json").Want(t, cli.ExitOK).Object(t)
	intervals := o.At(t, "intervals").([]any)
	last := intervals[len(intervals)-1].(map[string]any)
	of := func(arm string) float64 { return last[arm].(map[string]any)["error"].(float64) }
	if len(intervals) != 14 || of("forgets") > 10 || of("never_forgets") < 40 {
		t.Errorf("%d intervals, at last %.1f and %.1f %%", len(intervals), of("forgets"), of("never_forgets"))
	}
	lines, err := os.ReadFile(curve)
	if err != nil || strings.Count(string(lines), "\n") != 15 {
		t.Errorf("the curve: %v\n%s", err, lines)
	}
	out := tr(t, "backtest", "--data", data, "--label", "y", "--features", "20", "--first", "1000", "--every",
		"2000").Want(t, cli.ExitOK).Out
	for _, text := range []string{
		"never forgets",
		"7000 rows predicted before anything learned",
		"unexplained variance",
	} {
		if !strings.Contains(out, text) {
			t.Errorf("lacks %q:\n%s", text, out)
		}
	}
}

// Rows of a class that the first rows do not contain are errors, and the class is named.
func TestBacktestCountsNewClassesAsErrors(t *testing.T) {
	lines := []string{"hour,x,y"}
	for i := range 1500 {
		class := []string{"no", "yes"}[i%2]
		if i >= 900 && i%3 == 0 {
			class = "later"
		}
		lines = append(lines, fmt.Sprintf("%d,%.3f,%s", i, float64(i%2)+0.1*math.Sin(float64(i)), class))
	}
	curve := filepath.Join(t.TempDir(), "curve.csv")
	args := []string{"backtest", "--data", clitest.File(t, "rows.csv", strings.Join(lines, "\n")+"\n"), "--label", "y",
		"--time", "hour", "--features", "8", "--first", "600", "--every", "300", "--out", curve}
	o := tr(t, append(args, "--json")...).Want(t, cli.ExitOK).Object(t)
	if wrong := o.Number(t, "all.forgets.error"); math.Abs(wrong-100*200./900) > 1 ||
		o.Number(t, "all.forgets.unknown_class_rows") != 200 {
		t.Errorf("%v", o.At(t, "all"))
	}
	if classes := fmt.Sprint(o.At(t, "unseen_classes")); classes != "[map[class:later rows:200]]" {
		t.Errorf("classes %s", classes)
	}
	out := words(tr(t, args...).Want(t, cli.ExitOK).Out)
	for _, text := range []string{
		"misclassification: 22.",
		`200 rows have a class that was too rare in the explored rows or absent from them: "later" in 200 rows. ` +
			"They teach nothing; every prediction for them counts as wrong. Raise --first (600)",
		`column "hour" gives the order of the rows (--time) and is no feature`,
	} {
		if !strings.Contains(out, text) {
			t.Errorf("lacks %q:\n%s", text, out)
		}
	}
	if text, err := os.ReadFile(curve); err != nil || !strings.Contains(string(text), "1200,300,33.") {
		t.Errorf("the curve: %v\n%s", err, text)
	}
}

func TestBacktestRefusesWrongUsage(t *testing.T) {
	data := clitest.File(t, "rows.csv", turning(2000))
	tr(t, "backtest").Want(t, cli.ExitUsage, "--data, a file of labelled rows, is required")
	tr(t, "backtest", "--data", data, "--label", "y", "--every", "0").Want(t, cli.ExitUsage, "both must be above 0")
	tr(t, "backtest", "--data", data, "--label", "y", "--features", "20", "--time", "day").Want(t, cli.ExitFailure,
		`column "day", which should order the rows, does not exist`)
	tr(t, "backtest", "--data", data, "--label", "y", "--features", "20", "--time", "x").Want(t, cli.ExitFailure,
		`not in the order of column "x"`)
	tr(t, "backtest", "--data", data, "--label", "y", "--features", "20", "--first", "3000").Want(t, cli.ExitFailure,
		"too few labelled rows", "set --first below 3000")
}
