package encoder

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"pgregory.net/rapid"
)

// newInt64s returns an array of a type of 64-bit numbers.
func newInt64s(t testing.TB, dt arrow.DataType, values ...int64) arrow.Array {
	t.Helper()
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	data := b.NewArray().Data()
	return array.MakeFromData(array.NewData(dt, data.Len(), data.Buffers(), nil, 0, 0))
}

func TestDecimalsAndDurationsAreNumbers(t *testing.T) {
	cases := []struct {
		dt     arrow.DataType
		values []any
		want   []float64
	}{
		{
			&arrow.Decimal128Type{Precision: 38, Scale: 30},
			[]any{"1.1", "0.000000000000000000000000000001", nil},
			[]float64{1.1, 1e-30},
		},
		{
			&arrow.Decimal256Type{Precision: 60, Scale: 5},
			[]any{"123456789012345678901234567890.5", "-2.5", nil},
			[]float64{123456789012345678901234567890.5, -2.5},
		},
	}
	for _, c := range cases {
		loaded := make([]float64, len(c.values))
		a := col(t, "amount", c.dt, c.values...).values
		loadNumbers(loaded, a, picked{n: len(c.values)})
		if !slices.Equal(loaded[:len(c.want)], c.want) {
			t.Errorf("%s: %v, want %v", c.dt, loaded, c.want)
		}
		e, report := calibrated(t, options(), record(t, column{"amount", a}))
		if e.Columns[0].Kind != Numeric || report.Columns[0].Type != c.dt.String() {
			t.Errorf("%s: %+v, %+v", c.dt, e.Columns[0], report.Columns[0])
		}
	}
	for unit, per := range map[arrow.TimeUnit]int64{
		arrow.Second:      1,
		arrow.Millisecond: 1e3,
		arrow.Microsecond: 1e6,
		arrow.Nanosecond:  1e9,
	} {
		a := newInt64s(t, &arrow.DurationType{Unit: unit}, 90*per, -per/2)
		loaded := make([]float64, 2)
		loadNumbers(loaded, a, picked{n: 2})
		if want := -float64(per/2) / float64(per); loaded[0] != 90 || loaded[1] != want {
			t.Errorf("%v: %v", unit, loaded)
		}
	}
}

func TestDecimalIsTheNearestNumber(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		digits, scale := rapid.Int64().Draw(r, "digits"), rapid.Int32Range(0, 30).Draw(r, "scale")
		builder := array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 38, Scale: scale})
		defer builder.Release()
		builder.Append(decimal128.FromI64(digits))
		written := fmt.Sprintf("%de-%d", digits, scale)
		want, err := strconv.ParseFloat(written, 64)
		if err != nil {
			r.Fatal(err)
		}
		got := make([]float64, 1)
		loadNumbers(got, builder.NewArray(), picked{n: 1})
		if got[0] != want {
			r.Fatalf("%s is %v, want %v", written, got[0], want)
		}
	})
}

