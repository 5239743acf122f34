package files

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

func TestCSVTypesAreFoundOverTheWholeFile(t *testing.T) {
	path := writeFile(t, "a.csv", []byte(strings.Join([]string{
		"flag,count,price,name,nothing,late,mixed,huge",
		"true,1,1,a,,1,1,1",
		"False,-2,2.5,,NA,2,true,99999999999999999999",
		"?,+3,nan,3,null,x,2,2",
	}, "\n")))
	schema, rows := mustDrain(t, path, Options{})
	want := "flag bool, count int64, price float64, name utf8, nothing utf8, late utf8, mixed utf8, huge float64"
	if got := columnsText(schema); got != want {
		t.Fatalf("columns:\n%s\nwant:\n%s", got, want)
	}
	equalLines(t, rows, []string{
		"true|1|1|a|(null)|1|1|1",
		"false|-2|2.5|(null)|(null)|2|true|1e+20",
		"(null)|3|(null)|3|(null)|x|2|2",
	})
}

func TestCSVSyntax(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		o       Options
		columns string
		rows    []string
	}{
		"names and fields are trimmed": {
			" a , b\n 1 ,  x y \n", Options{}, "a int64, b utf8", []string{"1|x y"}},
		"quoted fields": {
			"a,b\n\"1,5\",\"line\none \"\"q\"\"\"\n, \"x\"\n", Options{}, "a utf8, b utf8",
			[]string{"1,5|line\none \"q\"", "(null)|x"}},
		"lines in quotes": {
			"\"a,b\"\r\n\"1,\"\"x, \"\"\"\"y\"\"\"\"\"\"\"\r\n3,z\n\"4,\"", Options{}, "a int64, b utf8",
			[]string{"1|x, \"y\"", "3|z", "4|(null)"}},
		"one column of quotes": {
			"\"a, b\"\n\"x\"\n", Options{}, "a, b utf8", []string{"x"}},
		"windows line ends and empty lines": {
			"a,b\r\n1,2\r\n\r\n3,4\r\n   \r\n\r\n", Options{}, "a int64, b int64", []string{"1|2", "3|4"}},
		"byte order mark": {
			"\ufeff\"a\",b\n1,2\n", Options{}, "a int64, b int64", []string{"1|2"}},
		"no end of the last line": {
			"a\n1\n2", Options{}, "a int64", []string{"1", "2"}},
		"without header": {
			"A,1\nB,2\n", Options{NoHeader: true}, "f0 utf8, f1 int64", []string{"A|1", "B|2"}},
		"unnamed column": {
			",b\n0,2\n", Options{}, "f0 int64, b int64", []string{"0|2"}},
		"tabs": {
			"a\tb\tc\n1\t\tx, y\n\t2\t\n", Options{Delimiter: '\t'}, "a int64, b int64, c utf8",
			[]string{"1|(null)|x, y", "(null)|2|(null)"}},
		"semicolons": {
			"a;b;c\n1,5;2;1,234\n1.234,5;3;-,5\n", Options{Delimiter: ';'}, "a utf8, b int64, c utf8", []string{
				"1,5|2|1,234",
				"1.234,5|3|-,5",
			}},
		"runs of blanks": {
			"   1.5e-001   2 \n  -3   4\n", Options{Delimiter: ' ', NoHeader: true}, "f0 float64, f1 int64",
			[]string{"0.15|2", "-3|4"}},
		"lines before the header": {
			"# a \"title\n# " + strings.Repeat("long", bufferBytes) + "\na,b\n1,2\n", Options{SkipLines: 2},
			"a int64, b int64", []string{"1|2"}},
		"lines before the first row": {
			"|1x3 Cross validator\n1,x\n2,y\n", Options{SkipLines: 1, NoHeader: true}, "f0 int64, f1 utf8",
			[]string{"1|x", "2|y"}},
		"header alone": {
			"a,b\n", Options{}, "a utf8, b utf8", nil},
		"own null values": {
			"a,b\n-,NA\n1,x\n", Options{NullValues: []string{"-"}}, "a int64, b utf8", []string{"(null)|(null)", "1|x"}},
		"one column with a null": {
			"a\n1\n\"\"\n2\n", Options{}, "a int64", []string{"1", "(null)", "2"}},
		"hexadecimal is text": {
			"a,b\n0x10,1_000\n", Options{}, "a utf8, b utf8", []string{"0x10|1_000"}},
	} {
		t.Run(name, func(t *testing.T) {
			schema, rows := mustDrain(t, writeFile(t, "a.csv", []byte(c.text)), c.o)
			if got := columnsText(schema); got != c.columns {
				t.Errorf("columns %q, want %q", got, c.columns)
			}
			equalLines(t, rows, c.rows)
		})
	}
}

