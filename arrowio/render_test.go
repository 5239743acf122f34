package arrowio

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// render returns row i of an array in the form of testdata's expected values, as encoding/json
// would represent them. It reads every byte of the value.
func render(a arrow.Array, i int) any {
	if a.IsNull(i) || a.DataType().ID() == arrow.NULL { // IsNull is false for a null array
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.String:
		return string([]byte(a.Value(i)))
	case *array.LargeString:
		return string([]byte(a.Value(i)))
	case *array.Binary:
		return hex.EncodeToString(a.Value(i))
	case *array.LargeBinary:
		return hex.EncodeToString(a.Value(i))
	case *array.FixedSizeBinary:
		return hex.EncodeToString(a.Value(i))
	case *array.Decimal128:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Decimal256:
		return a.Value(i).ToString(a.DataType().(*arrow.Decimal256Type).Scale)
	case *array.MonthDayNanoInterval, *array.DayTimeInterval:
		return a.ValueStr(i)
	case *array.Float16:
		return number(float64(a.Value(i).Float32()))
	case *array.Dictionary:
		return render(a.Dictionary(), a.GetValueIndex(i))
	case *array.Map:
		start, end := a.ValueOffsets(i)
		pairs := []any{}
		for j := start; j < end; j++ {
			pairs = append(pairs, []any{render(a.Keys(), int(j)), render(a.Items(), int(j))})
		}
		return pairs
	case array.ListLike:
		start, end := a.ValueOffsets(i)
		return renderRange(a.ListValues(), int(start), int(end))
	case *array.Struct:
		fields := map[string]any{}
		for j, f := range a.DataType().(*arrow.StructType).Fields() {
			fields[f.Name] = render(a.Field(j), i)
		}
		return fields
	}
	return renderNumber(a, i)
}

func renderRange(a arrow.Array, start, end int) []any {
	values := []any{}
	for j := start; j < end; j++ {
		values = append(values, render(a, j))
	}
	return values
}

// renderNumber covers every array with a method Value of a Go number.
func renderNumber(a arrow.Array, i int) any {
	v := reflect.ValueOf(a).MethodByName("Value").Call([]reflect.Value{reflect.ValueOf(i)})[0]
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return number(v.Float())
	}
	panic(fmt.Sprintf("no rendering of %s", a.DataType()))
}

// number writes values that JSON lacks as Python does.
func number(f float64) any {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return f
}

// renderRecord returns the record as an object of columns.
func renderRecord(rec arrow.Record) map[string]any {
	columns := map[string]any{}
	for i, col := range rec.Columns() {
		columns[rec.ColumnName(i)] = renderRange(col, 0, col.Len())
	}
	return columns
}

func renderAll(recs []arrow.Record) []any {
	all := []any{}
	for _, rec := range recs {
		all = append(all, renderRecord(rec))
	}
	return all
}
