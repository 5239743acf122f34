package files

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

// fieldsOf is a CSV file with one column: n times value, with some lines replaced, by line number.
func fieldsOf(n int, value string, odd map[int]string) []byte {
	lines := slices.Concat([]string{"x"}, slices.Repeat([]string{value}, n))
	for line, s := range odd {
		lines[line-1] = s
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

func TestCSVColumnKeepsTheTypeOfNearlyAllFields(t *testing.T) {
	for name, c := range map[string]struct {
		text []byte
		want string
		bad  string // what is said of it
	}{
		"one of many": {
			fieldsOf(500, "1.5", map[int]string{77: "n.v."}),
			"float64",
			`1 of 500 fields is not a number and counts as missing: "n.v." in line 77`,
		},
		"one in a hundred": {
			fieldsOf(300, "7", map[int]string{9: "x", 8: "y", 300: "z"}),
			"int64",
			`3 of 300 fields are not whole numbers and count as missing; the first is "y" in line 8`,
		},
		"more": {fieldsOf(300, "7", map[int]string{9: "x", 8: "y", 300: "z", 30: "-"}), "utf8", ""},
		"one of twenty": {
			fieldsOf(20, "7", map[int]string{5: "x"}),
			"int64",
			`1 of 20 fields is not a whole number and counts as missing: "x" in line 5`,
		},
		"one of nineteen":    {fieldsOf(19, "7", map[int]string{5: "x"}), "utf8", ""},
		"nulls do not count": {fieldsOf(30, "NA", map[int]string{5: "1", 6: "2", 7: "x"}), "utf8", ""},
		"words for null":     {fieldsOf(9, "#N/A", map[int]string{2: "<NA>", 3: "None", 4: "1", 5: "-1.#IND"}), "int64", ""},
		"one fraction": {
			fieldsOf(500, "2", map[int]string{77: "1.5", 80: "?", 81: "€3"}),
			"float64",
			`1 of 499 fields is not a number and counts as missing: "€3" in line 81`,
		},
		"booleans": {
			fieldsOf(200, "true", map[int]string{50: "maybe", 60: "False"}),
			"bool",
			`1 of 200 fields is not true or false and counts as missing: "maybe" in line 50`,
		},
		"dates": {
			fieldsOf(200, "2024-02-29", map[int]string{50: "0000-00-00"}),
			"date32",
			`1 of 200 fields is not a date and counts as missing: "0000-00-00" in line 50`,
		},
		"dates and a time": {
			fieldsOf(200, "2024-02-29", map[int]string{50: "2024-03-01T10:00:00Z"}),
			"timestamp[us, tz=UTC]",
			"",
		},
		"times": {
			fieldsOf(200, "2024-02-29 10:30", map[int]string{50: "soon", 51: "later"}),
			"timestamp[us, tz=UTC]",
			`2 of 200 fields are not times and count as missing; the first is "soon" in line 50`,
		},
		"dates of other form": {fieldsOf(200, "29.02.2024", nil), "utf8", ""},
		"whole and true":      {fieldsOf(200, "1", map[int]string{3: "true", 4: "true", 5: "true"}), "utf8", ""},
		"decimal comma": {
			fieldsOf(200, `"12,5"`, map[int]string{4: "3", 5: `"1.234,50"`, 6: `"1,234"`}),
			"float64",
			"",
		},
		"commas and a typo": {
			fieldsOf(200, `"12,5"`, map[int]string{4: "x", 5: "1.5"}),
			"float64",
			`2 of 200 fields are not numbers and count as missing; the first is "x" in line 4`,
		},
		"thousands":           {fieldsOf(200, `"1,234"`, map[int]string{4: `"1,5"`}), "utf8", ""},
		"thousands and a dot": {fieldsOf(200, `"1,234.5"`, nil), "utf8", ""},
		"words that are long": {
			fieldsOf(100, "3", map[int]string{2: strings.Repeat("é", 50)}),
			"int64",
			`"` + strings.Repeat("é", 20) + `..." in line 2`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Open(writeFile(t, "a.csv", c.text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if got := r.Schema().Field(0).Type.String(); got != c.want {
				t.Errorf("type %s, want %s", got, c.want)
			}
			if bad := fmt.Sprint(r.BadFields()); c.bad == "" && bad != "[]" || !strings.Contains(bad, c.bad) {
				t.Errorf("bad fields %s, want %s", bad, c.bad)
			}
			rec, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			defer rec.Release()
			for _, bad := range r.BadFields() {
				if !rec.Column(0).IsNull(int(bad.Line) - 2) {
					t.Errorf("line %d is %s, want null", bad.Line, rec.Column(0).ValueStr(int(bad.Line)-2))
				}
			}
		})
	}
}

func TestCSVFieldsOfAnotherTypeThanForcedAreNullAndCounted(t *testing.T) {
	path := writeFile(t, "a.csv", []byte("k,x\n1,2\n2,\n3,n.v.\n4,5\n5,-\n6,7\n"))
	r, err := Open(
		path,
		Options{BatchRows: 3, Schema: arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, want := range []string{
		`[1 of 2 fields is not a number and counts as missing: "n.v." in line 4]`,
		`[2 of 5 fields are not numbers and count as missing; the first is "n.v." in line 4]`,
	} {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		rec.Release()
		if got := fmt.Sprint(r.BadFields()); got != want {
			t.Errorf("bad fields %s, want %s", got, want)
		}
	}
}

func TestCSVStrictRefusesFieldsOfAnotherType(t *testing.T) {
	path := writeFile(t, "a.csv", fieldsOf(500, "1.5", map[int]string{77: "n.v."}))
	schema, rows := mustDrain(t, path, Options{Strict: true})
	if columnsText(schema) != "x utf8" || rows[75] != "n.v." {
		t.Errorf("columns %s, row %q", columnsText(schema), rows[75])
	}
	_, _, _, err := drain(
		path,
		Options{Strict: true, Schema: arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)},
	)
	wantError(t, err, path, 77, `column "x"`, `"n.v." is not a number (float64)`)
}

// Times are written with a zone and a space, and are read back unchanged.
func TestCSVDatesAndTimesRoundTrip(t *testing.T) {
	text := "day,at,x\n2024-02-29,2024-02-29T10:30:00.000250Z,1\n1969-12-31,1960-01-01T00:00:00Z,2\n,,3\n"
	r, err := Open(writeFile(t, "a.csv", []byte(text)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	schema, rows := mustDrain(t, written(t, "b.csv", rec), Options{})
	if !schema.Equal(r.Schema()) {
		t.Errorf("columns %s, want %s", columnsText(schema), columnsText(r.Schema()))
	}
	equalLines(t, rows, rowTexts(rec))
}

func TestCSVOfAnotherDelimiterIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		o          Options
		other      rune // 0: no fault
		line       int64
	}{
		"semicolons":           {"a.csv", "a;b;c\n1;2;3\n", Options{}, ';', 1},
		"quoted names":         {"a.csv", "\ufeff\"a\";\"b, c\"\r\n1;2\r\n", Options{}, ';', 1},
		"bars":                 {"a.csv", "a|b\n1|2\n", Options{}, '|', 1},
		"tabs":                 {"a.csv", "a\tb\n1\t2\n", Options{}, '\t', 1},
		"tabs in .tsv":         {"a.tsv", "a\tb;c\n1\t2\n", Options{}, 0, 0},
		"commas in .tsv":       {"a.tsv", "a,b\n1,2\n", Options{}, ',', 1},
		"after a title":        {"a.csv", "title\na;b\n", Options{SkipLines: 1}, ';', 2},
		"without header":       {"a.csv", "1;2\n", Options{NoHeader: true}, ';', 1},
		"chosen":               {"a.csv", "a;b\n1;2\n", Options{Delimiter: ','}, 0, 0},
		"in one of the fields": {"a.csv", "a;b,c\n1,2\n", Options{}, 0, 0},
		"in quotes":            {"a.csv", "\"a;b\"\n1\n", Options{}, 0, 0},
		"below the header":     {"a.csv", "a\n1;2\n", Options{}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, c.file, []byte(c.text))
			_, _, _, err := drain(path, c.o)
			if c.other == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, path, c.line, "one field", fmt.Sprintf("%q", c.other))
			var fault *DelimiterError
			if !errors.As(err, &fault) || fault.Other != c.other {
				t.Errorf("error %v does not name %q", err, c.other)
			}
		})
	}
}