func TestCSVFaultsNameFileAndLine(t *testing.T) {
	long := "a,b\n1,2\n\"" + strings.Repeat("x", MaxLineBytes+bufferBytes+1) + ",2\n"
	for name, c := range map[string]struct {
		text string
		line int64
		say  string
	}{
		"short row":           {"a,b,c\n1,2,3\n1,2\n", 3, "2 fields where the first row has 3"},
		"long row":            {"a,b\n1,2\n\n1,2,3\n", 4, "3 fields where the first row has 2"},
		"text after a quote":  {"a,b\n1,\"x\"y\n", 2, "quote"},
		"open quote":          {"a,b\n1,2\n\"x,2\n3,4\n", 4, "row starts on line 3"},
		"duplicate name":      {"a,b, a\n1,2,3\n", 1, "columns 1 and 3 are both named \"a\""},
		"name not UTF-8":      {"a,\xff\n1,2\n", 1, "not UTF-8"},
		"field not UTF-8":     {"a,b\n1,x\n2,\xff\n", 3, "not UTF-8"},
		"row beyond any size": {long, 3, "more than 16 MiB"},
		"too many columns":    {strings.Repeat(",", MaxColumns) + "\n", 1, "columns"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, "a.csv", []byte(c.text))
			_, _, _, err := drain(path, Options{})
			wantError(t, err, path, c.line, c.say)
			path = writeFile(t, "b.csv", []byte("#\n#\n"+c.text)) // lines that are skipped count
			_, _, _, err = drain(path, Options{SkipLines: 2})
			var e *Error
			if !errors.As(err, &e) || e.Line != c.line+2 {
				t.Errorf("after two lines: %v", err)
			}
		})
	}
}

func TestCSVWithoutContentIsEmpty(t *testing.T) {
	for _, text := range []string{"", "\n\n", "\ufeff", "#\n"} {
		for _, noHeader := range []bool{false, true} {
			_, _, _, err := drain(
				writeFile(t, "a.csv", []byte(text)),
				Options{NoHeader: noHeader, SkipLines: strings.Count(text, "#")},
			)
			if !errors.Is(err, ErrEmpty) {
				t.Errorf("%q, no header %v: error %v, want ErrEmpty", text, noHeader, err)
			}
		}
	}
}

func TestCSVOfUTF16IsRefused(t *testing.T) {
	_, _, _, err := drain(writeFile(t, "a.csv", []byte("\xff\xfea\x00\n\x00")), Options{})
	if !errors.Is(err, arrowio.ErrUnsupported) || !strings.Contains(err.Error(), "UTF-16") {
		t.Errorf("error %v", err)
	}
}

