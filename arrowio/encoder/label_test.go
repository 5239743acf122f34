package encoder

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/scoring"
)

// labelled returns an encoder of one unchanged feature x, with the given label.
func labelled(l *Label) *Encoder {
	return &Encoder{
		Columns:     []Column{{Name: "x", Kind: Numeric, Width: 1, Mean: []float64{0}}},
		Standardize: StandardizeNone, Label: l, Dim: 1,
	}
}

func pointer(v float64) *float64 { return &v }

func TestRegressionLabels(t *testing.T) {
	l := &Label{Columns: []string{"y"}, Kind: Numeric, Mean: []float64{10}, Min: pointer(0), Max: pointer(100)}
	e := labelled(l)
	rec := record(t, col(t, "x", f64, 1, 2, 3, 4, 5, 6, 7, 8),
		col(t, "y", f64, 12, nil, math.NaN(), math.Inf(-1), 101, -0.5, 0, 100))
	rows := encoded(t, e, rec)
	if !slices.Equal(rows.X, []float32{1, 2, 7, 8}) || !slices.Equal(rows.Labelled, []bool{true, false, true, true}) {
		t.Errorf("x %v labelled %v", rows.X, rows.Labelled)
	}
	if rows.Targets.Outputs != 1 || !slices.Equal(rows.Targets.Values, []float32{2, 0, -10, 90}) {
		t.Errorf("targets %+v", rows.Targets)
	}
	want := []Rejection{{2, NaNLabel, true}, {3, InfLabel, true}, {4, LabelOutOfBounds, true}, {5, LabelOutOfBounds, true}}
	if !slices.Equal(rows.Rejected, want) {
		t.Errorf("rejected %v, want %v", rows.Rejected, want)
	}
	rows.KeepLabelled()
	if !slices.Equal(rows.X, []float32{1, 7, 8}) || !slices.Equal(rows.Row, []int32{0, 6, 7}) ||
		!slices.Equal(rows.Targets.Values, []float32{2, -10, 90}) || rows.N != 3 || rows.Counts.Unlabelled != 1 {
		t.Errorf("kept %+v", rows)
	}
}

func TestRegressionOfSeveralOutputs(t *testing.T) {
	e := labelled(&Label{Columns: []string{"a", "b"}, Kind: Numeric, Mean: []float64{1, 2}})
	x := col(t, "x", f64, 1, 2, 3, 4)
	rows := encoded(t, e, record(t, x, col(t, "b", i64, 5, nil, 7, 8), col(t, "a", f64, 2, math.NaN(), math.NaN(), nil)))
	// Row 1 has a null in addition to its NaN: it has no label, so the label has no fault.
	if !slices.Equal(rows.Row, []int32{0, 1, 3}) || !slices.Equal(rows.Labelled, []bool{true, false, false}) {
		t.Errorf("rows %v labelled %v", rows.Row, rows.Labelled)
	}
	if rows.Targets.Outputs != 2 || !slices.Equal(rows.Targets.Values, []float32{1, 3, 0, 0, 0, 0}) {
		t.Errorf("targets %+v", rows.Targets)
	}
	if !slices.Equal(rows.Rejected, []Rejection{{2, NaNLabel, true}}) {
		t.Errorf("rejected %v", rows.Rejected)
	}
	partly := encoded(t, e, record(t, x, col(t, "a", f64, 1, 2, 3, 4)))
	if slices.Contains(partly.Labelled, true) || partly.Counts.Unlabelled != 4 || len(partly.Targets.Values) != 8 {
		t.Errorf("with one of two label columns: %+v", partly)
	}
}

