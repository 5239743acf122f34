package formats

import (
	"encoding/json"
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

// Write returns the message of a record's rows. It refuses what the format cannot hold.
func Write(f Format, rec arrow.Record) ([]byte, error) {
	if known := lookup(f); known != nil && known.write != nil {
		return known.write(rec)
	}
	return nil, fmt.Errorf("format %q is not one of %s", f, Join(Written()))
}

var arrowFormat = format{
	name: Arrow, begins: arrowBegins,
	write: func(rec arrow.Record) ([]byte, error) { return arrowio.EncodeStream(rec.Schema(), rec) },
}

// writeJSON writes an array of objects, or a single object for one row.
func writeJSON(rec arrow.Record) ([]byte, error) {
	names := make([][]byte, rec.NumCols())
	for i, field := range rec.Schema().Fields() {
		name, err := jsontext.AppendQuote(nil, field.Name)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", arrowio.Quote(field.Name), err)
		}
		if !jsonHolds(field.Type) {
			return nil, fmt.Errorf("column %s: json cannot hold %s", arrowio.Quote(field.Name), field.Type)
		}
		names[i] = append(name, ':')
	}
	dst := []byte{'['}
	for row := range int(rec.NumRows()) {
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
	if rec.NumRows() == 1 {
		return dst[1:], nil
	}
	return append(dst, ']'), nil
}

func jsonHolds(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		return arrow.IsInteger(t.Elem().ID()) || arrow.IsFloating(t.Elem().ID())
	case *arrow.DictionaryType:
		return t.ValueType.ID() == arrow.STRING || t.ValueType.ID() == arrow.LARGE_STRING
	case *arrow.NullType, *arrow.BooleanType, *arrow.Date32Type, *arrow.TimestampType, *arrow.Decimal128Type, *arrow.StringType, *arrow.LargeStringType:
		return true
	}
	return arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID())
}

// appendJSON appends a value. Floating-point numbers are written so that they are read as such, with the digits that
// float64 needs, even if they were float32. NaN, which stands for a missing number, becomes null.
func appendJSON(dst []byte, a arrow.Array, row int) ([]byte, error) {
	if a.IsNull(row) {
		return append(dst, "null"...), nil
	}
	switch a := a.(type) {
	case *array.Float16:
		return appendFloat(dst, float64(a.Value(row).Float32()))
	case *array.Float32:
		return appendFloat(dst, float64(a.Value(row)))
	case *array.Float64:
		return appendFloat(dst, a.Value(row))
	case *array.FixedSizeList:
		first, end := a.ValueOffsets(row)
		return appendList(dst, a.ListValues(), int(first), int(end))
	case *array.Decimal128:
		return append(dst, a.ValueStr(row)...), nil
	case *array.Timestamp:
		kind := a.DataType().(*arrow.TimestampType)
		layout := "2006-01-02T15:04:05.999999999"
		if kind.TimeZone != "" {
			layout += "Z07:00"
		}
		return strconv.AppendQuote(dst, a.Value(row).ToTime(kind.Unit).Format(layout)), nil
	case *array.Date32:
		return strconv.AppendQuote(dst, a.Value(row).ToTime().Format(time.DateOnly)), nil
	}
	value := a.GetOneForMarshal(row)
	if text, ok := value.(string); ok {
		return jsontext.AppendQuote(dst, text)
	}
	text, err := json.Marshal(value)
	return append(dst, text...), err
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