func TestCSVSchemaForcesTypes(t *testing.T) {
	train := arrow.NewSchema([]arrow.Field{
		{Name: "absent", Type: arrow.PrimitiveTypes.Int64},
		{Name: "a", Type: arrow.PrimitiveTypes.Float64},
		{Name: "b", Type: arrow.BinaryTypes.String},
		{Name: "c", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
		{Name: "d", Type: arrow.PrimitiveTypes.Float32},
		{Name: "when", Type: arrow.FixedWidthTypes.Date32},
	}, nil)
	path := writeFile(t, "a.csv", []byte("b,a,new,c,d,when\n1,2,3,4,0.5,2024-02-29\n5,?,true,,1e99,\n"))
	schema, rows := mustDrain(t, path, Options{Schema: train})
	if got, want := columnsText(schema), "b utf8, a float64, new utf8, c utf8, d float32, when date32"; got != want {
		t.Errorf("columns %q, want %q", got, want)
	}
	equalLines(t, rows, []string{"1|2|3|4|0.5|2024-02-29", "5|(null)|true|(null)|+Inf|(null)"})
}

func TestCSVMostFieldsOfAnotherTypeThanForcedIsAnError(t *testing.T) {
	for typ, c := range map[arrow.DataType]struct{ value, say string }{
		arrow.PrimitiveTypes.Int64:         {"1.5", "\"1.5\" is not a whole number (int64)"},
		arrow.PrimitiveTypes.Int8:          {"128", "whole number (int8)"},
		arrow.PrimitiveTypes.Uint16:        {"-1", "whole number (uint16)"},
		arrow.PrimitiveTypes.Float64:       {"abc", "\"abc\" is not a number"},
		arrow.FixedWidthTypes.Boolean:      {"1", "true or false"},
		arrow.FixedWidthTypes.Date32:       {"yesterday", "date32"},
		arrow.FixedWidthTypes.Time32s:      {"noon", "time32"},
		arrow.BinaryTypes.LargeString:      {"\xc3\x28", "UTF-8"},
		arrow.FixedWidthTypes.Timestamp_us: {"x", "timestamp"},
	} {
		t.Run(typ.String(), func(t *testing.T) {
			path := writeFile(t, "test.csv", []byte("k,col\n1,\n2,"+c.value+"\n"))
			train := arrow.NewSchema([]arrow.Field{{Name: "col", Type: typ}}, nil)
			_, _, _, err := drain(path, Options{Schema: train})
			wantError(t, err, path, 3, "test.csv", "line 3", "column \"col\"", c.say)
		})
	}
}

func TestCSVRefusesAForcedTypeThatTextCannotHold(t *testing.T) {
	path := writeFile(t, "a.csv", []byte("a\n1\n"))
	train := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64)}}, nil)
	_, _, _, err := drain(path, Options{Schema: train})
	wantError(t, err, path, 0, "column \"a\"", "list")
	if !errors.Is(err, arrowio.ErrUnsupported) {
		t.Errorf("error %v is not arrowio.ErrUnsupported", err)
	}
}

func TestCSVWideRowsMakeSmallerRecords(t *testing.T) {
	wide := strings.Repeat("w", 1<<20) + "\n"
	path := writeFile(t, "a.csv", []byte("a\n"+strings.Repeat(wide, 70)))
	_, rows, sizes, err := drain(path, Options{})
	if err != nil || len(rows) != 70 || len(sizes) != 2 || sizes[0] != 64 {
		t.Fatalf("sizes %v, %d rows, %v", sizes, len(rows), err)
	}
}

func TestCSVErrorsAfterSoundRecordsStay(t *testing.T) {
	path := writeFile(t, "a.csv", []byte("a\n1\n2\nx\ny\nz\n"))
	r, err := Open(
		path,
		Options{BatchRows: 2, Schema: arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil)},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, err := r.Next()
	if err != nil || rec.NumRows() != 2 {
		t.Fatalf("first record: %v", err)
	}
	rec.Release()
	if rec, err = r.Next(); err != nil || rec.Column(0).NullN() != 2 {
		t.Fatalf("second record: %v", err)
	}
	rec.Release()
	for range 2 {
		_, err = r.Next()
		wantError(t, err, path, 4, "\"x\" is not a whole number (int64), as 3 of the 5 fields are not")
	}
}

// Words for missing values are counted in columns of text, and read as text where Options.Words has
// them.
func TestCSVWordsForMissingValues(t *testing.T) {
	path := writeFile(t, "rows.csv", []byte("x,y\n1,None\nNA,a\n3,None\n4,\n5,NA\n"))
	r, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := fmt.Sprint(r.NullWords()); got != "[{y None 2 1} {y NA 1 1}]" {
		t.Errorf("words %s", got)
	}
	_, rows := mustDrain(t, path, Options{Words: map[string][]string{"y": {"None"}}})
	equalLines(t, rows, []string{"1|None", "(null)|a", "3|None", "4|(null)", "5|(null)"})
}
