package encoder

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/scoring"
)

// sequence returns n values of f.
func sequence(n int, f func(i int) any) []any {
	values := make([]any, n)
	for i := range values {
		values[i] = f(i)
	}
	return values
}

func TestCalibrationOfEveryKind(t *testing.T) {
	rec := record(t,
		col(t, "n", f64, 1, nil, 3, 5), col(t, "b", flags, true, false, nil, false), col(t, "c", dict, "v", "u", nil, "v"),
		col(t, "v", list(2, f32), []any{1, 7}, nil, []any{3, nil}, []any{2, 7}), col(t, "id", text, "k", "l", "m", "n"),
		col(t, "y", f64, 1, 2, 3, nil))
	o := options("y")
	o.Passthrough = []string{"id"}
	e, report := calibrated(t, o, rec)
	want := &Encoder{
		Columns: []Column{
			{
				Name: "n", Kind: Numeric, Width: 1, Mean: []float64{3}, Scale: []float64{math.Sqrt(8.0 / 3)},
				Low: []float64{0}, High: []float64{6},
			},
			{Name: "b", Kind: Bool, Width: 1, Mean: []float64{1.0 / 3}},
			{Name: "c", Kind: Category, Width: 2, Categories: []string{"u", "v"}},
			{
				Name: "v", Kind: Vector, Width: 2, Mean: []float64{2, 7}, Scale: []float64{math.Sqrt(2.0 / 3), 1},
				Low: []float64{0.5, 7}, High: []float64{3.5, 7},
			},
		},
		Clip: 5, Tail: TailLog, Standardize: StandardizeNumeric, Passthrough: []string{"id"}, Dim: 6,
		Label: &Label{Columns: []string{"y"}, Kind: Numeric, Task: scoring.Regression, Mean: []float64{2}},
	}
	if got, want := canonical(t, e), canonical(t, want); got != want {
		t.Errorf("encoder\n%s, want\n%s", got, want)
	}
	if report.Rows != 4 || report.Labelled != 3 || !slices.Equal(
		report.Constant,
		[]string{"v[1]"},
	) || len(report.LeftOut)+len(report.Warnings) != 0 {
		t.Errorf("report %+v", report)
	}
}

func TestColumnsLeftOutByDefault(t *testing.T) {
	const rows = 200
	long := strings.Repeat("x", MaxCategoryBytes+1)
	columns := []column{
		col(t, "keep", f64, sequence(rows, func(i int) any { return float64(i) / 2 })...),
		col(t, "id", i64, sequence(rows, func(i int) any { return 1<<60 + i })...),
		col(t, "count", i64, sequence(rows, func(i int) any { return i * 95 / 100 })...),
		col(t, "name", text, sequence(rows, func(i int) any { return fmt.Sprint("n", i) })...),
		col(t, "edge", text, sequence(rows, func(i int) any { return fmt.Sprint("n", i%100) })...),
		col(t, "prose", text, sequence(rows, func(int) any { return long })...),
		col(t, "none", f64, sequence(rows, func(int) any { return nil })...),
		col(t, "nothing", arrow.Null, sequence(rows, func(int) any { return nil })...),
		col(t, "broken", f64, sequence(rows, func(int) any { return math.NaN() })...),
		col(t, "bytes", text, sequence(rows, func(int) any { return "\xff" })...),
		col(t, "day", arrow.FixedWidthTypes.Date32, sequence(rows, func(int) any { return nil })...),
		col(t, "binary", arrow.BinaryTypes.Binary, sequence(rows, func(int) any { return nil })...),
		col(t, "two", f64, sequence(rows, func(i int) any { return i })...),
		col(t, "two", f64, sequence(rows, func(i int) any { return i })...),
		col(t, "dropped", f64, sequence(rows, func(i int) any { return i })...),
	}
	o := options()
	o.Exclude = []string{"dropped", "absent"}
	e, report := calibrated(t, o, record(t, columns...))
	var kept []string
	for _, c := range e.Columns {
		kept = append(kept, c.Name)
	}
	if want := []string{"keep", "count", "edge"}; !slices.Equal(kept, want) {
		t.Errorf("kept %v, want %v", kept, want)
	}
	reasons := map[string]string{
		"id": "identifier: 200 distinct whole numbers " +
			"in 200", "name": "identifier: 200 distinct strings in 200", "prose": "more than 256 bytes",
		"none": "no value", "nothing": "no value", "broken": "no finite value", "bytes": "valid UTF-8",
		"day": "no value", "binary": "type binary", "two": "2 columns have this name",
	}
	for _, l := range report.LeftOut {
		if want, ok := reasons[l.Column]; !ok || !strings.Contains(l.Reason, want) {
			t.Errorf("%s left out: %q, want %q", l.Column, l.Reason, want)
		}
		delete(reasons, l.Column)
	}
	if len(reasons) > 0 {
		t.Errorf("not left out: %v", reasons)
	}
	if report.NonFinite != rows || len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0], `"absent"`) {
		t.Errorf("non-finite %d, warnings %v", report.NonFinite, report.Warnings)
	}
}

