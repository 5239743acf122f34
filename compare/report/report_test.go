package report

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/scoring"
)

var update = flag.Bool("update", false, "rewrite golden files")

func number64(v float64) *float64 { return &v }

// measures are means by name.
func measures(pairs ...any) map[string]compare.Mean {
	all := map[string]compare.Mean{}
	for i := 0; i < len(pairs); i += 2 {
		v, _ := strconv.ParseFloat(fmt.Sprint(pairs[i+1]), 64)
		all[pairs[i].(string)] = compare.Mean{Mean: v}
	}
	return all
}

// regression is a result with everything that a table can hold.
func regression() *compare.Result {
	o := compare.DefaultOptions()
	o.Methods, o.Features, o.Candidates, o.Repeats = []string{"plain", "energy", "linear", "correlation"}, []int{20, 100}, 1000, 5
	o.Loss, o.Paper = compare.LossSquared, true
	r := &compare.Result{
		Made: compare.Made{Command: "trainer compare --data rows.csv", Go: "go1.26", Arithmetic: "go1", System: "linux/amd64", Processors: 2},
		Data: compare.Facts{Name: "rows.csv <i>", Task: "regression", Outputs: 1, TrainRows: 1000, TestRows: 500, FixedSplit: true,
			Dim: 12, SampleRows: 100, Candidates: 1000, Sigma: 3.25, Constant: []string{"x3"}, LeftOut: []string{"id: unique"}, Rejected: 2},
		Options: o, Metric: "relative squared error", Complete: true, Notes: []string{"a note"}, MethodsLeftOut: []string{"orf: it does not fit"}, Seconds: map[string]float64{"split": 0.5},
	}
	for i, m := range o.Features {
		shift := float64(10 * i)
		r.Tables = append(r.Tables, compare.Table{M: m, Constant: 12.345, Conclusion: "what to take from it", Cost: "1.5 s to make it", Lines: []compare.Line{
			{Method: "plain", Features: m, Repeats: 5, Error: compare.Mean{Mean: 34.1 - shift, Error: number64(0.5)}, TestError: number64(1.2), Tied: true,
				Unexplained: &compare.Mean{Mean: 80, Error: number64(1)}, Measures: measures("unexplained_variance", 80, "rmse", 0.123456, "mae", 1234.5), Preprocess: 0.001, Train: 0.25, Test: 0.05},
			{Method: "energy", Features: m, Repeats: 5, Error: compare.Mean{Mean: 24.3 - shift, Error: number64(0.4)}, Best: true,
				Differences: map[string]compare.Mean{"plain": {Mean: -9.8, Error: number64(0.3)}, "linear": {Mean: 24.3}}, TestError: number64(1.1), DifferenceTestError: number64(0.9),
				Unexplained: &compare.Mean{Mean: 60, Error: number64(2)}, Measures: measures("unexplained_variance", 60, "rmse", 0.123456, "mae", 1234.5), Preprocess: 12.3, Refine: 4.56, Train: 0.25, Test: 0.05, Note: "a remark"},
			{Method: "linear", Features: 12, Repeats: 5, Error: compare.Mean{Mean: 0.0123, Error: number64(0.00042)},
				Differences: map[string]compare.Mean{"plain": {Mean: 0.5, Error: number64(0.3)}}, TestError: number64(0.001), DifferenceTestError: number64(0.9),
				Unexplained: &compare.Mean{Mean: 90, Error: number64(1)}, Measures: measures("unexplained_variance", 90, "rmse", 0.123456, "mae", 1234.5), Preprocess: 0, Train: 123.4, Test: 1.5},
			{Method: "correlation", Failure: "labels are constant"},
		}})
		for _, method := range o.Methods {
			r.Runs = append(r.Runs, compare.Measurement{Method: method, M: m, Features: m, Seed: 1, Error: 1.5, RowMicroseconds: 2.5, Lambda: 1e-7, Note: "n, with a comma"})
		}
	}
	r.Spectra = []compare.Spectrum{{Criterion: "energy", Values: []float64{0.5, 0.2, 0.1, 0.01, 0}}}
	return r
}

// classification is a result of one repeat at one M, interrupted.
func classification() *compare.Result {
	o := compare.DefaultOptions()
	o.Methods, o.Features, o.Repeats = []string{"plain", "energy"}, []int{50}, 1
	o.Loss = compare.LossSquared
	return &compare.Result{
		Data:    compare.Facts{Name: "letters", Task: scoring.MultiClass.String(), Classes: 26, TrainRows: 15000, TestRows: 5000, Dim: 16, SampleRows: 750, Candidates: 500, Sigma: 2},
		Options: o, Metric: "misclassification",
		Tables: []compare.Table{{M: 50, Constant: 95.7, Lines: []compare.Line{
			{Method: "plain", Features: 50, Repeats: 1, Error: compare.Mean{Mean: 27.1}, Measures: measures("log_loss", 0.98765), Train: 1, Best: true},
			{Method: "energy", Features: 50, Repeats: 1, Error: compare.Mean{Mean: 28}, Differences: map[string]compare.Mean{"plain": {Mean: 0.9}}, Train: 1},
		}}},
	}
}

// onTerminal is the width of a column's frame in tables on terminals.
const onTerminal = 3

