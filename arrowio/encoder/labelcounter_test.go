package encoder

import (
	"slices"
	"testing"
)

func TestLabelCounterCountsLabelledRows(t *testing.T) {
	counted := countedParts(t, Options{Label: []string{"y"}},
		col(
			t,
			"y", text, "b", "a", "b", nil,
		), col(t, "y", f64, 1.5, 2), col(t, "z", text, "a"), col(t, "y", text, "c"), col(t, "y", flags, true))
	if counted.Rows(Category) != 4 || counted.Rows(Numeric) != 2 || counted.Rows(Bool) != 1 || counted.MostRows() != 4 {
		t.Errorf("%d, %d, %d rows", counted.Rows(Category), counted.Rows(Numeric), counted.Rows(Bool))
	}
	if got, want := counted.Classes(Category), []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("classes %v, want %v", got, want)
	}
	if counted.Classes(Numeric) != nil || counted.Classes(Bool) != nil {
		t.Errorf("%v, %v: a regression and a single class have no classes", counted.Classes(Numeric), counted.Classes(Bool))
	}
	configured := countedParts(
		t,
		Options{Label: []string{"y"}, Classes: []string{"a", "b"}}, col(t, "y", text, "a", "b", "z"),
	)
	if got := configured.Rows(Category); got != 2 {
		t.Errorf("%d labelled rows of the configured classes, want 2", got)
	}
}

func TestLabelCounterOfTooManyClasses(t *testing.T) {
	o := Options{Label: []string{"y"}, Task: TaskClassification}
	numbers := func(first int) column {
		return col(t, "y", f64, sequence(MaxClasses, func(i int) any { return first + i })...)
	}
	whole := NewLabelCounter(o)
	whole.Add(record(t, numbers(0)))
	whole.Add(record(t, numbers(MaxClasses)))
	parts := countedParts(t, o, numbers(0), numbers(MaxClasses))
	if whole.Classes(Numeric) != nil || parts.Classes(Numeric) != nil || parts.Rows(Numeric) != 2*MaxClasses {
		t.Errorf("%d rows: more than %d classes are none", parts.Rows(Numeric), MaxClasses)
	}
}
