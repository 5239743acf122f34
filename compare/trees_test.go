package compare

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
)

// Trees follow what a linear model cannot, for every kind of label, and are run once, whatever M
// is.
func TestTreesOnTheSameRows(t *testing.T) {
	method, err := findTrees(t.Context())
	if err != nil {
		t.Skip(err)
	}
	for name, source := range map[string]made{
		"regression": {task: scoring.Regression, rows: 600}, "two classes": {task: scoring.Binary, rows: 600},
		"three classes": {task: scoring.MultiClass, rows: 600, classes: 3},
	} {
		o := quick()
		o.Methods = []string{"linear", Trees}
		o.More = []*Method{method}
		o.Repeats = 1
		result, err := Run(t.Context(), name, source, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range result.Tables {
			linear, trees := table.line("linear"), table.line(Trees)
			if trees == nil || trees.Error.Mean > 0.8*linear.Error.Mean || trees.Note == "" {
				t.Errorf("%s: trees %+v, linear %+v, %v", name, trees, linear, result.Failures())
			}
			if logLoss, ok := trees.Measures["log_loss"]; ok && logLoss.Mean >= trees.Measures["constant_log_loss"].Mean {
				t.Errorf("%s: log loss %v, of a constant %v", name, logLoss, trees.Measures["constant_log_loss"])
			}
		}
		if few, many := result.Tables[0].line(Trees), result.Tables[1].line(Trees); few.Error.Mean != many.Error.Mean {
			t.Errorf("%s: %v %% and %v %%", name, few.Error, many.Error)
		}
	}
}

// Trees get categories and missing numbers as such.
func TestRowsOfTrees(t *testing.T) {
	r := &repeat{train: &rows{}, encoder: &encoder.Encoder{Columns: []encoder.Column{
		{Kind: encoder.Category, Width: 3, Categories: []string{"a", "b"}, Other: true},
		{Kind: encoder.Numeric, Width: 2, Missing: true},
		{Kind: encoder.Vector, Width: 2},
	}}}
	x, categories := treeRows(&rows{dim: 7, rows: 2, x: []float32{
		0, 1, 0, 0.5, 0, 7, 8,
		0, 0, 0, 0.1, 1, 9, 10,
	}}, r.treeColumns())
	nan := float32(math.NaN())
	want := []float32{1, 0.5, 7, 8, nan, nan, 9, 10}
	if fmt.Sprint(x) != fmt.Sprint(want) || !slices.Equal(categories, []int{0}) {
		t.Errorf("%v with categories %v, want %v with category 0", x, categories, want)
	}
}

func TestTreesNeedALibrary(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := findTrees(t.Context()); err == nil || !strings.Contains(err.Error(), "no python3 in PATH") {
		t.Error(err)
	}
	program := "#!/bin/sh\necho Traceback >&2\necho neither lightgbm nor scikit-learn >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "python3"), []byte(program), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	if _, err := findTrees(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "python3: neither lightgbm nor scikit-learn (exit status 1); try ") {
		t.Error(err)
	}
}