// writeCells writes a table in the form of the golden file.
func writeCells(t *testing.T, b *strings.Builder, c Cells) {
	t.Helper()
	b.WriteString(strings.Join(c.Header, " | ") + "\n")
	for i, row := range c.Rows {
		if len(row) != len(c.Header) {
			t.Errorf("row %q has %d cells for %d columns", row, len(row), len(c.Header))
		}
		b.WriteString(strings.Join(row, " | ") + "\n")
		if c.Remarks[i] != "" {
			b.WriteString("    " + c.Remarks[i] + "\n")
		}
	}
	if len(c.LeftOut) > 0 {
		b.WriteString("    left out: " + strings.Join(c.LeftOut, ", ") + "\n")
	}
}

func TestCellsAreAsBefore(t *testing.T) {
	var b strings.Builder
	for _, r := range []*compare.Result{regression(), classification()} {
		b.WriteString(Describe(r) + "\n" + RowsLeftOut(r) + "\n")
		for _, table := range r.Tables {
			b.WriteString("page:\n")
			writeCells(t, &b, PageCells(r, table))
			for _, width := range []int{200, 80, 10} {
				fmt.Fprintf(&b, "terminal of %d:\n", width)
				writeCells(t, &b, TerminalCells(r, table, width, onTerminal))
			}
		}
	}
	golden := filepath.Join("testdata", "cells.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("cells:\n%s\nwant (rewrite with -update):\n%s", b.String(), want)
	}
}

// elements decodes XML to its end and counts elements by name.
func elements(t *testing.T, what string, text []byte) map[string]int {
	t.Helper()
	count := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(string(text)))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if start, ok := token.(xml.StartElement); ok {
			count[start.Name.Local]++
		}
	}
}

func TestReportHasEverything(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "report")
	r := regression()
	if err := Write(dir, r); err != nil {
		t.Fatal(err)
	}
	page := read(t, dir, Page)
	count := elements(t, Page, page)
	const figures = 6 // methods, error, unexplained variance, time, speed, spectrum of energy
	if count["figure"] != figures || count["svg"] != figures || count["table"] != 2+2 {
		t.Errorf("elements %v", count)
	}
	for _, text := range []string{
		"<p class=\"verdict\">what to take from it; 1.5\u00a0s to make it</p>", "orf: it does not fit", "2 with values that cannot be used",
		"trainer compare --data rows.csv", "rows.csv &lt;i&gt;", "M = 100", "a note", "labels are constant", `class="tied"`,
		"Shahrampour, Beirami, Tarokh", "prefers-color-scheme: dark", "linux/amd64", "constant predictor: 12.3",
	} {
		if !strings.Contains(string(page), text) {
			t.Errorf("the page lacks %q", text)
		}
	}
	if strings.Contains(string(page), "http") && !strings.Contains(string(page), "http://www.w3.org") {
		t.Error("the page refers to something outside")
	}
	for _, name := range []string{"methods", "error", "unexplained", "time", "speed", "spectrum-energy"} {
		svg := read(t, dir, name+".svg")
		if n := elements(t, name, svg); n["svg"] != 1 || n["path"] < 5 || n["text"] < 5 {
			t.Errorf("%s: elements %v", name, n)
		}
		if strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), "Inf") {
			t.Errorf("%s has a coordinate that is no number", name)
		}
	}
}

// At one M there is only one figure: error against M would be a single column of points.
func TestOneFigureAtOneM(t *testing.T) {
	for _, r := range []*compare.Result{regression(), classification()} {
		figures, err := Figures(r)
		if err != nil {
			t.Fatal(err)
		}
		var first []string
		for _, f := range figures {
			if f.Main {
				first = append(first, f.Name)
			}
		}
		want := "methods"
		if len(r.Tables) > 1 {
			want += " error"
		}
		if have := strings.Join(first, " "); have != want {
			t.Errorf("at %d M: %s, want %s", len(r.Tables), have, want)
		}
	}
}

func TestNumbersForMachines(t *testing.T) {
	dir := t.TempDir()
	r := regression()
	if err := Write(dir, r); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(read(t, dir, ResultsCSV)))).ReadAll()
	if err != nil || len(rows) != 1+len(r.Runs) || rows[1][0] != "plain" || rows[1][19] != "n, with a comma" {
		t.Errorf("%s: %v, %v", ResultsCSV, rows, err)
	}
	rows, err = csv.NewReader(strings.NewReader(string(read(t, dir, SpectrumCSV)))).ReadAll()
	if err != nil || len(rows) != 1+5 || rows[2][2] != "0.2" {
		t.Errorf("%s: %v, %v", SpectrumCSV, rows, err)
	}
	var again compare.Result
	if err := json.Unmarshal(read(t, dir, ResultsJSON), &again); err != nil {
		t.Fatal(err)
	}
	if again.Tables[0].Lines[1].Differences["plain"].Mean != -9.8 || again.Options.Map != r.Options.Map {
		t.Errorf("%s: %+v", ResultsJSON, again)
	}
}

func TestPartialAndEmptyResults(t *testing.T) {
	for name, r := range map[string]*compare.Result{"partial": classification(), "empty": {Options: compare.DefaultOptions()}} {
		dir := t.TempDir()
		if err := Write(dir, r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		page := string(read(t, dir, Page))
		if !strings.Contains(page, "Interrupted") {
			t.Errorf("%s: the page does not say that it is not all", name)
		}
		elements(t, name, []byte(page))
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
