package formats

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/eerf-stream/eerf/arrowio"
)

// jsonWriter writes an array of objects, or a single object for one row.
func jsonWriter(schema *arrow.Schema) (*encoding, error) {
	names := make([][]byte, schema.NumFields())
	for i, field := range schema.Fields() {
		name, err := jsontext.AppendQuote(nil, field.Name)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", arrowio.Quote(field.Name), err)
		}
		if !jsonHolds(field.Type) {
			return nil, cannotWrite(field, JSON)
		}
		names[i] = append(name, ':')
	}
	return &encoding{all: func(dst []byte, rec arrow.Record) ([]byte, error) { return appendRows(dst, names, rec) }}, nil
}

func jsonHolds(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		return arrow.IsInteger(t.Elem().ID()) || arrow.IsFloating(t.Elem().ID())
	case *arrow.NullType, *arrow.BooleanType, *arrow.Date32Type, *arrow.TimestampType, *arrow.Decimal128Type:
		return true
	}
	return arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID()) || isText(t)
}

func appendRows(dst []byte, names [][]byte, rec arrow.Record) ([]byte, error) {
	rows := int(rec.NumRows())
	if rows != 1 {
		dst = append(dst, '[')
	}
	for row := range rows {
		if row > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		for i, name := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = appendJSON(append(dst, name...), rec.Column(i), row); err != nil {
				return nil, fmt.Errorf("row %d, column %s: %w", row, arrowio.Quote(rec.ColumnName(i)), err)
			}
		}
		dst = append(dst, '}')
	}
	if rows != 1 {
		dst = append(dst, ']')
	}
	return dst, nil
}

// appendJSON appends a value. Floating-point numbers are written so that they are read as such, with the digits that
// float64 needs, even if they were float32. NaN, which stands for a missing number, becomes null.
func appendJSON(dst []byte, a arrow.Array, row int) ([]byte, error) {
	if isNull(a, row) {
		return append(dst, "null"...), nil
	}
	if v, ok := floatAt(a, row); ok {
		return appendFloat(dst, v)
	}
	if text, ok := textAt(a, row); ok {
		return jsontext.AppendQuote(dst, text)
	}
	if values, from, to, ok := listAt(a, row); ok {
		return appendList(dst, values, from, to)
	}
	switch a := a.(type) {
	case *array.Boolean:
		return strconv.AppendBool(dst, a.Value(row)), nil
	case *array.Uint64:
		return strconv.AppendUint(dst, a.Value(row), 10), nil
	case *array.Decimal128:
		return append(dst, a.ValueStr(row)...), nil
	case *array.Date32:
		return strconv.AppendQuote(dst, a.Value(row).ToTime().Format(time.DateOnly)), nil
	case *array.Timestamp:
		kind := a.DataType().(*arrow.TimestampType)
		layout := "2006-01-02T15:04:05.999999999"
		if kind.TimeZone != "" {
			layout += "Z07:00"
		}
		return strconv.AppendQuote(dst, a.Value(row).ToTime(kind.Unit).Format(layout)), nil
	}
	if whole, ok := wholeOf(a); ok {
		return strconv.AppendInt(dst, whole(row), 10), nil
	}
	return nil, fmt.Errorf("json cannot hold %s", a.DataType())
}

func appendList(dst []byte, values arrow.Array, from, to int) ([]byte, error) {
	dst = append(dst, '[')
	for i := from; i < to; i++ {
		if i > from {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendJSON(dst, values, i); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendFloat(dst []byte, v float64) ([]byte, error) {
	switch {
	case math.IsNaN(v):
		return append(dst, "null"...), nil
	case math.IsInf(v, 0):
		return nil, fmt.Errorf("json cannot hold %v", v)
	}
	first := len(dst)
	dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
	if !strings.ContainsAny(string(dst[first:]), ".e") {
		dst = append(dst, ".0"...)
	}
	return dst, nil
}
