package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// lines writes a file of a header and rows.
func lines(t *testing.T, name, header string, rows int, row func(i int) string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(header + "\n")
	for i := range rows {
		b.WriteString(row(i) + "\n")
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNullValuesOfAModelHoldInPrediction(t *testing.T) {
	data := lines(t, "sales.csv", "units,shop,y", 400, func(i int) string {
		units, shop := fmt.Sprint(i*i%97), []string{"north", " south ", "keine"}[i%3]
		if i%5 == 0 {
			units = "-999"
		}
		return units + "," + shop + "," + word(i*i%97 > 40 != (i%3 == 0))
	})
	model, _ := fitted(t, data, "--label", "y", "--features", "16", "--null-values=-999,keine")
	got := predicted(t, model, data)
	clean := lines(t, "clean.csv", "units,shop,y", 400, func(i int) string {
		units, shop := fmt.Sprint(i*i%97), []string{"north", "south", ""}[i%3]
		if i%5 == 0 {
			units = ""
		}
		return units + "," + shop + "," + word(i*i%97 > 40 != (i%3 == 0))
	})
	if want := predicted(t, model, clean); !maps.EqualFunc(got, want, equalTexts) {
		t.Error("a file with words for missing values has other predictions than one with empty fields")
	}
}

func equalTexts(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

func TestUnusableValuesAreNamedWithColumnShareAndRow(t *testing.T) {
	data := lines(t, "ratio.csv", "visits,ratio,y", 300, func(i int) string {
		ratio := fmt.Sprint(i % 7)
		if i%3 == 2 {
			ratio = "inf"
		}
		return fmt.Sprint(i*i%97) + "," + ratio + "," + word(i*i%97 > 40)
	})
	const want = "ratio: 100 of 300 values (33 %) are infinite or too large, and their rows are left out; " +
		"the first is +Inf in row 2"
	model := filepath.Join(t.TempDir(), "model.arrow")
	fit := tr(t, "fit", "--data", data, "--label", "y", "--features", "8", "--out", model).Want(t, cli.ExitOK)
	out := filepath.Join(t.TempDir(), "p.csv")
	predict := tr(t, "predict", "--model", model, "--data", data, "--out", out).Want(t, cli.ExitOK)
	for name, got := range map[string]clitest.Result{"fit": fit, "predict": predict} {
		if !strings.HasPrefix(got.Out, "note: "+want) || !strings.Contains(got.Err, "warning: "+want) {
			t.Errorf("%s prints %q and %q, want %q first on both", name, got.Out, got.Err, want)
		}
	}
	if got := predicted(t, model, data, "--null-values", "inf"); len(got["row"]) != 300 {
		t.Errorf("%d rows with infinite values as missing ones, want 300", len(got["row"]))
	}
}

// Limits of messages and of a service's memory do not bind files.
func TestWideFilesAreLearned(t *testing.T) {
	const columns = 2200
	names := make([]string, columns)
	for j := range names {
		names[j] = fmt.Sprintf("w%d", j)
	}
	data := lines(t, "wide.csv", strings.Join(names, ",")+",y", 40, func(i int) string {
		values := make([]string, columns)
		for j := range values {
			values[j] = fmt.Sprint((i*i + j*i) % 97)
		}
		return strings.Join(values, ",") + "," + word(i%3 == 0)
	})
	model, _ := fitted(t, data, "--label", "y", "--criterion", "correlation", "--features", "1000", "--candidates", "1000")
	if got := predicted(t, model, data); len(got["prediction"]) != 40 {
		t.Errorf("%d predictions, want 40", len(got["prediction"]))
	}
}

func TestNamesWithACommaNeedNoQuotes(t *testing.T) {
	data := lines(t, "churn.csv", `visits,"plan, kind","churned, last year?"`, 100, func(i int) string {
		return fmt.Sprint(i*i%97) + "," + []string{"a", "b"}[i%2] + "," + word(i*i%97 > 40)
	})
	_, summary := fitted(t, data, "--label", "churned, last year?", "--include", "plan, kind,visits",
		"--features", "8")
	if got := fmt.Sprint(summary["feature_set"]); !strings.Contains(got, "columns:2") {
		t.Errorf("feature set %v, want one of 2 columns", got)
	}
}
