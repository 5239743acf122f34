package encoder

import (
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// labelColumn is a record of one column y; nil is null.
func labelColumn[T any](t *testing.T, values []*T) arrow.Record {
	t.Helper()
	var kind arrow.DataType
	switch any(values).(type) {
	case []*string:
		kind = arrow.BinaryTypes.String
	case []*float64:
		kind = arrow.PrimitiveTypes.Float64
	case []*bool:
		kind = arrow.FixedWidthTypes.Boolean
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "y", Type: kind, Nullable: true}}, nil))
	defer b.Release()
	for _, v := range values {
		switch column := b.Field(0).(type) {
		case *array.StringBuilder:
			appendOrNull(column, v, func(v *T) { column.Append(*any(v).(*string)) })
		case *array.Float64Builder:
			appendOrNull(column, v, func(v *T) { column.Append(*any(v).(*float64)) })
		case *array.BooleanBuilder:
			appendOrNull(column, v, func(v *T) { column.Append(*any(v).(*bool)) })
		}
	}
	return b.NewRecord()
}

func appendOrNull[T any](b array.Builder, v *T, add func(*T)) {
	if v == nil {
		b.AppendNull()
		return
	}
	add(v)
}

func pointers[T any](values ...T) []*T {
	var all []*T
	for i := range values {
		all = append(all, &values[i])
	}
	return all
}

func TestLabelCounterCountsWhatHasALabel(t *testing.T) {
	o := Options{Label: []string{"y"}, Clip: 5}
	first, second := NewLabelCounter(o), NewLabelCounter(o)
	for _, rec := range []arrow.Record{
		labelColumn(t, append(pointers("b", "a", "b"), nil)), labelColumn(t, pointers(1.5, 2)),
	} {
		first.Add(rec)
		rec.Release()
	}
	for _, rec := range []arrow.Record{labelColumn(t, pointers("c")), labelColumn(t, pointers(true))} {
		second.Add(rec)
		rec.Release()
	}
	first.Merge(second)
	if first.Rows(Category) != 4 || first.Rows(Numeric) != 2 || first.Rows(Bool) != 1 || first.MostRows() != 4 {
		t.Errorf("%d, %d, %d rows", first.Rows(Category), first.Rows(Numeric), first.Rows(Bool))
	}
	if got, want := first.Classes(Category), []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("classes %v, want %v", got, want)
	}
	if first.Classes(Numeric) != nil || first.Classes(Bool) != nil {
		t.Errorf("%v, %v: a regression and a single class have no classes", first.Classes(Numeric), first.Classes(Bool))
	}
}

func TestLabelCounterOfOtherColumnsAndConfiguredClasses(t *testing.T) {
	rec := labelColumn(t, pointers("a", "b", "z"))
	defer rec.Release()
	absent := NewLabelCounter(Options{Label: []string{"label"}})
	absent.Add(rec)
	if absent.MostRows() != 0 {
		t.Errorf("%d labelled rows without a label column", absent.MostRows())
	}
	configured := NewLabelCounter(Options{Label: []string{"y"}, Classes: []string{"a", "b"}})
	configured.Add(rec)
	if got := configured.Rows(Category); got != 2 {
		t.Errorf("%d labelled rows of the configured classes, want 2", got)
	}
}

func TestLabelCounterOfTooManyClasses(t *testing.T) {
	whole, parts := NewLabelCounter(Options{Label: []string{"y"}, Task: TaskClassification}), NewLabelCounter(Options{Label: []string{"y"}, Task: TaskClassification})
	for part := range 2 {
		values := make([]float64, MaxClasses)
		for i := range values {
			values[i] = float64(part*MaxClasses + i)
		}
		rec := labelColumn(t, pointers(values...))
		whole.Add(rec)
		one := NewLabelCounter(Options{Label: []string{"y"}, Task: TaskClassification})
		one.Add(rec)
		parts.Merge(one)
		rec.Release()
	}
	if whole.Classes(Numeric) != nil || parts.Classes(Numeric) != nil || parts.Rows(Numeric) != 2*MaxClasses {
		t.Errorf("%d rows: more than %d classes are none", parts.Rows(Numeric), MaxClasses)
	}
}
