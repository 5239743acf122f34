package encoder

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

// countedParts counts the labels of columns y, each in its own part of a log.
func countedParts(t *testing.T, o Options, parts ...column) *LabelCounter {
	t.Helper()
	whole := NewLabelCounter(o)
	for _, values := range parts {
		rec := record(t, values)
		part := NewLabelCounter(o)
		part.Add(rec)
		rec.Release()
		whole.Merge(part)
	}
	return whole
}

// sequenceOf is n columns made from their indices.
func sequenceOf(n int, of func(i int) column) (columns []column) {
	for i := range n {
		columns = append(columns, of(i))
	}
	return columns
}

func TestLabelFaultsNameTheKeyToChange(t *testing.T) {
	classes := Options{Label: []string{"y"}, Task: TaskClassification}
	auto := Options{Label: []string{"y"}}
	cases := map[string]struct {
		options Options
		kind    Kind
		parts   []column
		want    string // "" = no fault
	}{
		"one class": {
			auto,
			Category,
			[]column{col(t, "y", text, "a", "a"), col(t, "y", text, "a", nil)},
			`label "y" has one value (a) in all 3 labelled rows: set events.label`,
		},
		"a class in each part": {auto, Category, []column{col(t, "y", text, "a", "a"), col(t, "y", text, "b")}, ""},
		"one boolean":          {auto, Bool, []column{col(t, "y", flags, true, true)}, `one value (true) in all 2`},
		"one number": {
			auto,
			Numeric,
			[]column{col(t, "y", f64, 0, 0), col(t, "y", f64, 0)},
			`label "y" has one value (0) in all 3 labelled rows: set events.label`,
		},
		"a number each part": {auto, Numeric, []column{col(t, "y", f64, 0, 0), col(t, "y", f64, 1)}, ""},
		"names": {
			auto,
			Category,
			[]column{col(t, "y", text, sequence(300, func(i int) any { return fmt.Sprint("user-", i) })...)},
			"looks like an identifier: nearly all of its first 300 values differ, such as \"user-0\": set events.label",
		},
		"names in four parts": {auto, Category, sequenceOf(4, func(part int) column {
			return col(t, "y", text, sequence(555, func(i int) any { return fmt.Sprint("user-", part, "-", i) })...)
		}), "looks like an identifier: nearly all of its first 1024 values differ"},
		"words in four parts": {auto, Category, sequenceOf(4, func(part int) column {
			return col(t, "y", text, sequence(3000, func(i int) any { return fmt.Sprint("word-", part, "-", i%600) })...)
		}), "more than 1024 different values in 12000 labelled rows"},
		"more words than may be classes": {
			Options{Label: []string{"y"}, MaxClasses: 12},
			Category,
			[]column{col(t, "y", text, sequence(400, func(i int) any { return fmt.Sprint("word", i%13) })...)},
			"label \"y\" has 13 classes in 400 labelled rows, and events.max_classes allows 12: raise it",
		},
		"more numbers than may be classes, in parts": {
			Options{Label: []string{"y"}, Task: TaskClassification, MaxClasses: 12},
			Numeric,
			sequenceOf(2, func(part int) column {
				return col(t, "y", i64, sequence(400, func(i int) any { return part*7 + i%7 })...)
			}),
			"has 14 classes in 800 labelled rows, and events.max_classes allows 12: raise it, as memory for each class " +
				"permits; set events.label (--label) to the column to predict, or events.task (--task) to regression",
		},
		"the most classes": {
			Options{Label: []string{"y"}, MaxClasses: 12},
			Category,
			[]column{col(t, "y", text, sequence(400, func(i int) any { return fmt.Sprint("word", i%12) })...)},
			"",
		},
		"more than the default": {
			auto,
			Category,
			[]column{col(t, "y", text, sequence(4000, func(i int) any { return fmt.Sprint("word", i%257) })...)},
			"has 257 classes in 4000 labelled rows, and events.max_classes allows 256",
		},
		"few names": {
			auto,
			Category,
			[]column{col(t, "y", text, sequence(99, func(i int) any { return fmt.Sprint("user-", i) })...)},
			"",
		},
		"many words": {
			auto,
			Category,
			[]column{col(t, "y", text, sequence(4000, func(i int) any { return fmt.Sprint("word", i%1300) })...)},
			"nearly all of its first 1025 values differ",
		},
		"too many words": {
			auto,
			Category,
			[]column{col(t, "y", text, sequence(9000, func(i int) any { return fmt.Sprint("word", i/3) })...)},
			"more than 1024 different values in 9000 labelled rows, such as \"word0\", too many for classes: set events.label",
		},
		"numbers as classes": {
			classes,
			Numeric,
			[]column{col(t, "y", i64, sequence(500, func(i int) any { return i * 7 })...)},
			"looks like an identifier: nearly all of its first 500 values differ, such as \"0\": set " +
				"events.label (--label) to the column to predict, or events.task (--task) to regression",
		},
		"too many numbers": {
			classes,
			Numeric,
			[]column{col(t, "y", i64, sequence(6000, func(i int) any { return i % 2000 })...)},
			"looks like an identifier",
		},
		"many numbers": {
			classes,
			Numeric,
			[]column{col(t, "y", i64, sequence(6000, func(i int) any { return i / 3 })...)},
			"more than 1024 different values in 6000 labelled rows, such as \"0\", too many for classes",
		},
		"row numbers": {
			auto,
			Numeric,
			[]column{col(t, "y", i64, sequence(1000, func(i int) any { return i + 17 })...)},
			"whole numbers from 17 to 1016 nearly all differ and count the rows",
		},
		"row numbers in parts": {
			auto,
			Numeric,
			[]column{
				col(t, "y", i64, sequence(500, func(i int) any { return 2 * i })...),
				col(t, "y", i64, sequence(500, func(i int) any { return 2*i + 1 })...),
			},
			"looks like an identifier",
		},
		"asked for": {
			Options{Label: []string{"y"}, Task: TaskRegression},
			Numeric,
			[]column{col(t, "y", i64, sequence(1000, func(i int) any { return i })...)},
			"",
		},
		"amounts": {
			auto,
			Numeric,
			[]column{col(t, "y", i64, sequence(1000, func(i int) any { return (i * 7919) % 1000003 })...)},
			"",
		},
		"fractions": {
			auto,
			Numeric,
			[]column{col(t, "y", f64, sequence(1000, func(i int) any { return float64(i) + 0.5 })...)},
			"",
		},
		"configured classes": {
			Options{Label: []string{"y"}, Classes: []string{"a", "b"}},
			Category,
			[]column{col(t, "y", text, "a", "a")},
			"",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := countedParts(t, c.options, c.parts...).Fault(c.kind)
			var fault *LabelError
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &fault) ||
				!strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestLabelTypesThatCannotBePredicted(t *testing.T) {
	cases := map[string]struct {
		task string
		y    column
		want string
	}{
		"a time": {
			TaskAuto,
			col(t, "y", arrow.FixedWidthTypes.Timestamp_us, nil),
			`label "y" cannot be used: label column "y" is timestamp[us, tz=UTC], a date or a time: set events.label`,
		},
		"a day": {TaskClassification, col(t, "y", arrow.FixedWidthTypes.Date32, nil), "is date32, a date or a time"},
		"a vector": {
			TaskAuto,
			col(t, "y", list(3, f32), nil),
			"a vector: want numbers, booleans or strings; set events.label",
		},
		"a list": {TaskAuto, col(t, "y", arrow.ListOf(f64), nil), "want numbers, booleans or strings; set events.label"},
		"none":   {TaskAuto, col(t, "z", text, "a"), ""},
		"null":   {TaskAuto, col(t, "y", text, nil), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := countedParts(t, Options{Label: []string{"y"}, Task: c.task}, c.y).Unusable()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestNumbersThatMayBeClassesAreNamed(t *testing.T) {
	grades := func(n, of int) column {
		return col(t, "y", i64, sequence(n, func(i int) any { return i % of })...)
	}
	cases := map[string]struct {
		task  string
		parts []column
		want  string
	}{
		"few": {
			TaskAuto,
			[]column{grades(10_000, 3), grades(5_000, 4)},
			"only 4 distinct values in 15000 labelled rows: set events.task",
		},
		"twenty":       {TaskAuto, []column{grades(400, 20)}, "only 20 distinct"},
		"one too many": {TaskAuto, []column{grades(400, 21)}, ""},
		"short":        {TaskAuto, []column{grades(199, 3)}, ""},
		"asked for":    {TaskRegression, []column{grades(400, 3)}, ""},
		"classes":      {TaskClassification, []column{grades(400, 3)}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := countedParts(t, Options{Label: []string{"y"}, Task: c.task}, c.parts...).Hint(Numeric)
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("hint %q, want %q", got, c.want)
			}
		})
	}
}

func TestClassRowsOverAllParts(t *testing.T) {
	texts := countedParts(t, Options{Label: []string{"y"}}, col(t, "y", text, "a", "b", "a"), col(t, "y", text, "a"))
	numbers := countedParts(
		t,
		Options{Label: []string{"y"}, Task: TaskClassification}, col(t, "y", f32, 0.1, 2), col(t, "y", f64, 0.1),
	)
	flag := countedParts(t, Options{Label: []string{"y"}}, col(t, "y", flags, true, false, true))
	if a, z := texts.kinds[Category].classes.count("a"), texts.kinds[Category].classes.count("z"); a != 3 ||
		z != 0 || texts.Rows(Numeric) != 0 {
		t.Errorf("%d rows of a and %d of z, want 3 and 0", a, z)
	}
	if n, f := numbers.kinds[Numeric].classes.count("0.1"), flag.kinds[Bool].classes.count("true"); n != 2 || f != 2 {
		t.Errorf("%d rows of 0.1 and %d of true, want 2", n, f)
	}
}