func TestClassLabels(t *testing.T) {
	f32s := arrow.PrimitiveTypes.Float32
	cases := map[string]struct {
		kind     Kind
		classes  []string
		values   column
		labelled []bool
		values1  []float32 // of two classes
		class    []int32   // of several
		unseen   int64
	}{
		"two strings": {
			Category, []string{"<=50K", ">50K"}, col(t, "y", text, "<=50K", ">50K", nil, "other"),
			[]bool{true, true, false, false}, []float32{-1, 1, 0, 0}, nil, 1,
		},
		"dictionary": {
			Category, []string{"<=50K", ">50K"}, col(t, "y", dict, "<=50K", ">50K", nil, "other"),
			[]bool{true, true, false, false}, []float32{-1, 1, 0, 0}, nil, 1,
		},
		"booleans": {
			Bool, []string{"false", "true"}, col(t, "y", flags, false, true, nil, true),
			[]bool{true, true, false, true}, []float32{-1, 1, 0, 1}, nil, 0,
		},
		"turned round": {
			Bool, []string{"true", "false"}, col(t, "y", flags, false, true, nil, true),
			[]bool{true, true, false, true}, []float32{1, -1, 0, -1}, nil, 0,
		},
		"three strings": {
			Category, []string{"a", "b", "c"}, col(t, "y", text, "c", "b", "a", "d"), []bool{true, true, true, false},
			nil, []int32{2, 1, 0, 0}, 1,
		},
		"whole numbers": {
			Numeric, []string{"-1", "0", "10"}, col(t, "y", i64, 10, 0, -1, 5), []bool{true, true, true, false}, nil,
			[]int32{2, 1, 0, 0}, 1,
		},
		"whole floats": {
			Numeric, []string{"-1", "0", "10"}, col(t, "y", f64, 10, math.Copysign(0, -1), nil, 0.5),
			[]bool{true, true, false, false}, nil, []int32{2, 1, 0, 0}, 1,
		},
		"fractions": {
			Numeric, []string{"0.1", "0.2", "0.3"}, col(t, "y", f64, 0.3, 0.2, 0.1, 0.4),
			[]bool{true, true, true, false}, nil, []int32{2, 1, 0, 0}, 1,
		},
		"short floats": {
			Numeric, []string{"0.1", "0.2", "0.3"}, col(t, "y", f32s, 0.3, 0.2, 0.1, 0.4),
			[]bool{true, true, true, false}, nil, []int32{2, 1, 0, 0}, 1,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l := &Label{Columns: []string{"y"}, Kind: c.kind, Task: scoring.Binary, Classes: c.classes}
			if len(c.classes) > 2 {
				l.Task = scoring.MultiClass
			}
			e := labelled(l)
			if err := e.Validate(); err != nil {
				t.Fatal(err)
			}
			rows := encoded(t, e, record(t, col(t, "x", f64, 1, 2, 3, 4), c.values))
			if !slices.Equal(rows.Labelled, c.labelled) || !slices.Equal(
				rows.Targets.Values,
				c.values1,
			) || !slices.Equal(rows.Targets.Class, c.class) {
				t.Errorf("labelled %v targets %+v", rows.Labelled, rows.Targets)
			}
			unlabelled := int64(0)
			for _, is := range c.labelled {
				unlabelled += count(!is)
			}
			if rows.Counts.UnseenClass != c.unseen || rows.Counts.Unlabelled != unlabelled ||
				rows.Targets.Outputs != e.Outputs() {
				t.Errorf("counts %+v, outputs %d", rows.Counts, rows.Targets.Outputs)
			}
		})
	}
}

func TestFaultyClassLabelsAreRejected(t *testing.T) {
	e := labelled(&Label{Columns: []string{"y"}, Kind: Numeric, Task: scoring.Binary, Classes: []string{"0", "1"}})
	rows := encoded(t, e, record(t, col(t, "x", f64, 1, 2, 3), col(t, "y", f64, math.NaN(), 1, math.Inf(1))))
	want := []Rejection{{0, NaNLabel, true}, {2, InfLabel, true}}
	if !slices.Equal(rows.Rejected, want) || !slices.Equal(
		rows.Targets.Values,
		[]float32{1},
	) || rows.Counts.Unlabelled != 0 {
		t.Errorf("rejected %v targets %v counts %+v", rows.Rejected, rows.Targets, rows.Counts)
	}
}

// TestUnlabelledComesBeforeRejected counts outcomes the way the package documentation says.
func TestUnlabelledComesBeforeRejected(t *testing.T) {
	nan := math.NaN()
	e := labelled(&Label{Columns: []string{"y"}, Kind: Category, Task: scoring.Binary, Classes: []string{"a", "b"}})
	rec := record(t, col(t, "x", f64, nan, nan, nan, 4, 5, 6), col(t, "y", text, "a", nil, "unseen", "b", nil, "unseen"))
	rows := encoded(t, e, rec)
	want := []Rejection{{0, NaNFeature, true}, {1, NaNFeature, false}, {2, NaNFeature, false}}
	if !slices.Equal(rows.Rejected, want) {
		t.Errorf("rejected %v, want %v", rows.Rejected, want)
	}
	rejected, scored := 0, 0
	for _, r := range rows.Rejected {
		rejected += int(count(r.Labelled))
	}
	for _, is := range rows.Labelled {
		scored += int(count(is))
	}
	if rows.Counts.Unlabelled != 4 || rows.Counts.UnseenClass != 2 || rejected != 1 || scored != 1 {
		t.Errorf(
			"unlabelled %d rejected %d scored %d, unseen class %d",
			rows.Counts.Unlabelled, rejected, scored, rows.Counts.UnseenClass,
		)
	}
}

