package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// explored writes a feature set of a file with strings, booleans and nulls.
func explored(t *testing.T, rows int, args ...string) (data, set string, summary clitest.Object) {
	t.Helper()
	data = clitest.File(t, "rows.csv", clitest.Mixed(rows))
	set = filepath.Join(t.TempDir(), "set.arrow")
	args = append([]string{"explore", "--data", data, "--label", "churned", "--features", "12", "--sample", "1",
		"--out", set, "--json"}, args...)
	return data, set, fz(t, args...).Want(t, cli.ExitOK).Object(t)
}

func TestExploreInspectTransform(t *testing.T) {
	const rows = 1500
	data, set, summary := explored(t, rows, "--criterion", "correlation")
	reconciled := summary.Number(t, "rows.scored") + summary.Number(t, "rows.not_sampled") +
		summary.Number(t, "rows.unlabelled") + summary.Number(t, "rows.rejected")
	if in := summary.Number(t, "rows.rows"); in != rows || reconciled != in {
		t.Errorf("rows: %v", summary.At(t, "rows"))
	}
	if summary.Text(t, "feature_set.task") != "binary" || summary.Number(t, "feature_set.dim") != 8 ||
		summary.Text(t, "feature_set.file") != set {
		t.Errorf("%v", summary.At(t, "feature_set"))
	}

	inspected := fz(t, "inspect", "--file", set, "--json").Want(t, cli.ExitOK).Object(t)
	if a, b := inspected.Text(t, "feature_set.id"), summary.Text(t, "feature_set.id"); a != b {
		t.Errorf("inspect shows %s, explore wrote %s", a, b)
	}
	if out := fz(t, "inspect", "--file", set).Want(t, cli.ExitOK).Out; !strings.Contains(out,
		"12 of 12 features above it") {
		t.Error(out)
	}

	out := filepath.Join(t.TempDir(), "features.csv")
	done := fz(t, "transform", "--set", set, "--data", data, "--out", out, "--json").Want(t, cli.ExitOK).Object(t)
	if done.Number(t, "rows.featurized") != rows || done.Text(t, "feature_set") != summary.Text(t, "feature_set.id") {
		t.Errorf("%v", done)
	}
	checkFeatures(t, out, rows, 12)
}

// Learned features are shown with their losses; the noise level does not apply to them.
func TestExploreAndInspectShowLearnedFeatures(t *testing.T) {
	_, set, summary := explored(t, 1500, "--criterion", "adaptive", "--refine-steps", "12")
	points, columns := summary.At(t, "lineage.learning.points").([]any), summary.At(t, "column_importance").([]any)
	if len(points) < 6 || len(columns) != 4 || summary.Number(t, "exploration.candidates") != 120 {
		t.Errorf("%d points, %d columns, %v", len(points), len(columns), summary.At(t, "exploration"))
	}
	held, learned := summary.Number(t, "lineage.learning.held_out_rows"), summary.Number(t, "lineage.learning.rows")
	if scored := summary.Number(t, "rows.scored"); held+learned != scored || held != summary.Number(t, "rows.held_out") ||
		held < scored/8 {
		t.Errorf("learned from %v rows and judged on %v of %v", learned, held, scored)
	}
	out := fz(t, "inspect", "--file", set).Want(t, cli.ExitOK).Out
	for _, want := range []string{fmt.Sprintf("judged on %v held-out rows",
		held), "round 3, of cosines", "the set", "not an estimate", "importance", "city"} {
		if !strings.Contains(out, want) {
			t.Errorf("inspect does not say %q:\n%s", want, out)
		}
	}
	if steps := strings.Count(out, "\n│ step "); steps > 1 {
		t.Errorf("inspect lists %d steps, want only the set's", steps)
	}
	if best := int(summary.Number(t, "lineage.learning.winner")); best > 0 && strings.Contains(out, "noise") {
		t.Errorf("inspect mentions noise although point %d won:\n%s", best, out)
	}
}

// checkFeatures checks the rows, columns and values of a CSV file of features.
func checkFeatures(t *testing.T, path string, rows, features int) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != rows+1 || len(lines[0]) != features+2 || lines[0][0] != "churned" || lines[0][1] != "row" {
		t.Fatalf("%d lines, header %v", len(lines), lines[0])
	}
	bound := 1 / math.Sqrt(float64(features)) * 1.00001
	for i, line := range lines[1:] {
		if line[1] != strconv.Itoa(i) {
			t.Fatalf("line %d has row number %s", i, line[1])
		}
		for _, text := range line[2:] {
			if v, err := strconv.ParseFloat(text, 64); err != nil || math.Abs(v) > bound {
				t.Fatalf("line %d: feature %q, want within ±%.4f", i, text, bound)
			}
		}
	}
}

