package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/compare"
)

func number64(v float64) *float64 { return &v }

// result has everything that a report can show: two numbers of features, a failure, a method in
// hand, a note.
func result() *compare.Result {
	o := compare.DefaultOptions()
	o.Methods = []string{"plain", "energy", "linear", "correlation"}
	o.Features = []int{20, 100}
	o.Candidates = 1000
	o.Repeats = 5
	o.Loss, o.Measure = "squared", "relative_squared_error"
	r := &compare.Result{
		Made: compare.Made{
			Command:    "trainer compare --data rows.csv",
			Go:         "go1.26",
			Arithmetic: "go1",
			System:     "linux/amd64",
			Processors: 2,
		},
		Data: compare.Facts{
			Name:       "rows.csv <i>",
			Task:       "regression",
			Outputs:    1,
			TrainRows:  1000,
			TestRows:   500,
			FixedSplit: true,
			Dim:        12,
			SampleRows: 100,
			Candidates: 1000,
			Sigma:      3.25,
			Constant:   []string{"x3"},
			Rejected:   2,
		},
		Options:        o,
		Metric:         "relative squared error",
		Complete:       true,
		Notes:          []string{"a </script> note"},
		MethodsLeftOut: []string{"adaptive: it does not fit"},
	}
	for i, m := range o.Features {
		shift := float64(10 * i)
		r.Tables = append(
			r.Tables,
			compare.Table{M: m, Constant: 12.345, Conclusion: "what to take from it", Lines: []compare.Line{
				{
					Method:     "plain",
					Features:   m,
					Repeats:    5,
					Error:      compare.Mean{Mean: 34.1 - shift, Error: number64(0.5)},
					Tied:       true,
					Measures:   map[string]compare.Mean{"rmse": {Mean: 0.123456}},
					Preprocess: 0.001,
					Train:      0.25,
					Test:       0.05,
				},
				{
					Method:     "energy",
					Features:   m,
					Repeats:    5,
					Error:      compare.Mean{Mean: 24.3 - shift, Error: number64(0.4)},
					Best:       true,
					Difference: &compare.Mean{Mean: -9.8, Error: number64(0.3)},
					Measures: map[string]compare.Mean{
						"rmse": {Mean: 1234.56},
					},
					Preprocess: 12.3,
					Train:      0.25,
					Test:       0.05,
					Note:       "a remark",
				},
				{
					Method:   "linear",
					Features: 12,
					Repeats:  3,
					Error:    compare.Mean{Mean: 0.0123, Error: number64(0.00042)},
					Train:    123.4,
					Test:     1.5,
				},
				{Method: "correlation", Failure: "labels are constant"},
			}},
		)
		for _, method := range o.Methods[:3] {
			r.Runs = append(
				r.Runs,
				compare.Measurement{Method: method, M: m, Features: m, Seed: 1, Error: 1.5, RowMicroseconds: 2.5},
			)
		}
	}
	return r
}

func TestCells(t *testing.T) {
	r := result()
	write := func(c Cells) string {
		text := strings.Join(c.Header, " | ") + "\n"
		for i, row := range c.Rows {
			text += strings.Join(append(row, c.Remarks[i]), " | ") + "\n"
		}
		return text
	}
	want := `method | relative squared error % | − plain | RMSE | preprocess s | train s | test s | µs a row
plain ≈ | 34.1000 ± 0.5000 | – | 0.1235 | 0.001 | 0.25 | 0.05 | 2.5 | 
energy ◂ | 24.3000 ± 0.4000 | −9.8000 ± 0.3000* | 1235 | 12.3 | 0.25 | 0.05 | 2.5 | a remark
linear | 0.0123 ± 0.0004 | – | – | 0 | 123 | 1.5 | 2.5 | 12 features; 3 of 5 repeats
correlation | failed | – | – | – | – | – | – | failed: labels are constant
a constant | 12.3450 | – | – | – | – | – | – | 
`
	if have := write(PageCells(r, r.Tables[0])); have != want {
		t.Errorf("cells:\n%s\nwant:\n%s", have, want)
	}
	have := write(TerminalCells(r, r.Tables[0]))
	if !strings.HasPrefix(have, "method | relative squared error % | − plain | seconds | µs a row\n") {
		t.Errorf("cells:\n%s", have)
	}
	const says = "rows.csv <i>: regression, 1000 training and 500 test rows, d = 12; cosine map, M0 = 1000, N0 = " +
		"100, σ = 3.25, squared loss, seeds 1 to 5"
	if have := Describe(r); have != says || RowsLeftOut(r) != "2 with unusable values" {
		t.Errorf("%s; %s", have, RowsLeftOut(r))
	}
}

// elements decodes HTML to its end, without its scripts and styles, and counts elements by name.
func elements(t *testing.T, text string) map[string]int {
	t.Helper()
	for _, name := range []string{"script", "style"} {
		for {
			first, rest, found := strings.Cut(text, "<"+name)
			if !found {
				break
			}
			_, rest, _ = strings.Cut(rest, "</"+name+">")
			text = first + rest
		}
	}
	count := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			count[start.Name.Local]++
		}
	}
}

func TestReportHasEverything(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "report")
	r := result()
	if err := Write(dir, r); err != nil {
		t.Fatal(err)
	}
	page := read(t, dir, Page)
	if count := elements(t, page); count["figure"] != 2 || count["table"] != 2+2 {
		t.Errorf("elements %v", count)
	}
	for _, text := range []string{
		`<p class="verdict">what to take from it</p>`,
		"adaptive: it does not fit",
		"2 with unusable values",
		"trainer compare --data rows.csv",
		"rows.csv &lt;i&gt;",
		"M = 100",
		"a &lt;/script&gt; note",
		"labels are constant",
		`class="tied"`,
		"Shahrampour, Beirami, Tarokh",
		"prefers-color-scheme: dark",
		"linux/amd64",
		"<td>a constant</td><td>12.3",
		`"names":["linear","energy","plain"]`,
		`"series":[{"name":"plain","x":[20,100],"y":[34.1,24.1],"bar":[1,1]}`,
	} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
	var again compare.Result
	if err := json.Unmarshal([]byte(read(t, dir, ResultsJSON)), &again); err != nil {
		t.Fatal(err)
	}
	if again.Tables[0].Lines[1].Difference.Mean != -9.8 || again.Options.Map != r.Options.Map {
		t.Errorf("%s: %+v", ResultsJSON, again)
	}
}

func TestPartialAndEmptyResults(t *testing.T) {
	partial := result()
	partial.Complete, partial.Tables = false, partial.Tables[:1]
	for name, c := range map[string]struct {
		r       *compare.Result
		figures int
	}{"partial": {partial, 1}, "empty": {&compare.Result{Options: compare.DefaultOptions()}, 0}} {
		dir := t.TempDir()
		if err := Write(dir, c.r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		page := read(t, dir, Page)
		if count := elements(t, page); !strings.Contains(page, "Interrupted") || count["figure"] != c.figures {
			t.Errorf("%s: elements %v", name, count)
		}
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