func TestMissingIndicator(t *testing.T) {
	const rows = 200
	some := func(every int, f func(i int) any) []any {
		return sequence(rows, func(i int) any {
			if i%every == 0 {
				return nil
			}
			return f(i)
		})
	}
	number := func(i int) any { return float64(i % 7) }
	rec := record(t, col(t, "often", f64, some(10, number)...), col(t, "once", f64, some(rows, number)...), col(
		t,
		"edge", f64, some(rows/2, number)...,
	),
		col(t, "flag", flags, some(10, func(i int) any { return i%3 == 0 })...), col(
			t,
			"word",
			text,
			some(10, func(i int) any { return fmt.Sprint("w", i%3) })...,
		),
		col(t, "v", list(2, f64), some(10, func(int) any { return []any{1, 2} })...))
	o := Options{Clip: 5}
	e, report := calibrated(t, o, rec)
	want := []string{
		"often", "often, missing", "once", "edge", "flag", "flag, missing", "word=w0", "word=w1", "word=w2",
		"word, missing", "v[0]", "v[1]",
	}
	if !slices.Equal(e.FeatureNames(), want) {
		t.Errorf("dimensions %v, want %v", e.FeatureNames(), want)
	}
	if got := report.Columns[0].Missing; got != 0.1 {
		t.Errorf("missing %v", got)
	}
	rows2 := encoded(t, e, record(t, col(
		t,
		"often", f64, nil, math.NaN(), 3,
	), col(t, "once", f64, nil, 1, 1), col(t, "edge", f64, 1, 1, 1),
		col(t, "flag", flags, nil, true, true), col(t, "word", text, nil, "w1", "w9"), col(
			t,
			"v", list(2, f64), nil, []any{1, math.NaN()}, []any{1, 2},
		)))
	mean := float32(e.Columns[3].Mean[0])
	for i, want := range [][]float32{
		{0, 1, mean, 1, 0, 0, 0, 1},
		{0, 1, 1, 0, 0, 1, 0, 0},
		{rows2.X[24], 0, 1, 0, 0, 0, 0, 0},
	} {
		x := rows2.X[i*e.Dim:]
		if got := slices.Concat(x[:2], x[4:10]); !slices.Equal(got, want) {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}
	if c := rows2.Counts; c.Imputed != 4+2+1+1 || c.UnseenCategory != 1 {
		t.Errorf("counts %+v", c)
	}
	o.MissingIndicator = 1
	if e, _ := calibrated(t, o, rec); e.Dim != 9 {
		t.Errorf("never: dimensions %v", e.FeatureNames())
	}
	o.MissingIndicator, o.Standardize = 0.05, StandardizeAll
	e, _ = calibrated(t, o, rec)
	if c := e.Columns[0]; math.Abs(c.Mean[1]-0.1) > 1e-15 || math.Abs(c.Scale[1]-0.3) > 1e-15 {
		t.Errorf("column %+v", c)
	}
}

func TestCommonestCategories(t *testing.T) {
	// b 3 times, a and c twice each, d once.
	rec := record(t, col(t, "c", text, "c", "b", "a", "d", "b", "c", nil, "a", "b"))
	o := options()
	for most, want := range map[int][]string{1: {"b"}, 2: {"a", "b"}, 3: {"a", "b", "c"}, 4: {"a", "b", "c", "d"}} {
		o.MaxCategories = most
		e, report := calibrated(t, o, rec)
		c, use := e.Columns[0], report.Columns[0]
		if !slices.Equal(c.Categories, want) || c.Other != (most < 4) {
			t.Errorf("%d: %v, other %v, want %v", most, c.Categories, c.Other, want)
		}
		if others := map[int]float64{1: 5, 2: 3, 3: 1, 4: 0}[most] / 9; use.Distinct != 4 || use.Kept != most ||
			math.Abs(use.Other-others) > 1e-15 {
			t.Errorf("%d: %+v", most, use)
		}
	}
	o.MaxCategories = 2
	e, _ := calibrated(t, o, rec)
	rows := encoded(t, e, record(t, col(t, "c", dict, "a", "c", "new", nil)))
	if want := []float32{
		1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0,
	}; !slices.Equal(rows.X, want) || rows.Counts.UnseenCategory != 2 {
		t.Errorf("x %v, counts %+v", rows.X, rows.Counts)
	}
	if want := []string{"c=a", "c=b", "c, other"}; !slices.Equal(e.FeatureNames(), want) {
		t.Errorf("names %v", e.FeatureNames())
	}
}

// Values that cannot be categories, because they are too long or not text, are other values.
func TestRareAndLongValuesAreOther(t *testing.T) {
	long := strings.Repeat("x", MaxCategoryBytes+1)
	e, report := calibrated(t, options(), record(t, col(t, "c", text, "a", "a", "a", long, "\xff", "a", nil)))
	if c := e.Columns[0]; !slices.Equal(c.Categories, []string{"a"}) || !c.Other {
		t.Errorf("column %+v", c)
	}
	if use := report.Columns[0]; use.Distinct != 3 || use.Other != 2.0/7 {
		t.Errorf("use %+v", use)
	}
	if rows := encoded(t, e, record(t, col(t, "c", text, long, "a"))); !slices.Equal(rows.X, []float32{0, 1, 1, 0}) {
		t.Errorf("x %v", rows.X)
	}
}

func TestReportOnStrings(t *testing.T) {
	const rows = 400
	word := func(format string, many int) func(i int) any {
		return func(i int) any { return fmt.Sprintf(format, i%many) }
	}
	cases := map[string]struct {
		value func(i int) any
		kind  Kind
		want  string
	}{
		"categories": {word("w%d", 7), Category, ""},
		"many":       {word("w%d", 60), Category, "the 50 commonest of 60 values"},
		"identifier": {word("u-%d", rows), "", "it looks like an identifier: 400 distinct strings in 400 values"},
		"text": {
			word("someone wrote this sentence, and it has the number %d in it", rows),
			"",
			"it holds text: 400 distinct strings in 400 values, of 59 bytes on average",
		},
		"long text": {
			word(strings.Repeat("word ", 60)+"%d", 3),
			"",
			"it holds text: 100 % of its values have more than 256 bytes",
		},
		"currency":     {word("€12.3%d", 9), Numeric, `numbers in text in "€"`},
		"thousands":    {word("1,234.%03d", rows), Numeric, `numbers in text`},
		"percent":      {word("%d %%", 9), Numeric, `numbers in text in "%"`},
		"many percent": {word("%d %%", 60), Numeric, `numbers in text in "%"`},
		"post codes":   {word("0%d", 9), Category, ""},
		"addresses":    {word("10.0.0.%d", 9), Category, ""},
		"dates":        {func(i int) any { return fmt.Sprintf("2024-01-%02d", 1+i%28) }, Time, "dates in text"},
		"times of day": {func(i int) any { return fmt.Sprintf("08:%02d", i%60) }, Clock, "times of day in text"},
	}
	for name, c := range cases {
		rec := record(
			t,
			col(t, "x", f64, sequence(rows, func(i int) any { return i * i })...),
			col(t, "c", text, sequence(rows, c.value)...),
		)
		_, report := calibrated(t, options(), rec)
		use := report.Columns[1]
		if use.Kind != c.kind || !strings.Contains(use.Reason, c.want) || c.want == "" && use.Reason != "" ||
			(use.Use == UseLeftOut) != (c.kind == "") {
			t.Errorf("%s: %+v, want %q", name, use, c.want)
		}
	}
}

// A misspelt key of JSON is a column that few rows have, which lack the one that was meant. Where
// they do not, it is a feature.
func TestAMisspeltNameIsLeftOut(t *testing.T) {
	some := func(every int, has bool) []any {
		return sequence(100, func(i int) any { return map[bool]any{has: i}[i%every == 0] })
	}
	rec := record(t, col(t, "tenure", f64, some(50, false)...), col(t, "tenurre", f64, some(50, true)...), col(
		t,
		"tenures", text, some(50, true)...,
	),
		col(
			t,
			"income",
			f64,
			sequence(100, func(i int) any { return i * i })...,
		), col(t, "income2", f64, some(50, true)...), col(t, "referral", f64, some(3, true)...))
	o := options()
	e, report := calibrated(t, o, rec)
	if want := []LeftOut{
		{
			"tenurre",
			`it looks like a misspelt "tenure": 2 % of the rows have it, and as many lack that; ` +
				`events.include (--include) overrules`,
		},
	}; !slices.Equal(report.LeftOut, want) {
		t.Errorf("left out %v", report.LeftOut)
	}
	if use := report.Columns[5]; len(e.Columns) != 5 || use.Reason != "most rows have no value in it" {
		t.Errorf("%d features, %+v", len(e.Columns), use)
	}
	o.Include = []string{"tenurre"}
	if e, _ := calibrated(t, o, rec); len(e.Columns) != 6 {
		t.Errorf("features %v", e.FeatureNames())
	}
}

func TestReportNamesEveryColumn(t *testing.T) {
	rec := record(t, col(t, "x", f64, 1, 2, nil, 4), col(t, "y", text, "u", "v", nil, "u"), col(
		t,
		"key", text, "k", "l", "m", "n",
	),
		col(t, "never", i64, 1, 2, 3, 4), col(
			t,
			"blob", arrow.BinaryTypes.Binary, nil, nil, nil, nil,
		), col(t, "later", arrow.Null, nil, nil, nil, nil),
		col(t, "coded", dict, "p", "p", "q", "p"))
	next := record(
		t,
		col(t, "x", f64, 1), col(t, "y", text, "u"), col(t, "later", flags, true), col(t, "coded", dict, "p"),
	)
	o := options("y")
	o.Passthrough, o.Exclude = []string{"key"}, []string{"never"}
	_, report := calibrated(t, o, rec, next)
	want := []ColumnUse{
		{Column: "x", Type: "float64", Use: UseFeature, Kind: Numeric, Dims: 1, Missing: 0.2},
		{Column: "y", Type: "utf8", Use: UseLabel, Missing: 0.2},
		{Column: "key", Type: "utf8", Use: UsePassthrough},
		{Column: "never", Type: "int64", Use: UseExcluded},
		{Column: "blob", Type: "binary", Use: UseLeftOut, Reason: "its type binary cannot be read"},
		{
			Column:  "later",
			Type:    "bool",
			Use:     UseFeature,
			Kind:    Bool,
			Dims:    1,
			Missing: 0.8,
			Reason:  "most rows have no value in it",
		},
		{Column: "coded", Type: "utf8", Use: UseFeature, Kind: Category, Dims: 2, Distinct: 2, Kept: 2},
	}
	for i, use := range report.Columns {
		use.Missing = math.Round(use.Missing*1e9) / 1e9
		if use.Column != "blob" && use != want[i] {
			t.Errorf("column %+v, want %+v", use, want[i])
		}
	}
	if len(report.Columns) != len(want) || report.Columns[4].Use != UseLeftOut {
		t.Errorf("columns %+v", report.Columns)
	}
}

// Values from a text format may stand for those of another kind, and words such as n/a for missing
// ones. Without the mark they are of another kind.
func TestStringsOfATextFormat(t *testing.T) {
	e, _ := calibrated(
		t,
		Options{Label: []string{"y"}},
		record(
			t,
			col(t, "n", f64, 1, nil, 3),
			col(t, "i", i64, 1, 2, 3),
			col(t, "b", flags, true, false, nil),
			col(t, "y", f64, 1, 2, 3),
		),
	)
	values := []column{
		col(t, "n", text, "2", "1e1", "n/a", nil, "NaN", " 3 "), col(t, "i", dict, "3", "1", "1", "1", "1", "1"),
		col(t, "b", text, "true", "False", "?", nil, "true", "false"), col(t, "y", text, "2", "", "3", "1", "1", nil),
	}
	plain := record(t, values...)
	if err := e.Check(plain.Schema()); err == nil || !strings.Contains(err.Error(), `column "n" is utf8, want numeric`) {
		t.Errorf("error %v", err)
	}
	marked := withTextFields(plain)
	rows := encoded(t, e, marked)
	same := encoded(t, e, record(t, col(t, "n", f64, 2, 10, nil, nil, nil, 3), col(t, "i", i64, 3, 1, 1, 1, 1, 1),
		col(t, "b", flags, true, false, nil, nil, true, false), col(t, "y", f64, 2, nil, 3, 1, 1, nil)))
	if diff := sameRows(rows, same); diff != "" {
		t.Errorf("differ:\n%s", diff)
	}
	words, _ := calibrated(t, options(), record(t, col(t, "c", text, "7", "2.5", "true", "7", "2.5", "true")))
	for _, numbers := range []column{
		col(t, "c", f32, 7, 2.5, nil),
		col(t, "c", i64, 7, 8, 9),
		col(t, "c", flags, true, false, nil),
	} {
		if err := words.Check(record(t, numbers).Schema()); err == nil {
			t.Errorf("%v stand for strings", numbers.values)
		}
		rows := encoded(t, words, withTextFields(record(t, numbers)))
		want := map[arrow.Type][]float32{
			arrow.FLOAT32: {0, 1, 0, 1, 0, 0, 0, 0, 0},
			arrow.INT64:   {0, 1, 0, 0, 0, 0, 0, 0, 0},
			arrow.BOOL:    {0, 0, 1, 0, 0, 0, 0, 0, 0},
		}
		if !slices.Equal(rows.X, want[numbers.values.DataType().ID()]) {
			t.Errorf("%v is %v", numbers.values, rows.X)
		}
	}
	c := NewCalibrator(Options{})
	for _, rec := range []arrow.Record{
		record(t, col(t, "n", f64, 1, 2)),
		withTextFields(record(t, col(t, "n", text, "3", "x"))),
	} {
		if err := c.Add(rec); err != nil {
			t.Fatal(err)
		}
	}
	if learned, report, err := c.Encoder(); err != nil || learned.Columns[0].Mean[0] != 2 ||
		report.Columns[0].Missing != 0.25 {
		t.Errorf("%+v, %+v, %v", learned, report, err)
	}
}

// TestTextsOfAnotherKindAreRejected: the row of a text that is no value of its column is rejected,
// by features and labels of all kinds, in slices of the record too.
func TestTextsOfAnotherKindAreRejected(t *testing.T) {
	times := []any{"2024-01-01", "2024-03-02", "2024-05-03"}
	e, _ := calibrated(t, Options{Label: []string{"y"}}, record(t, col(t, "n", f64, 1, 2, 3),
		col(t, "b", flags, true, false, true), col(t, "at", text, times...), col(t, "y", f64, 1, 2, 3)))
	rec := withTextFields(record(t,
		col(t, "n", text, "1", "many", "2", "3", "4", "true"),
		col(t, "b", text, "true", "true", "yes", "false", "1", "true"),
		col(t, "at", text, "2024-02-03", nil, nil, "soon", "2024-02-03", "n/a"),
		col(t, "y", text, "x", "1", "2", "3", "4", nil)))
	want := []Rejection{
		{0, WrongKind, true}, {1, WrongKind, true}, {2, WrongKind, true}, {3, WrongKind, true}, {4, WrongKind, true},
		{5, WrongKind, false},
	}
	if rows := encoded(t, e, rec); !slices.Equal(rows.Rejected, want) || rows.N != 0 {
		t.Errorf("rejected %v, want %v", rows.Rejected, want)
	}
	part := rec.NewSlice(2, 5)
	defer part.Release()
	for i := range want {
		want[i].Row -= 2
	}
	if rows := encoded(t, e, part); !slices.Equal(rows.Rejected, want[2:5]) {
		t.Errorf("of a slice: rejected %v, want %v", rows.Rejected, want[2:5])
	}
}

// withTextFields marks every field of a record as read from a text format.
func withTextFields(rec arrow.Record) arrow.Record {
	fields := slices.Clone(rec.Schema().Fields())
	for i := range fields {
		fields[i].Metadata = arrow.NewMetadata([]string{TextField}, []string{"json"})
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), rec.Columns(), rec.NumRows())
}