// customers are n rows of customers who come two to five times each, in any order.
func customers(n int) []int {
	r := rand.New(rand.NewPCG(1, 2))
	var all []int
	for c := 0; len(all) < n; c++ {
		for range 2 + r.IntN(4) {
			all = append(all, c)
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:n]
}

func TestIdentifiersThatRepeat(t *testing.T) {
	const rows = 5000
	who, r := customers(rows), rand.New(rand.NewPCG(3, 4))
	name := func(format string) []any {
		return sequence(rows, func(i int) any { return fmt.Sprintf(format, who[i]*7919%100000) })
	}
	zipf := rand.NewZipf(r, 1.2, 1, 1<<20)
	rec := record(t,
		col(t, "customerID", text, name("%05d-ABCDE")...),
		// a category with effects: its name suggests no identifier
		col(t, "visitor", text, name("v%d")...),
		// no more than these
		col(t, "regular_id", text, sequence(rows, func(int) any { return fmt.Sprint("r", r.IntN(rows/12)) })...),
		col(t, "shop", text, sequence(rows, func(int) any { return fmt.Sprint("s", r.IntN(rows/12)) })...),
		// endless, yet some are common
		col(t, "street", text, sequence(rows, func(int) any { return fmt.Sprint("road ", zipf.Uint64()) })...),
		col(t, "user_id", i64, sequence(rows, func(i int) any { return 1000 + who[i] })...),
		col(t, "account id", f64, sequence(rows, func(i int) any { return 1000 + who[i] })...), // as in JSON
		col(t, "cents", i64, sequence(rows, func(i int) any { return 100 + who[i] })...),
		col(t, "euros", f64, sequence(rows, func(i int) any { return i * i })...),
		col(t, "zone_id", i64, sequence(rows, func(i int) any { return i % 265 })...),
		col(t, "paid", f64, sequence(rows, func(i int) any { return who[i] })...),
	)
	e, report := calibrated(t, Options{Clip: 5}, rec)
	var left []string
	for _, l := range report.LeftOut {
		left = append(left, l.Column)
	}
	if want := []string{"customerID", "user_id", "account id"}; !slices.Equal(left, want) {
		t.Errorf("left out %v, want %q", report.LeftOut, want)
	}
	if len(e.Columns) != 8 {
		t.Errorf("features %v", e.FeatureNames())
	}
	included, _ := calibrated(t, Options{Clip: 5, Include: []string{"customerID"}}, rec)
	if included.Columns[0].Name != "customerID" {
		t.Errorf("features %v", included.FeatureNames())
	}
}

// Of 2000 rows of a million nearly all amounts differ, although each occurs twenty times: the few
// pairs tell.
func TestRepeatedValuesOfASampleAreNoIdentifier(t *testing.T) {
	const rows, population = 2000, 1_000_000
	r := rand.New(rand.NewPCG(5, 6))
	rec := record(t,
		col(t, "amount", i64, sequence(rows, func(int) any { return r.IntN(population / 20) })...),
		col(t, "number", i64, sequence(rows, func(i int) any { return i * 500 })...),
		col(t, "row", text, sequence(rows, func(i int) any { return fmt.Sprint("r", i*500) })...),
		col(t, "town", text, sequence(rows, func(int) any { return fmt.Sprint("t", r.IntN(population/20)) })...),
	)
	for _, c := range []struct {
		of   int64
		want []string
	}{
		{0, []string{"number", "row", "town"}},          // these rows are all
		{population, []string{"number", "row", "town"}}, // new towns keep coming
	} {
		learn := NewCalibrator(Options{Clip: 5, Features: nil})
		if err := learn.Add(rec); err != nil {
			t.Fatal(err)
		}
		learn.SampledFrom(c.of)
		_, report, err := learn.Encoder()
		if err != nil && c.of > 0 {
			t.Fatal(err)
		}
		var left []string
		for _, l := range report.LeftOut {
			left = append(left, l.Column)
		}
		if !slices.Equal(left, c.want) {
			t.Errorf("of %d rows: left out %v, want %v", c.of, report.LeftOut, c.want)
		}
	}
}

func TestFewOrFloatingDistinctNumbersAreNoIdentifier(t *testing.T) {
	few := record(t, col(t, "id", i64, sequence(99, func(i int) any { return i })...))
	if e, _ := calibrated(t, options(), few); e.Dim != 1 {
		t.Errorf("99 rows: dim %d", e.Dim)
	}
	whole := record(t, col(t, "id", i64, sequence(200, func(i int) any { return i })...))
	floats := record(t, col(t, "id", f64, sequence(200, func(i int) any { return float64(i) / 2 })...))
	if e, _ := calibrated(t, options(), whole, floats); e.Dim != 1 {
		t.Errorf("whole numbers, then floats: dim %d", e.Dim)
	}
}

func TestNamedFeaturesEscapeTheRulesOfThumb(t *testing.T) {
	rec := record(t, col(
		t,
		"id",
		i64,
		sequence(200, func(i int) any { return i })...,
	), col(t, "x", f64, sequence(200, func(i int) any { return i })...),
		col(
			t,
			"name",
			text,
			sequence(200, func(i int) any { return fmt.Sprint("n", i) })...,
		), col(t, "none", f64, sequence(200, func(int) any { return nil })...))
	o := options()
	o.Features = []string{"x", "none", "id"}
	e, report := calibrated(t, o, rec)
	if len(e.Columns) != 2 || e.Columns[0].Name != "x" || e.Columns[1].Name != "id" {
		t.Errorf("columns %+v", e.Columns)
	}
	if len(report.LeftOut) != 1 || report.LeftOut[0].Column != "none" {
		t.Errorf("left out %v", report.LeftOut)
	}
	o.Features = []string{"name"}
	e, _ = calibrated(t, o, rec)
	if names := e.Columns[0]; len(names.Categories) != DefaultMaxCategories || !names.Other {
		t.Errorf("column %+v", names)
	}
}

func TestCalibrationErrors(t *testing.T) {
	x := col(t, "x", f64, 1, 2, 3)
	cases := map[string]struct {
		change  func(o *Options)
		columns []column
		want    string
	}{
		"missing feature": {
			func(o *Options) { o.Features = []string{"x", "z"} },
			[]column{x},
			`no feature column "z"; the columns are x`,
		},
		"unreadable feature": {
			func(o *Options) { o.Features = []string{"d"} },
			[]column{x, col(t, "d", arrow.BinaryTypes.Binary, nil, nil, nil)},
			`feature column "d": its type binary`,
		},
		"missing label": {
			func(o *Options) { o.Label = []string{"y"} },
			[]column{x},
			`label column "y" is in none of the calibration records; the columns are x`,
		},
		"no rows": {nil, []column{col(t, "x", f64)}, "no calibration rows"},
		"no feature": {
			func(o *Options) { o.Label = []string{"x"} },
			[]column{x},
			"no feature column is left: the rows have none besides the label",
		},
		"label of null type": {
			func(o *Options) { o.Label = []string{"y"} },
			[]column{x, col(t, "y", arrow.Null, nil, nil, nil)},
			"0 labelled calibration rows",
		},
		"one label": {
			func(o *Options) { o.Label = []string{"y"} },
			[]column{x, col(t, "y", f64, nil, 1, math.NaN())},
			"1 labelled calibration rows",
		},
		"two string labels": {
			func(o *Options) { o.Label = []string{"y", "z"} },
			[]column{x, col(t, "y", text, "a", "b", "c"), col(t, "z", text, "a", "b", "c")},
			`label column "z" is utf8, want numeric`,
		},
		"two class columns": {
			func(o *Options) { o.Label, o.Task = []string{"y", "z"}, TaskClassification },
			[]column{x},
			"classification takes one",
		},
		"class no number": {
			func(o *Options) { o.Label, o.Classes = []string{"y"}, []string{"a", "b"} },
			[]column{x, col(t, "y", i64, 1, 2, 3)},
			`class "a" is not a number`,
		},
		"class no boolean": {
			func(o *Options) { o.Label, o.Classes = []string{"y"}, []string{"0", "1"} },
			[]column{x, col(t, "y", flags, true, true, false)},
			`class "0" is neither false nor true`,
		},
		"classes alike": {
			func(o *Options) { o.Label, o.Classes = []string{"y"}, []string{"1", "1.0"} },
			[]column{x, col(t, "y", i64, 1, 1, 1)},
			`classes names "1" twice`,
		},
		"classes unseen": {
			func(o *Options) { o.Label, o.Classes = []string{"y"}, []string{"a", "b"} },
			[]column{x, col(t, "y", text, "c", "c", "d")},
			"3 rows have a class that is not among the configured a, b",
		},
		"bounds of classes": {
			func(o *Options) { o.Label, o.LabelMin = []string{"y"}, pointer(0) },
			[]column{x, col(t, "y", text, "c", "c", "d")},
			"events.label_min and events.label_max are for regression",
		},
		"class beyond 2^53": {
			func(o *Options) { o.Label, o.Task = []string{"y"}, TaskClassification },
			[]column{x, col(t, "y", i64, 1, 2, 1<<53+1)},
			"cannot be told apart",
		},
		"too many classes": {
			func(o *Options) { o.Label, o.Task = []string{"y"}, TaskClassification },
			[]column{
				col(t, "x", f64, sequence(1025, func(i int) any { return i })...),
				col(t, "y", i64, sequence(1025, func(i int) any { return i })...),
			},
			"looks like an identifier",
		},
		"too large to be kept": {
			func(o *Options) { o.Standardize = StandardizeNone },
			[]column{col(t, "x", f64, 1e18, 1e18, 1e18)},
			"standardize the column or leave it out",
		},
		"label as a feature": {
			func(o *Options) { o.Label, o.Features = []string{"x"}, []string{"x"} },
			[]column{x},
			"columns both in label and features: x",
		},
		"too wide": {nil, []column{col(t, "v", list(MaxDim+1, f32), nil)}, "more than 65536 dimensions"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := options()
			if c.change != nil {
				c.change(&o)
			}
			calibrator := NewCalibrator(o)
			added := calibrator.Add(record(t, c.columns...))
			e, _, err := calibrator.Encoder()
			if e != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("encoder %v, error %v, want %q", e, err, c.want)
			}
			if added != nil && calibrator.Rows() != 0 {
				t.Errorf("%d rows of a refused record", calibrator.Rows())
			}
		})
	}
}

