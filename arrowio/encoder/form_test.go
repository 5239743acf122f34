package encoder

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// formCase is a text and its value in a form, nil for none. Python reads the same cases.
type formCase struct {
	Kind  Kind     `json:"kind"`
	Form  Form     `json:"form"`
	Text  string   `json:"text"`
	Value *float64 `json:"value"`
}

// formTexts are texts as people write them, and texts that only resemble them.
var formTexts = []string{
	"",
	" ",
	"7",
	" 7.5 ",
	"+3",
	"-.5",
	"5.",
	".",
	"-",
	"1e3",
	"1E-3",
	"2e",
	"0x1p-2",
	"1_000",
	"inf",
	"nan",
	"-0",
	"1,234",
	"1,234,567.5",
	"1.234,50",
	"1.234",
	"12,5",
	"0,234",
	"1,5,6",
	"12,34,567",
	"1 234",
	"1\u202f234,5",
	"1'234.5",
	"1234,567",
	"(1.23)",
	"($1,234.50)",
	"$(5)",
	"(5",
	"\u22121.23",
	"1.23-",
	"--5",
	"-(5)",
	"- 5",
	"$-5",
	"-$5.20",
	"€ 7,200.00",
	"7.200,00 €",
	"52k",
	"$1.2M",
	"1.5 bn",
	"3 m",
	"€ 1,5M",
	"(2k)",
	"US$12",
	"USD 12",
	"12 USD",
	"5 kg",
	"5kg",
	"12 %",
	"30 °C",
	"5'",
	"5 kg per m",
	"kg 5",
	"1st",
	"12b",
	"A12",
	"12:30",
	"10-20",
	"192.168.100.200",
	"1.2.3",
	"12/5",
	"5,",
	"5 , 3",
	"007",
	"90+",
	"<5",
	"~5",
	"5?",
	"2020-12-31",
	"31/12/2020",
	"12/31/2020",
	"2020/12/31",
	"31.12.2020",
	"31-12-2020",
	"3/4/2020",
	"03.04.20",
	"2021-1-5",
	"20201231",
	"20201231T000000",
	"20201231T153000Z",
	"20201331",
	"31/12/2020 13:00",
	"12/31/2020 01:00 PM",
	"12/31/2020 1 pm",
	"12/31/2020 12:05:09 a.m.",
	"12/31/2020 13:00 PM",
	"31 Dec 2020",
	"31-Dec-20",
	"31 December 2020",
	"Dec 31, 2020",
	"December 31 2020",
	"Thu, 31 Dec 2020 10:30:00 GMT",
	"Thursday 31. Dec 2020",
	"31 Dez 2020",
	"2020 Dec 31",
	"2020-12-31 9:30",
	"2020-12-31T09:30:15.25+02:00",
	"31/12/2020 09:30 +0100",
	"31/12/2020, 09:30",
	"31.12/2020",
	"31//12/2020",
	"1/2/3",
	"29/02/2021",
	"00/01/2020",
	"31/12/202",
	"12/2020",
	"2020",
	"soon",
	"1600000000",
	"1600000000.5",
	"1,600,000,000",
	"1600000000123",
}

// formsOfTexts are the forms under which each text is read.
var formsOfTexts = []struct {
	kind Kind
	form Form
}{
	{Numeric, Form{}}, {Numeric, Form{DecimalComma: true}}, {Numeric, Form{Unit: "kg"}},
	{Numeric, Form{Unit: "€", DecimalComma: true}}, {Numeric, Form{Unit: "$"}}, {Numeric, Form{Unit: "%"}},
	{Time, Form{}}, {Time, Form{Dates: DayFirst}}, {Time, Form{Dates: MonthFirst}}, {Time, Form{Dates: DateNumbers}},
	{Time, Form{Dates: Seconds}}, {Time, Form{Dates: Milliseconds}},
}

