package files

import (
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
)

// appender appends one field that is not null to a column, or returns why it cannot.
type appender func(s string) error

// textType returns the type in which a text file holds values of t: dictionaries
// become their values. It is an error if text cannot hold t.
func textType(t arrow.DataType) (arrow.DataType, error) {
	switch t.ID() {
	case arrow.DICTIONARY:
		return textType(t.(*arrow.DictionaryType).ValueType)
	case arrow.NULL:
		return arrow.BinaryTypes.String, nil
	case arrow.BOOL, arrow.STRING, arrow.LARGE_STRING,
		arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64,
		arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.FLOAT32, arrow.FLOAT64,
		arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP:
		return t, nil
	}
	return nil, fmt.Errorf("%w: type %s cannot be read from text", arrowio.ErrUnsupported, t)
}

// isText reports whether values of t are text, which every field is unless its UTF-8 is broken.
func isText(t arrow.DataType) bool { return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING }

// newAppender returns the appender for a builder of a type returned by textType. Where the library
// is stricter or laxer than data files, the field is read here.
func newAppender(b array.Builder) appender {
	t := b.Type()
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return appenderOf(t, parseBool, b.Append)
	case *array.Float32Builder:
		return appenderOf(
			t,
			func(s string) (float64, bool) { return parseFloat(s, 32) },
			func(v float64) { b.Append(float32(v)) },
		)
	case *array.Float64Builder:
		return appenderOf(t, func(s string) (float64, bool) { return parseFloat(s, 64) }, b.Append)
	case *array.Date32Builder:
		return appenderOf(t, parseDate, b.Append)
	case *array.TimestampBuilder:
		unit := t.(*arrow.TimestampType).Unit
		return appenderOf(t, func(s string) (arrow.Timestamp, bool) {
			at, ok := parseTime(s)
			stamp, err := arrow.TimestampFromTime(at, unit)
			return stamp, ok && err == nil
		}, b.Append)
	case array.StringLikeBuilder:
		if isText(t) {
			return appenderOf(t, func(s string) (string, bool) { return s, utf8.ValidString(s) }, b.Append)
		}
	}
	return func(s string) error {
		if err := b.AppendValueFromString(s); err != nil {
			return notA(s, t)
		}
		return nil
	}
}

// appenderOf returns the appender for values of type t that parse reads and add appends.
func appenderOf[T any](t arrow.DataType, parse func(s string) (T, bool), add func(T)) appender {
	return func(s string) error {
		v, ok := parse(s)
		if !ok {
			return notA(s, t)
		}
		add(v)
		return nil
	}
}