func TestRefusedRecordTeachesNothing(t *testing.T) {
	good := record(t, col(t, "x", f64, 1, 2, 4), col(t, "s", text, "a", "b", "a"), col(t, "y", f64, 1, 2, 3))
	bad := []arrow.Record{
		record(t, col(t, "x", f64, 100), col(t, "y", f64, 1)),
		record(t, col(t, "x", text, "7"), col(t, "s", text, "a"), col(t, "y", f64, 1)),
		record(t, col(t, "x", f64, 100), col(t, "s", text, "c"), col(t, "y", flags, true)),
	}
	c := NewCalibrator(options("y"))
	for _, rec := range []arrow.Record{good, bad[0], bad[1], good, bad[2], good} {
		err := c.Add(rec)
		if (rec != good) != errors.Is(err, ErrSchema) {
			t.Errorf("record %v: error %v", rec.Schema(), err)
		}
	}
	e, _, err := c.Encoder()
	if err != nil {
		t.Fatal(err)
	}
	want, _ := calibrated(t, options("y"), good, good, good)
	if canonical(t, e) != canonical(t, want) || c.Rows() != 9 {
		t.Errorf("encoder %s, want %s", canonical(t, e), canonical(t, want))
	}
}

func TestKindComesFromTheFirstRecordWithValues(t *testing.T) {
	none := func(name string) column { return col(t, name, arrow.Null, nil, nil) }
	first := record(t, none("n"), none("s"), none("y"))
	second := record(t, col(t, "n", i64, 1, 3), col(t, "s", text, "a", nil), col(t, "y", text, "p", "q"))
	e, report := calibrated(t, options("y"), first, second, first)
	if e.Columns[0].Mean[0] != 2 || e.Columns[1].Categories[0] != "a" || e.Label.Task != scoring.Binary {
		t.Errorf("encoder %s", canonical(t, e))
	}
	if report.Rows != 6 || report.Labelled != 2 {
		t.Errorf("report %+v", report)
	}
}

