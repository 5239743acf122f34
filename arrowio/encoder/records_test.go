package encoder

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// column is a column of a test record.
type column struct {
	name   string
	values arrow.Array
}

// col makes a column: nil is null, a []any an element of a vector, anything else its text.
func col(t testing.TB, name string, dt arrow.DataType, values ...any) column {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	for _, v := range values {
		appendValue(t, b, v)
	}
	return column{name, b.NewArray()}
}

// appendValue appends one test value.
func appendValue(t testing.TB, b array.Builder, v any) {
	t.Helper()
	switch v := v.(type) {
	case nil:
		b.AppendNull()
	case []any:
		list := b.(*array.FixedSizeListBuilder)
		list.Append(true)
		for _, element := range v {
			appendValue(t, list.ValueBuilder(), element)
		}
	case string:
		if s, ok := b.(array.StringLikeBuilder); ok {
			s.Append(v)
			return
		}
		mustAppend(t, b, v)
	default:
		mustAppend(t, b, fmt.Sprint(v))
	}
}

// mustAppend appends a value by its text.
func mustAppend(t testing.TB, b array.Builder, text string) {
	t.Helper()
	if err := b.AppendValueFromString(text); err != nil {
		t.Fatalf("append %q to %s: %v", text, b.Type(), err)
	}
}

// record makes a record of columns of one length.
func record(t testing.TB, columns ...column) arrow.Record {
	t.Helper()
	fields := make([]arrow.Field, len(columns))
	arrays := make([]arrow.Array, len(columns))
	rows := int64(0)
	for i, c := range columns {
		fields[i] = arrow.Field{Name: c.name, Type: c.values.DataType(), Nullable: true}
		arrays[i] = c.values
		rows = int64(c.values.Len())
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), arrays, rows)
}

// The usual column types of tests.
var (
	f64   = arrow.PrimitiveTypes.Float64
	f32   = arrow.PrimitiveTypes.Float32
	i64   = arrow.PrimitiveTypes.Int64
	text  = arrow.BinaryTypes.String
	flags = arrow.FixedWidthTypes.Boolean
	dict  = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
)

// list is the type of a vector.
func list(n int32, element arrow.DataType) arrow.DataType { return arrow.FixedSizeListOf(n, element) }

// calibrated returns the encoder learned from records, which must succeed.
func calibrated(t testing.TB, o Options, records ...arrow.Record) (*Encoder, Report) {
	t.Helper()
	c := NewCalibrator(o)
	for _, rec := range records {
		if err := c.Add(rec); err != nil {
			t.Fatalf("calibrate: %v", err)
		}
	}
	e, report, err := c.Encoder()
	if err != nil {
		t.Fatalf("encoder: %v", err)
	}
	return e, report
}

// encoded returns the rows of a record, which must fit.
func encoded(t testing.TB, e *Encoder, rec arrow.Record, take ...int32) *Rows {
	t.Helper()
	var rows Rows
	if err := e.Encode(&rows, rec, take); err != nil {
		t.Fatalf("encode: %v", err)
	}
	return &rows
}

// options returns options for a label, none if it is empty: the usual ones, except that NaN rejects
// its row and that no column has a dimension for missing values.
func options(label ...string) Options {
	return Options{Clip: DefaultClip, Label: label, NaN: NaNReject, MissingIndicator: 1}
}