// TestFormsGolden pins the value of every text in every form, for Go and Python alike.
func TestFormsGolden(t *testing.T) {
	var cases []formCase
	for _, f := range formsOfTexts {
		for _, text := range formTexts {
			c := formCase{Kind: f.kind, Form: f.form, Text: text}
			read := f.form.number
			if f.kind == Time {
				read = f.form.time
			}
			if v, ok := read(text); ok {
				c.Value = &v
			}
			cases = append(cases, c)
		}
	}
	var lines []string
	for _, c := range cases {
		line, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	got := strings.Join(lines, "\n") + "\n"
	const path = "testdata/forms.jsonl"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("values of texts differ from testdata/forms.jsonl; if they should, run with -update")
	}
}

// formOf calibrates on a column of texts and returns its column and its use.
func formOf(t *testing.T, o Options, values ...any) (Column, ColumnUse) {
	t.Helper()
	noise := sequence(len(values), func(i int) any { return float64(i%17) + 0.5 })
	e, report := calibrated(t, o, record(t, col(t, "noise", f64, noise...), col(t, "c", text, values...)))
	if len(e.Columns) < 2 {
		return Column{}, report.Columns[1]
	}
	return e.Columns[1], report.Columns[1]
}

func TestFormsOfColumns(t *testing.T) {
	every := func(n int, value func(i int) string) []any { return sequence(n, func(i int) any { return value(i) }) }
	some := func(odd string, share int, value func(i int) string) []any {
		return every(400, func(i int) string {
			if i%share == 0 {
				return odd
			}
			return value(i)
		})
	}
	small := func(i int) string { return fmt.Sprint(i * i % 23) }
	date := func(format string) func(i int) string {
		return func(i int) string { return fmt.Sprintf(format, 1+i%28, 1+i%12, 2019+i%3) }
	}
	cases := map[string]struct {
		values []any
		kind   Kind
		form   Form
		note   string
	}{
		"dashes": {
			some("-", 50, small),
			Numeric,
			Form{Text: true},
			`8 of 400 values are none and count as missing: "-" in 8 rows`,
		},
		"many dashes": {some("-", 2, small), Numeric, Form{Text: true}, `"-" in 200 rows`},
		"typos": {
			some("l2", 50, small),
			Numeric,
			Form{Text: true},
			`"l2" in 8 rows; events.types (--type) overrules`,
		},
		"many typos": {some("l2", 10, small), Category, Form{}, `360 of 400 values are numbers, too few`},
		"currency": {
			every(99, func(i int) string { return fmt.Sprintf("€ %d,%03d.00", 1+i%9, i) }),
			Numeric,
			Form{Text: true, Unit: "€"},
			`in "€"`,
		},
		"negatives":   {some("(1.23)", 2, small), Numeric, Form{Text: true}, "numbers in text"},
		"minus signs": {some("\u22121.5", 2, small), Numeric, Form{Text: true}, "numbers in text"},
		"minus after": {some("1.23-", 2, small), Numeric, Form{Text: true}, "numbers in text"},
		"one unit": {
			every(400, func(i int) string { return small(i) + " kg" }),
			Numeric,
			Form{Text: true, Unit: "kg"},
			`in "kg"`,
		},
		"thousands as k": {
			some("52k", 50, func(i int) string { return fmt.Sprint(40000 + i*i%999) }),
			Numeric,
			Form{Text: true},
			"",
		},
		"a few in feet": {
			some("6 ft", 50, func(i int) string { return fmt.Sprint(150 + i*i%50) }),
			Numeric,
			Form{Text: true},
			`"6 ft" in 8 rows`,
		},
		"two units": {some("3 g", 4, func(i int) string { return small(i) + " kg" }), Category, Form{}, ""},
		"decimal commas": {
			some("1.234,5", 9, func(i int) string { return fmt.Sprintf("%d,5", i%23) }),
			Numeric,
			Form{Text: true, DecimalComma: true},
			"with decimal commas",
		},
		"thousands": {
			every(400, func(i int) string { return fmt.Sprintf("%d,%03d", 1+i%9, i) }),
			Numeric,
			Form{Text: true},
			"",
		},
		"codes": {every(400, func(i int) string { return fmt.Sprintf("%03d", i%200) }), Category, Form{}, ""},
		"long codes": {
			every(400, func(i int) string { return fmt.Sprintf("1189850876250608%04d", i%40) }),
			Category,
			Form{},
			"",
		},
		"house numbers": {
			every(400, func(i int) string { return fmt.Sprint(i%40, []string{"", "a", "b"}[i%3]) }),
			Category,
			Form{},
			"",
		},
		"booleans": {
			some("?", 30, func(i int) string { return []string{"TRUE", "False"}[i%2] }),
			Bool,
			Form{Text: true},
			"booleans in text",
		},
		"day first": {every(400, date("%02d/%02d/%d")), Time, Form{Dates: DayFirst}, "dates in text as dd/mm/yyyy"},
		"dots":      {every(400, date("%d.%d.%d")), Time, Form{Dates: DayFirst}, ""},
		"month first": {
			every(400, func(i int) string { return fmt.Sprintf("%d/%d/2020", 1+i%12, 1+i%28) }),
			Time,
			Form{Dates: MonthFirst},
			"mm/dd/yyyy",
		},
		"open": {
			every(400, func(i int) string { return fmt.Sprintf("%02d/%02d/2020", 1+i%12, 1+i%11) }),
			Time,
			Form{Dates: DayFirst},
			`every date may be either: the day is taken to be first; events.types (--type) overrules, such as "date mm/dd/yyyy"`,
		},
		"months": {
			every(400, func(i int) string { return fmt.Sprintf("%02d/01/%d", 1+i%12, 1980+i%40) }),
			Time,
			Form{Dates: MonthFirst},
			"the part that never changes is taken to be the day",
		},
		"two orders": {
			every(400, func(i int) string { return []string{"31/12/2020", "12/31/2020"}[i%2] }),
			Category,
			Form{},
			"",
		},
		"names of months": {
			every(400, func(i int) string { return fmt.Sprintf("%d Mar %d", 1+i%28, 1990+i%30) }),
			Time,
			Form{},
			"dates in text",
		},
		"compact": {
			every(400, func(i int) string { return fmt.Sprintf("2020%02d%02dT0%d3000", 1+i%12, 1+i%28, i%10) }),
			Time,
			Form{},
			"",
		},
		"with halves": {
			every(400, func(i int) string { return fmt.Sprintf("12/%d/2020 0%d:00 PM", 1+i%28, 1+i%9) }),
			Time,
			Form{Dates: MonthFirst},
			"",
		},
		"seconds": {
			every(400, func(i int) string { return fmt.Sprint(1600000000 + i*7919) }),
			Time,
			Form{Dates: Seconds},
			"as seconds since 1970",
		},
		"zones and none": {
			some("2020-01-01T10:00:00Z", 3, func(i int) string { return fmt.Sprintf("2020-01-%02d 11:00", 1+i%28) }),
			Time,
			Form{},
			"134 times have a zone and 266 have none, which count as UTC",
		},
		"dates and words": {
			some("unknown", 30, date("%02d/%02d/%d")),
			Time,
			Form{Dates: DayFirst},
			`"unknown" in 14 rows`,
		},
		"short codes": {every(400, func(i int) string { return fmt.Sprintf("Q%d", 1+i%4) }), Category, Form{}, ""},
		"addresses":   {every(400, func(i int) string { return fmt.Sprintf("10.0.0.%d", i%9) }), Category, Form{}, ""},
		"ranges": {
			every(400, func(i int) string { return fmt.Sprintf("%d-%d", i%9, i%9+5) }),
			Category,
			Form{},
			"",
		},
		"nothing but dashes": {every(400, func(i int) string { return []string{"-", "?"}[i%2] }), Category, Form{}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			column, use := formOf(t, Options{Clip: 5}, c.values...)
			if column.Kind != c.kind || column.Form != c.form || !strings.Contains(use.Reason, c.note) {
				t.Errorf("%s %+v: %s; want %s %+v: %s", column.Kind, column.Form, use.Reason, c.kind, c.form, c.note)
			}
			r := rand.New(rand.NewPCG(1, uint64(len(name))))
			shuffled := slices.Clone(c.values)
			r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if other, _ := formOf(t, Options{Clip: 5}, shuffled...); other.Kind != c.kind || other.Form != c.form {
				t.Errorf("shuffled: %s %+v", other.Kind, other.Form)
			}
		})
	}
}