func TestLabelMayBeAbsentFromSomeRecords(t *testing.T) {
	with := record(t, col(t, "x", f64, 1, 2), col(t, "y", f64, 1, 3))
	without := record(t, col(t, "x", f64, 3, 4))
	e, report := calibrated(t, options("y"), without, with, without)
	if e.Label.Mean[0] != 2 || report.Rows != 6 || report.Labelled != 2 || e.Dim != 1 {
		t.Errorf("encoder %s, report %+v", canonical(t, e), report)
	}
}

func TestClassesSeenInCalibration(t *testing.T) {
	cases := map[string]struct {
		values column
		want   []string
		task   scoring.Task
	}{
		"strings":  {col(t, "y", text, "b", "a", "c", nil), []string{"a", "b", "c"}, scoring.MultiClass},
		"booleans": {col(t, "y", flags, true, false, nil, true), []string{"false", "true"}, scoring.Binary},
		"integers": {col(t, "y", i64, 10, 9, -1, 10), []string{"-1", "9", "10"}, scoring.MultiClass},
		"floats":   {col(t, "y", f64, 1, -1, math.NaN(), nil), []string{"-1", "1"}, scoring.Binary},
		"halves":   {col(t, "y", f32, 0.1, 2.5, 1e10, 2.5), []string{"0.1", "2.5", "10000000000"}, scoring.MultiClass},
	}
	for name, c := range cases {
		o := options("y")
		o.Task = TaskClassification
		e, _ := calibrated(t, o, record(t, col(t, "x", f64, 1, 2, 3, 4), c.values))
		if !slices.Equal(e.Label.Classes, c.want) || e.Label.Task != c.task {
			t.Errorf("%s: classes %v task %v", name, e.Label.Classes, e.Label.Task)
		}
	}
}

