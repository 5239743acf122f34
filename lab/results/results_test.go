package results

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/training"
)

// measured writes a result with one method for each list of unexplained variances, by repeat, and
// returns its path.
func measured(t *testing.T, name string, errors map[string][]float64) string {
	t.Helper()
	r := compare.Result{
		Complete: true, Metric: "relative squared error", Options: compare.DefaultOptions(),
		Data: compare.Facts{
			Name:       name,
			Task:       "regression",
			TrainRows:  900,
			TestRows:   100,
			Dim:        5,
			SampleRows: 900,
			Candidates: 4000,
			Sigma:      1.5,
		},
	}
	r.Options.Repeats = 3
	table := compare.Table{M: 200}
	for _, method := range methodNames() {
		values, ok := errors[method]
		if !ok {
			continue
		}
		l := compare.Line{Method: method, Features: 200, Repeats: len(values), Preprocess: 2.5, Train: 0.25, Test: 1e-4}
		table.Lines = append(table.Lines, l)
		for repeat, v := range values {
			r.Runs = append(r.Runs, compare.Measurement{
				Method:          method,
				M:               200,
				Repeat:          repeat,
				RowMicroseconds: 1.5,
				Error:           v / 2,
				Measures:        training.Measures{UnexplainedVariance: &v},
			})
		}
		l.Error = compare.Mean{Mean: values[0]}
	}
	r.Tables = []compare.Table{table}
	return write(t, r)
}

func write(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "results.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// grown returns measurements of trees.
func grown(t *testing.T) string {
	t.Helper()
	one := func(trees, repeat int, percent float64) map[string]any {
		return map[string]any{"dataset": "airfoil", "method": "lightgbm", "trees": trees, "repeat": repeat, "error": percent,
			"train_seconds": 1.5, "predict_microseconds": 12.5}
	}
	return write(t, map[string]any{"runs": []any{one(50, 0, 8), one(500, 0, 5), one(500, 1, 6)}})
}

func TestTables(t *testing.T) {
	apart := []string{
		measured(t, "airfoil", map[string][]float64{"plain": {14, 15, 16}, "residual": {13, 14.5, 14}}),
		// the same data set, other methods
		measured(t, "airfoil", map[string][]float64{"plain": {14, 15, 16}, "adaptive-refined": {8, 9.5, 10.1}}),
		// fewer repeats
		measured(t, "airfoil", map[string][]float64{"plain": {14}}),
		measured(t, "sml", map[string][]float64{"plain": {0.3, 0.4, 0.35}, "adaptive-refined": {0.3, 0.42, 0.34}}),
	}
	var out bytes.Buffer
	if err := (options{trees: []string{grown(t)}}).run(apart, &out); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| M, M0, N0 | 200, 4000, 900 | 200, 4000, 900 |",
		"| `plain` | 15.00 ± 0.58 | **0.350** ± 0.029 |", // sml: within noise of the smallest
		"| `residual` | 13.83 ± 0.44 | – |",
		"| `adaptive-refined` | **9.20** ± 0.62 | **0.353** ± 0.035 |",
		"| *lightgbm* | 5.50 ± 0.50 | – |",
	} {
		if !strings.Contains(out.String(), line+"\n") {
			t.Errorf("no %q in\n%s", line, out.String())
		}
	}
}

func TestTablesGoIntoTheirSection(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	text := "before\n<!-- results: a -->\nold\n<!-- results: end -->\nbetween\n<!-- results: b -->\nkept\n" +
		"<!-- results: end -->\n"
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	file := measured(t, "airfoil", map[string][]float64{"plain": {1, 2}})
	if err := (options{into: page, only: "a"}).run([]string{file}, nil); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(page)
	if s := string(got); strings.Contains(s, "old") || !strings.Contains(s, "kept") ||
		!strings.Contains(s, "| `plain` |") || !strings.HasPrefix(s, "before\n<!-- results: a -->\n") {
		t.Errorf("page:\n%s", s)
	}
	if err := (options{into: page, only: "c"}).run([]string{file}, nil); err == nil ||
		!strings.Contains(err.Error(), `no section "c"`) {
		t.Error(err)
	}
}

// The README's picture agrees with the page.
func TestOverviewMatchesThePage(t *testing.T) {
	const picture, page = "../../docs/pictures/learned.svg", "../results.md"
	path := filepath.Join(t.TempDir(), "learned.svg")
	if err := (options{overview: path}).run([]string{page}, nil); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(picture); !bytes.Equal(got, want) {
		t.Errorf("%s is not drawn from %s: make results-overview", picture, page)
	}
}

func TestOverview(t *testing.T) {
	table := "| method | airfoil | sml |\n| --- | ---: | ---: |\n| `plain` | 17.01 ± 1.45 | 2.9 |\n" +
		"| `linear` | 51 ± 3 | 3.4 |\n" +
		"| `adaptive-refined` | **8.37** ± 1.13 | 0.159 |\n| *lightgbm* | 5.66 | – |\n| `plain` | 0.00 + 0.01 | 1 |\n"
	section := func(name, body string) string {
		return "<!-- results: " + name + " -->\n\n" + body + "\n<!-- results: end -->\n"
	}
	svg, err := overview(section("regression", table) + section("classes", table))
	if err != nil {
		t.Fatal(err)
	}
	for text, times := range map[string]int{
		">17 → 8.4<": 2, ">2.9 → 0.16<": 2, `<use href="#trees" x="`: 3, // in the legend, and two of airfoil
	} {
		if n := strings.Count(string(svg), text); n != times {
			t.Errorf("%q occurs %d times, want %d:\n%s", text, n, times, svg)
		}
	}
	if first, _, _ := strings.Cut(string(svg), ">airfoil<"); !strings.Contains(first, ">sml<") {
		t.Error("data sets are not sorted by gain")
	}
	for says, page := range map[string]string{
		`no section "classes"`: section("regression", table),
		"no table of errors":   section("regression", "words") + section("classes", table),
		"no such cell":         section("regression", "| method | a |\n| `plain` | 1 |\n") + section("classes", table),
		"invalid syntax":       section("regression", strings.ReplaceAll(table, "17.01", "many")) + section("classes", table),
	} {
		if _, err := overview(page); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q in it", err, says)
		}
	}
}

func TestFaults(t *testing.T) {
	one := measured(t, "airfoil", map[string][]float64{"plain": {1, 2}})
	other := compare.Result{Complete: true, Data: compare.Facts{Name: "airfoil"}, Tables: []compare.Table{{M: 100}}}
	for says, args := range map[string][]string{
		"no files":                     {},
		"no such file":                 {"absent.json"},
		"not the result of a complete": {write(t, compare.Result{})},
		"rows or settings differ":      {one, write(t, other)},
	} {
		if err := (options{}).run(args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: error %v, want %q in it", args, err, says)
		}
	}
	if err := (options{overview: "x.svg"}).run(nil, nil); err == nil {
		t.Error("drew a figure without a page")
	}
}
