package files

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// fieldsOf is a CSV file with one column: n times value, with some lines replaced, by line number.
func fieldsOf(n int, value string, odd map[int]string) []byte {
	lines := slices.Concat([]string{"x"}, slices.Repeat([]string{value}, n))
	for line, s := range odd {
		lines[line-1] = s
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// A column has a type if all of its fields have it. Any other is text, of which the encoder decides
// what it means.
func TestCSVColumnsOfOneType(t *testing.T) {
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"numbers and a typo": {fieldsOf(500, "1.5", map[int]string{77: "n.v."}), "utf8"},
		"words for null":     {fieldsOf(9, "#N/A", map[int]string{2: "<NA>", 3: "None", 4: "1", 5: "-1.#IND"}), "int64"},
		"one fraction":       {fieldsOf(500, "2", map[int]string{77: "1.5", 80: "?"}), "float64"},
		"booleans":           {fieldsOf(200, "true", map[int]string{60: "False"}), "bool"},
		"dates":              {fieldsOf(200, "2024-02-29", nil), "date32"},
		"dates and a typo":   {fieldsOf(200, "2024-02-29", map[int]string{50: "0000-00-00"}), "utf8"},
		"dates and an hour": {
			fieldsOf(9, "2024-02-29", map[int]string{5: "2024-03-01T10:00:00Z"}),
			"timestamp[us, tz=UTC]",
		},
		"times of two sorts":  {fieldsOf(9, "2024-02-29 10:30", map[int]string{5: "2024-03-01T10:00:00Z"}), "utf8"},
		"dates of other form": {fieldsOf(200, "29.02.2024", nil), "utf8"},
		"whole and true":      {fieldsOf(200, "1", map[int]string{3: "true"}), "utf8"},
		"decimal comma":       {fieldsOf(200, `"12,5"`, map[int]string{4: "3"}), "utf8"},
		"thousands":           {fieldsOf(200, `"1,234"`, nil), "utf8"},
		"codes":               {fieldsOf(200, "12", map[int]string{3: "007"}), "utf8"},
		"zeros and fractions": {fieldsOf(200, "0.5", map[int]string{3: "00"}), "float64"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Open(writeFile(t, "a.csv", c.text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			field := r.Schema().Field(0)
			if got := field.Type.String(); got != c.want {
				t.Errorf("type %s, want %s", got, c.want)
			}
			if marked := field.Metadata.FindKey(encoder.TextField) >= 0; marked != (c.want == "utf8") {
				t.Errorf("metadata %v", field.Metadata)
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