func TestConfiguredClassesKeepTheirOrder(t *testing.T) {
	o := options("y")
	o.Classes = []string{"2.0", "1"}
	e, report := calibrated(t, o, record(t, col(t, "x", f64, 1, 2, 3), col(t, "y", i64, 1, 1, 7)))
	if !slices.Equal(e.Label.Classes, []string{"2", "1"}) || report.UnseenClass != 1 || report.Labelled != 2 {
		t.Errorf("classes %v, report %+v", e.Label.Classes, report)
	}
	if len(report.Warnings) != 2 {
		t.Errorf("warnings %v", report.Warnings)
	}
}

// A message's memory is reused for the next one: nothing learned may point into it, neither the
// first value nor a repeated one.
func TestCalibratorCopiesStrings(t *testing.T) {
	o := options("y")
	learn, counter := NewCalibrator(o), NewLabelCounter(o)
	for range 2 {
		rec := record(t, col(t, "s", text, "abc", "def", "abc"), col(t, "y", text, "no", "yes", "no"))
		if err := learn.Add(rec); err != nil {
			t.Fatal(err)
		}
		counter.Add(rec)
		for i := range 2 {
			bytes := rec.Column(i).(*array.String).ValueBytes()
			for j := range bytes {
				bytes[j] = 'z'
			}
		}
	}
	e, _, err := learn.Encoder()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(
		e.Columns[0].Categories,
		[]string{"abc", "def"},
	) || !slices.Equal(e.Label.Classes, []string{"no", "yes"}) {
		t.Errorf("categories %q, classes %q", e.Columns[0].Categories, e.Label.Classes)
	}
	if got := counter.Classes(Category); !slices.Equal(got, []string{"no", "yes"}) {
		t.Errorf("counted classes %q", got)
	}
}