// TestOneRowFollowsTheForm: a single ambiguous row is read in the form of the column.
func TestOneRowFollowsTheForm(t *testing.T) {
	for name, c := range map[string]struct {
		learned func(i int) string
		row     string
		want    float64
	}{
		"day first":   {func(i int) string { return fmt.Sprintf("%d/%d/2020", 1+i%28, 1+i%12) }, "03/04/2020", 1585872000},
		"month first": {func(i int) string { return fmt.Sprintf("%d/%d/2020", 1+i%12, 1+i%28) }, "03/04/2020", 1583280000},
		"points":      {func(i int) string { return fmt.Sprintf("%d.5 kg", i%40) }, "1,234", 1234},
		"commas":      {func(i int) string { return fmt.Sprintf("%d,5 kg", i%40) }, "1,234", 1.234},
	} {
		o := Options{Clip: 0, Standardize: StandardizeNone}
		learned := sequence(300, func(i int) any { return c.learned(i) })
		noise := sequence(300, func(i int) any { return float64(i%17) + 0.5 })
		e, _ := calibrated(t, o, record(t, col(t, "noise", f64, noise...), col(t, "c", text, learned...)))
		rows := encoded(t, e, record(t, col(t, "noise", f64, 1.0), col(t, "c", text, c.row)))
		if rows.X[1] != float32(c.want) {
			t.Errorf("%s: %v, want %v", name, rows.X[1], c.want)
		}
	}
}

