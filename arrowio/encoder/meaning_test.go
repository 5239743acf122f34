package encoder

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/scoring"
)

// meanings are values and the kinds of columns for which the page lists their meaning.
var meanings = []struct {
	says string
	of   arrow.DataType
	v    any
}{
	{"null", text, nil},
	{"the empty text", text, ""},
	{"the texts `NA`, `?`, `None`", text, "NA"},
	{"the text `-`", text, "-"},
	{"the text ` Oslo ` with blanks", text, " Oslo "},
	{"the text `oslo`", text, "oslo"},
	{"the text `1`", text, "1"},
	{"the text `1.0`", text, "1.0"},
	{"the text `true`", text, "true"},
	{"the text `2020-01-02`", text, "2020-01-02"},
	{"the text `-999`, in `events.null_values`", text, "-999"},
	{"the number 1", i64, 1},
	{"the number -999, in `events.null_values`", i64, -999},
	{"the boolean true", flags, true},
}

// meaningOf returns the meaning of a value in a column of an encoder as the page writes it.
func meaningOf(t *testing.T, e *Encoder, c column) string {
	t.Helper()
	var rows Rows
	rec := record(t, c)
	if err := e.Encode(&rows, rec, nil); err != nil {
		return "another kind"
	}
	switch counts := rows.Counts; {
	case counts.Imputed > 0:
		return "missing"
	case counts.UnseenCategory > 0:
		return "another category"
	}
	column := &e.Columns[0]
	if column.Kind == Category {
		for j, name := range column.Categories {
			if rows.X[j] == 1 {
				return "category " + name
			}
		}
	}
	return fmt.Sprint(rows.X[0])
}

// The page on formats lists the meaning of values in columns that held texts at calibration.
func TestMeaningsOfValuesAreDocumented(t *testing.T) {
	encoders := []*Encoder{}
	for _, column := range []Column{
		{Name: "v", Kind: Numeric, Form: Form{Text: true}, Width: 1, Mean: []float64{0}},
		{Name: "v", Kind: Category, Form: Form{Numbers: true}, Width: 3, Categories: []string{"1", "Oslo"}, Other: true},
		{Name: "v", Kind: Bool, Form: Form{Text: true}, Width: 1, Mean: []float64{0}},
		{Name: "v", Kind: Time, Width: 1, Mean: []float64{0}},
	} {
		e := &Encoder{
			Columns: []Column{column}, Standardize: StandardizeNone, NaN: NaNMissing, NullWords: []string{"-999"},
			Label: &Label{Columns: []string{"y"}, Kind: Numeric, Task: scoring.Regression, Mean: []float64{0}},
			Dim:   column.Width,
		}
		if err := e.Validate(); err != nil {
			t.Fatal(err)
		}
		encoders = append(encoders, e)
	}
	var b strings.Builder
	b.WriteString("|value|number|category|boolean|time|\n|---|---|---|---|---|\n")
	for _, m := range meanings {
		cells := []string{m.says}
		for _, e := range encoders {
			cells = append(cells, meaningOf(t, e, col(t, "v", m.of, m.v)))
		}
		b.WriteString("|" + strings.Join(cells, "|") + "|\n")
	}
	page := filepath.Join("..", "..", "docs", "formats.md")
	body, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(body), b.String()) {
		t.Errorf("%s lacks this table:\n%s", page, b.String())
	}
}