func TestHugeValuesLeaveMomentsFinite(t *testing.T) {
	e, report := calibrated(t, options(), record(t, col(t, "x", f64, math.MaxFloat64, -1e140, 1e140, 1)))
	if s := e.Columns[0].Scale[0]; math.IsInf(s, 0) || report.NonFinite != 1 {
		t.Errorf("scale %v, non-finite %d", s, report.NonFinite)
	}
}

func TestValidateReportsEveryOptionFault(t *testing.T) {
	o := Options{
		Features: []string{"a", "a"}, Exclude: []string{"a"}, Task: "guess", Standardize: "some", Clip: math.NaN(),
		MaxCategories: -1, Classes: []string{"only"}, LabelMin: pointer(2), LabelMax: pointer(1), LabelTransform: "root",
	}
	err := o.Validate()
	for _, want := range []string{
		`features names "a" twice`, "exclude and features: a", `task "guess"`, `standardize "some"`,
		"clip NaN", "max_categories -1", "classes has 1 names", "label_min 2 is above label_max 1",
		`label_transform "root" is not one of none, log, log1p`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	if err := options().Validate(); err != nil {
		t.Errorf("usual options: %v", err)
	}
	if err := (Options{}).Validate(); err != nil {
		t.Errorf("zero options: %v", err)
	}
}

// TestValuesAreBoundedByCalibration checks that a far value counts as the bound, also in a column
// that calibration saw nearly constant and in one of times.
func TestValuesAreBoundedByCalibration(t *testing.T) {
	const rows = 100
	at := func(i int) any { return fmt.Sprintf("2026-01-%02dT00:00:00", 1+i%11) }
	e, _ := calibrated(t, options("y"), record(t,
		col(t, "x", f64, sequence(rows, func(i int) any { return float64(i%11) / 2 })...),
		col(t, "flat", f64, sequence(rows, func(i int) any { return 7 + float64(count(i == 50))*1e-6 })...),
		col(t, "at", text, sequence(rows, at)...),
		col(t, "y", f64, sequence(rows, func(i int) any { return i })...)))
	encode := func(x, flat float64, at string) []float32 {
		return encoded(t, e, record(t, col(t, "x", f64, x), col(t, "flat", f64, flat), col(t, "at", text, at))).X[:3]
	}
	columns := e.Columns
	if low, high := columns[0].Low[0], columns[0].High[0]; !(low > -2 && low < -1 && high > 6 && high < 7) {
		t.Errorf("bounds %v and %v of values from 0 to 5", low, high)
	}
	high := encode(columns[0].High[0], columns[1].High[0], "2026-01-13T10:00:00")
	if got := encode(1e9, 8, "2031-01-01T00:00:00"); got[0] != high[0] || got[1] != high[1] || !(got[2] < high[2]+1) {
		t.Errorf("far values %v, want about %v", got, high)
	}
	low := encode(columns[0].Low[0], columns[1].Low[0], "2025-12-30T00:00:00")
	if got := encode(-1e9, 6, "1970-01-01T00:00:00"); got[0] != low[0] || got[1] != low[1] || !(got[2] > low[2]-1) {
		t.Errorf("far values %v, want about %v", got, low)
	}
}