func TestRecordWithoutTheLabelColumnIsUnlabelled(t *testing.T) {
	for _, l := range []*Label{
		nil,
		{Columns: []string{"y"}, Kind: Numeric, Mean: []float64{0}},
		{Columns: []string{"y"}, Kind: Category, Task: scoring.MultiClass, Classes: []string{"a", "b", "c"}},
	} {
		e := labelled(l)
		rows := encoded(t, e, record(t, col(t, "x", f64, 1, 2)))
		if rows.N != 2 || slices.Contains(rows.Labelled, true) || rows.Counts.Unlabelled != 2 ||
			rows.Targets.Outputs != e.Outputs() {
			t.Errorf("label %+v: %+v", l, rows)
		}
		rows.KeepLabelled()
		if rows.N != 0 || len(rows.X) != 0 || len(rows.Targets.Values)+len(rows.Targets.Class) != 0 {
			t.Errorf("label %+v: kept %+v", l, rows)
		}
	}
}

func TestTargetsDoNotOutliveTheirRecord(t *testing.T) {
	e := labelled(
		&Label{Columns: []string{"y"}, Kind: Category, Task: scoring.MultiClass, Classes: []string{"a", "b", "c"}},
	)
	var rows Rows
	for _, labels := range [][]any{{"c", "c"}, {nil, "b"}} {
		if err := e.Encode(&rows, record(t, col(t, "x", f64, 1, 2), col(t, "y", text, labels...)), nil); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(rows.Targets.Class, []int32{0, 1}) {
		t.Errorf("classes %v", rows.Targets.Class)
	}
}

func TestUnreadableClassNamesAreUnlabelled(t *testing.T) {
	e, report := calibrated(t, options("y"), record(t, col(t, "x", f64, 1, 2, 3), col(t, "y", text, "a", "\xff", "b")))
	if !slices.Equal(e.Label.Classes, []string{"a", "b"}) || report.UnseenClass != 1 || report.Labelled != 2 {
		t.Errorf("classes %v, report %+v", e.Label.Classes, report)
	}
}

// One misspelt label does not make a binary label one of three classes, and of two classes both
// stay.
func TestClassesWithFewRowsAreLeftOut(t *testing.T) {
	labels := func(classes map[string]int) (values []any) {
		for _, class := range []string{"Maybe", "No", "Yes"} {
			for range classes[class] {
				values = append(values, class)
			}
		}
		return values
	}
	cases := map[string]struct {
		rows map[string]int
		want []string
		hint string
	}{
		"one odd row": {
			map[string]int{"Maybe": 1, "No": 40, "Yes": 30},
			[]string{"No", "Yes"},
			`1 row of classes with fewer than 20 rows teach nothing and count as errors: "Maybe" in 1 row;`,
		},
		"one row too few": {
			map[string]int{"Maybe": 19, "No": 40, "Yes": 30},
			[]string{"No", "Yes"},
			"19 rows of classes with fewer than 20 rows teach nothing",
		},
		"enough rows":        {map[string]int{"Maybe": 20, "No": 40, "Yes": 30}, []string{"Maybe", "No", "Yes"}, ""},
		"two, one very rare": {map[string]int{"No": 40, "Yes": 1}, []string{"No", "Yes"}, `"Yes" in only 1 of 41`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			values := labels(c.rows)
			counter := NewLabelCounter(Options{Label: []string{"y"}, ClassMinRows: 20})
			counter.Add(record(t, col(t, "y", text, values...)))
			if got := counter.Classes(Category); !slices.Equal(got, c.want) {
				t.Errorf("classes %q, want %q", got, c.want)
			}
			if hint := counter.Hint(Category); !strings.Contains(hint, c.hint) || (hint == "") != (c.hint == "") {
				t.Errorf("hint %q", hint)
			}
			o := options("y")
			o.FindClasses(counter, Category)
			x := make([]any, len(values))
			for i := range x {
				x[i] = i % 7
			}
			if _, report := calibrated(
				t,
				o, record(t, col(t, "x", f64, x...), col(t, "y", text, values...)),
			); len(report.Warnings) > 0 {
				t.Errorf("what the hint says is said again: %q", report.Warnings)
			}
		})
	}
}
