package files

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

// TestShapesOfCSV reads the same rows as spreadsheets, databases and old programs write them.
func TestShapesOfCSV(t *testing.T) {
	const plain = "p,c,q\n1.5,a,-2\n2.5,b,3\n"
	want := []string{"1.5|a|-2", "2.5|b|3"}
	for name, c := range map[string]struct {
		text string
		o    Options
	}{
		"plain":                  {text: plain},
		"sep=; of a spreadsheet": {text: "sep=;\r\n" + strings.ReplaceAll(plain, ",", ";")},
		"sep in quotes":          {text: "\"sep=;\"\n" + strings.ReplaceAll(plain, ",", ";")},
		"sep= and the flag":      {text: "SEP=;\n" + strings.ReplaceAll(plain, ",", ";"), o: Options{Delimiter: ';'}},
		"sep= of the default":    {text: "sep=,\n" + plain},
		"sep= as a tab":          {text: "sep=\t\n" + strings.ReplaceAll(plain, ",", "\t")},
		"sep= that the caller skips": {
			text: "sep=;\n" + strings.ReplaceAll(plain, ",", ";"),
			o:    Options{Delimiter: ';', SkipLines: 1},
		},
		"carriage returns alone":       {text: strings.ReplaceAll(plain, "\n", "\r")},
		"carriage returns twice":       {text: strings.ReplaceAll(plain, "\n", "\r\r\n")},
		"a delimiter after every row":  {text: "p,c,q\n1.5,a,-2,\n2.5,b,3,\n"},
		"a delimiter after some rows":  {text: "p,c,q\n1.5,a,-2\n2.5,b,3,\n"},
		"a title, skipped":             {text: "Customers of 2024\n\n" + plain, o: Options{SkipLines: 2}},
		"a byte order mark before it":  {text: "\ufeffsep=,\n" + plain},
		"carriage returns with quotes": {text: "p,c,q\r1.5,\"a\",-2\r2.5,b,3\r"},
	} {
		t.Run(name, func(t *testing.T) {
			schema, rows, _, err := drain(writeFile(t, "rows.csv", []byte(c.text)), c.o)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(rows, want) || schema.NumFields() != 3 {
				t.Errorf("%q of %v", rows, schema)
			}
		})
	}
}

// TestQuotesWithinFields reads quotes in fields that are not in quotes: inches, names.
func TestQuotesWithinFields(t *testing.T) {
	_, rows, _, err := drain(
		writeFile(t, "rows.csv", []byte("n,c\n1,5\" pipe\n2,the \"best\"\n3,\"quoted, too\"\n")), Options{},
	)
	if want := []string{`1|5" pipe`, `2|the "best"`, `3|quoted, too`}; err != nil || !slices.Equal(rows, want) {
		t.Errorf("%q, want %q: %v", rows, want, err)
	}
}

// TestTitlesAreNamed advises how many lines to skip.
func TestTitlesAreNamed(t *testing.T) {
	_, _, _, err := drain(writeFile(t, "rows.csv", []byte("Customers of 2024\n\np,c,q\n1.5,a,-2\n")), Options{})
	if title := (*TitleError)(nil); !errors.As(err, &title) || title.Lines != 2 {
		t.Errorf("%v", err)
	}
}

// TestVerbatimColumns keeps the text of columns that are only copied.
func TestVerbatimColumns(t *testing.T) {
	fields := []string{"000001", "12000000000000000007", "1E1", "NA", "2024-03-01 08:30", "TRUE", "", "1,234", "+7"}
	text := "id,x\n"
	for _, f := range fields {
		text += `"` + f + "\",1\n"
	}
	path := writeFile(t, "rows.csv", []byte(text+"  blanks after  ,1\n"))
	schema, rows, _, err := drain(path, Options{Verbatim: []string{"id"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := schema.Field(0).Type; got.ID() != arrow.STRING {
		t.Errorf("type %s", got)
	}
	for i, f := range append(fields, "blanks after  ") {
		if rows[i] != f+"|1" {
			t.Errorf("%q, want %q", rows[i], f)
		}
	}
}

// TestCodesStayText does not take 01 for 1. The encoder decides whether it is a slip.
func TestCodesStayText(t *testing.T) {
	for name, c := range map[string]struct {
		field func(i int) string
		want  arrow.DataType
	}{
		"classes":      {func(i int) string { return []string{"01", "02", "10"}[i%3] }, arrow.BinaryTypes.String},
		"postal codes": {func(i int) string { return []string{"00501", "10115", "80331"}[i%3] }, arrow.BinaryTypes.String},
		"numbers":      {func(i int) string { return []string{"0", "2", "10"}[i%3] }, arrow.PrimitiveTypes.Int64},
		"fractions":    {func(i int) string { return []string{"007.5", "02", "10"}[i%3] }, arrow.PrimitiveTypes.Float64},
		"one slip": {func(i int) string {
			if i == 150 {
				return "05"
			}
			return "12"
		}, arrow.BinaryTypes.String},
	} {
		text := "a\n"
		for i := range 300 {
			text += c.field(i) + "\n"
		}
		schema, _, _, err := drain(writeFile(t, "rows.csv", []byte(text)), Options{})
		if err != nil || !arrow.TypeEqual(schema.Field(0).Type, c.want) {
			t.Errorf("%s: %v: %v", name, schema, err)
		}
	}
}
