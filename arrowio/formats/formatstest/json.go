package formatstest

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// JSON returns one message of a record's rows: an array of objects, or a single object for one row.
func JSON(t testing.TB, rec arrow.Record) []byte {
	t.Helper()
	var objects []string
	for row := range int(rec.NumRows()) {
		var fields []string
		for i, column := range rec.Columns() {
			fields = append(fields, inJSON(t, rec.ColumnName(i))+":"+valueInJSON(t, column, row))
		}
		objects = append(objects, "{"+strings.Join(fields, ",")+"}")
	}
	if len(objects) == 1 {
		return []byte(objects[0])
	}
	return []byte("[" + strings.Join(objects, ",") + "]")
}

// valueInJSON writes fractions so that they are read as such, with the digits of float64. NaN
// becomes null.
func valueInJSON(t testing.TB, a arrow.Array, row int) string {
	if a.IsNull(row) {
		return "null"
	}
	switch a := a.(type) {
	case *array.Float32:
		return fractionInJSON(float64(a.Value(row)))
	case *array.Float64:
		return fractionInJSON(a.Value(row))
	case *array.FixedSizeList:
		var values []string
		first, end := a.ValueOffsets(row)
		for i := first; i < end; i++ {
			values = append(values, valueInJSON(t, a.ListValues(), int(i)))
		}
		return "[" + strings.Join(values, ",") + "]"
	}
	return inJSON(t, a.GetOneForMarshal(row))
}

func fractionInJSON(v float64) string {
	if math.IsNaN(v) {
		return "null"
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

func inJSON(t testing.TB, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