// TestTimesInNumbers reads numbers that count since 1970, and whole numbers that are dates.
func TestTimesInNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		column string
		dt     arrow.DataType
		value  func(i int) any
		kind   Kind
		dates  string
	}{
		"seconds":             {"c", i64, func(i int) any { return 1600000000 + i*7919 }, Time, Seconds},
		"seconds as floats":   {"c", f64, func(i int) any { return 1600000000.5 + float64(i*7919) }, Time, Seconds},
		"milliseconds":        {"c", i64, func(i int) any { return 1600000000000 + i*7919000 }, Time, Milliseconds},
		"dates":               {"c", i64, func(i int) any { return 20200101 + i%12*100 + i%28 }, Time, DateNumbers},
		"old, named":          {"created_at", i64, func(i int) any { return 400000000 + i*7919 }, Time, Seconds},
		"old, not named":      {"c", i64, func(i int) any { return 400000000 + i*i*7919 }, Numeric, ""},
		"large amounts":       {"c", f64, func(i int) any { return 1e9 + float64(i*i)*1e6 }, Numeric, ""},
		"dates but one":       {"c", i64, func(i int) any { return 20200101 + i%12*100 + i%28 + i/299*50 }, Numeric, ""},
		"measured in dollars": {"income", i64, func(i int) any { return 15000 + i*i%135000 }, Numeric, ""},
	} {
		values := sequence(300, c.value)
		e, report := calibrated(t, Options{Clip: 5, Include: []string{}}, record(
			t,
			col(
				t,
				"noise",
				f64,
				sequence(300, func(i int) any { return float64(i%17) + 0.5 })...),
			col(t, c.column, c.dt, values...),
		))
		if len(e.Columns) != 2 || e.Columns[1].Kind != c.kind || e.Columns[1].Dates != c.dates {
			t.Errorf("%s: %+v", name, report.Columns[1])
		}
	}
}