func TestExploreWarnsOfWeakFeatures(t *testing.T) {
	data := clitest.File(t, "rows.csv", clitest.Mixed(60))
	out := fz(t, "explore", "--data", data, "--label", "churned", "--features", "20", "--criterion", "residual").
		Want(t, cli.ExitOK).Out
	if !strings.Contains(out, "not above the noise level") || !strings.Contains(out, "add --out set.arrow") {
		t.Error(out)
	}
}

// The share of rows that equal an earlier row is estimated from the calibration rows.
func TestExploreReportsCopies(t *testing.T) {
	header, rows, _ := strings.Cut(clitest.Mixed(400), "\n")
	for copies, share := range map[int]float64{1: 0, 2: 0.5} {
		data := clitest.File(t, "rows.csv", header+"\n"+strings.Repeat(rows, copies))
		args := []string{"explore", "--data", data, "--label", "churned", "--features", "8", "--criterion", "correlation"}
		out := fz(t, args...).Want(t, cli.ExitOK).Out
		if strings.Contains(out, "50 % of the rows equal an earlier row") != (copies > 1) {
			t.Errorf("%d copies:\n%s", copies, out)
		}
		if o := fz(t, append(args, "--json")...).Want(t, cli.ExitOK).Object(t); copies > 1 &&
			o.Number(t, "lineage.copies") != share {
			t.Errorf("%d copies: %v", copies, o.At(t, "lineage.copies"))
		}
	}
}

// Identifiers whose values recur are suggested as groups.
func TestExploreSuggestsGroups(t *testing.T) {
	text := "customerID,a,y\n"
	for i := range 1500 {
		text += fmt.Sprintf("C%04d,%d,%d\n", i%300, i*i%83, i*i%83+i%7)
	}
	args := []string{"explore", "--data", clitest.File(t, "rows.csv", text), "--label", "y", "--features", "8",
		"--criterion", "correlation"}
	const note = `values of the identifier "customerID" recur`
	if out := fz(t, args...).Want(t, cli.ExitOK).Out; !strings.Contains(out, note) {
		t.Error(out)
	}
	if out := fz(t, append(args, "--group", "customerID")...).Want(t, cli.ExitOK).Out; strings.Contains(out, note) {
		t.Error(out)
	}
}

func TestTransformRefusesMissingColumns(t *testing.T) {
	data, set, _ := explored(t, 300)
	out := filepath.Join(t.TempDir(), "features.parquet")
	other := clitest.File(t, "other.csv", "age,town\n1,Rome\n")
	fz(t, "transform", "--set", set, "--data", other, "--out", out).Want(t, cli.ExitFailure, "other.csv",
		`column "city" is missing`)
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("an output was left: %v", err)
	}
	fz(t, "transform", "--set", set, "--data", data, "--out", "features").Want(t, cli.ExitUsage, "--out-format")
}

// A text column stays text in a file with only numbers in it.
func TestTransformKeepsNumericTextAsText(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("street,size,y\n")
	for i := range 400 {
		fmt.Fprintf(&rows, "%s,%d,%d\n", []string{"7", "7b", "12"}[i%3], i%17, i%3*10+i%17)
	}
	set, out := filepath.Join(t.TempDir(), "set.arrow"), filepath.Join(t.TempDir(), "features.csv")
	fz(t, "explore", "--data", clitest.File(t, "rows.csv", rows.String()), "--label", "y", "--features", "8",
		"--out", set).Want(t, cli.ExitOK)
	done := fz(t, "transform", "--set", set, "--data", clitest.File(t, "new.csv", "size,street\n3,7\n4,12\n"),
		"--out", out, "--json").Want(t, cli.ExitOK).Object(t)
	if done.Number(t, "rows.featurized") != 2 || done.Number(t, "rows.unseen_category") != 0 {
		t.Errorf("%v", done)
	}
}

func TestTransformWritesEveryFormat(t *testing.T) {
	data, set, _ := explored(t, 300)
	for _, name := range []string{"features.arrow", "features.arrows", "features.parquet", "features.csv.gz"} {
		out := filepath.Join(t.TempDir(), name)
		fz(t, "transform", "--set", set, "--data", data, "--out", out).Want(t, cli.ExitOK)
		if name == "features.arrow" || name == "features.parquet" { // read the output back
			rows := fz(t, "explore", "--data", out, "--label", "churned", "--features", "5", "--exclude", "row", "--sample", "1",
				"--json").
				Want(t, cli.ExitOK).Object(t)
			if rows.Number(t, "rows.scored") < 200 || rows.Number(t, "feature_set.dim") != 12 {
				t.Errorf("%s: %v", name, rows)
			}
		}
	}
}