// Counts of a sketch are exact while there is room, and never off by more than it says.
func TestTextSketchKeepsItsBound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		limit := rapid.IntRange(1, 20).Draw(r, "limit")
		n, seed := rapid.IntRange(1, 2000).Draw(r, "values"), rapid.Uint64().Draw(r, "seed")
		many := rapid.IntRange(1, 60).Draw(r, "distinct")
		random := rand.New(rand.NewPCG(seed, 1))
		s, exact := newTextSketch(limit), map[string]int64{}
		for range n {
			v := fmt.Sprint("v", int(float64(many)*math.Pow(random.Float64(), 3)))
			s.see(v)
			exact[v]++
		}
		if s.approximate() && len(exact) <= limit || s.distinct() != int64(min(len(exact), limit)) {
			r.Fatalf("%d distinct values, %d in the sketch of %d", len(exact), s.distinct(), limit)
		}
		if s.lost > int64(n)/int64(limit+1) || len(s.rows) > limit || len(s.hashes.seen) > limit {
			r.Fatalf("lost %d of %d, %d counts", s.lost, n, len(s.rows))
		}
		for v, was := range exact {
			if got := s.count(v); got > was || got < was-s.lost {
				r.Fatalf("%s is counted %d times, was there %d times, %d are lost", v, got, was, s.lost)
			}
		}
	})
}

func TestApproximateCountsAreReported(t *testing.T) {
	o := options()
	o.MaxCategories = 2
	values := sequence(3*maxSketchTexts, func(i int) any {
		if i%2 == 0 {
			return "often"
		}
		return fmt.Sprint("once", i)
	})
	_, report := calibrated(t, o, record(t, col(t, "c", text, values...)))
	use := report.Columns[0]
	if use.Distinct != maxSketchTexts || !strings.Contains(
		use.Reason,
		"more than 8192 values, counted approximately",
	) || use.Kept != 2 {
		t.Errorf("use %+v", use)
	}
}