// TestIdentifiersOfEveryType judges the same whole numbers alike in every type.
func TestIdentifiersOfEveryType(t *testing.T) {
	decimal := &arrow.Decimal128Type{Precision: 38}
	ids := func(i int) int { return 100000 + i }
	incomes := rand.New(rand.NewPCG(1, 2)).Perm(135000)
	for name, c := range map[string]struct {
		column     string
		dt         arrow.DataType
		value      func(i int) any
		identifier bool
	}{
		"integers":       {"account", i64, func(i int) any { return ids(i) }, true},
		"floats":         {"account", f64, func(i int) any { return float64(ids(i)) }, true},
		"decimals":       {"account", decimal, func(i int) any { return fmt.Sprint(ids(i)) }, true},
		"text":           {"account", text, func(i int) any { return fmt.Sprint(ids(i)) }, true},
		"text, fraction": {"account", text, func(i int) any { return fmt.Sprintf("%d.0", ids(i)) }, true},
		"twenty digits":  {"account", text, func(i int) any { return fmt.Sprintf("1189850876%010d", i*1000003) }, true},
		"long decimals":  {"account", decimal, func(i int) any { return fmt.Sprintf("1189850876%010d", i*1000003) }, true},
		"tens":           {"account", i64, func(i int) any { return 10 * ids(i) }, true},
		"random codes":   {"account", i64, func(i int) any { return 10000000 + incomes[i]*613 }, true},
		"income":         {"income", i64, func(i int) any { return 15000 + incomes[i] }, false},
		"income, float":  {"income", f64, func(i int) any { return float64(15000 + incomes[i]) }, false},
		"income, text":   {"income", text, func(i int) any { return fmt.Sprint(15000 + incomes[i]) }, false},
		"income, dec":    {"income", decimal, func(i int) any { return fmt.Sprint(15000 + incomes[i]) }, false},
		"named":          {"customer_id", i64, func(i int) any { return 15000 + incomes[i] }, true},
	} {
		values := sequence(600, c.value)
		values[3] = nil
		e, report := calibrated(t, Options{Clip: 5}, record(
			t,
			col(
				t,
				"noise",
				f64,
				sequence(600, func(i int) any { return float64(i%17) + 0.5 })...),
			col(t, c.column, c.dt, values...),
		))
		if left := len(e.Columns) == 1; left != c.identifier {
			t.Errorf("%s: %+v", name, report.Columns[1])
		}
	}
}

// TestDeclaredTypesOverrule reads columns as they are declared, whatever their rows suggest.
func TestDeclaredTypesOverrule(t *testing.T) {
	numbers := sequence(300, func(i int) any { return i % 7 })
	open := sequence(300, func(i int) any { return fmt.Sprintf("%02d/%02d/2020", 1+i%12, 1+i%11) })
	rec := record(t, col(t, "store", i64, numbers...), col(t, "opened", text, open...))
	e, report := calibrated(
		t,
		Options{Clip: 5, Types: map[string]string{"store": "category", "opened": "date mm/dd/yyyy"}},
		rec,
	)
	if len(e.Columns) != 2 || e.Columns[0].Kind != Category || e.Columns[1].Dates != MonthFirst {
		t.Fatalf("columns %+v", report.Columns)
	}
	if rows := encoded(t, e, rec); rows.Counts.Imputed != 0 || rows.X[0] != 1 {
		t.Errorf("x %v, counts %+v", rows.X[:e.Dim], rows.Counts)
	}
	if err := (Options{Types: map[string]string{"store": "datum"}}).Validate(); err == nil ||
		!strings.Contains(err.Error(), `column "store" is declared "datum", which is not one of`) {
		t.Errorf("error %v", err)
	}
}
