package files

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
)

// appender appends one field that is not null to a column, or says why it cannot.
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

// newAppender returns the appender for a builder of a type returned by textType.
func newAppender(b array.Builder) appender {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return appenderOf(b.Type(), parseBool, b.Append)
	case *array.StringBuilder:
		return func(s string) error {
			if !utf8.ValidString(s) {
				return notA(s, "UTF-8 text")
			}
			b.Append(s)
			return nil
		}
	case *array.LargeStringBuilder:
		return func(s string) error {
			if !utf8.ValidString(s) {
				return notA(s, "UTF-8 text")
			}
			b.Append(s)
			return nil
		}
	}
	if a := newNumberAppender(b); a != nil {
		return a
	}
	return newTimeAppender(b)
}

// appenderOf returns the appender for values of type t that parse reads and add appends.
func appenderOf[T any](t arrow.DataType, parse func(s string) (T, bool), add func(T)) appender {
	return func(s string) error {
		v, ok := parse(s)
		if !ok {
			return notA(s, want(t))
		}
		add(v)
		return nil
	}
}

// want says what a field in a column of type t should be.
func want(t arrow.DataType) string {
	bits := 0
	if width, ok := t.(arrow.FixedWidthDataType); ok {
		bits = width.BitWidth()
	}
	switch {
	case t.ID() == arrow.BOOL:
		return "true or false"
	case arrow.IsUnsignedInteger(t.ID()):
		return fmt.Sprintf("a whole number from 0 of %d bits", bits)
	case arrow.IsInteger(t.ID()):
		return fmt.Sprintf("a whole number of %d bits", bits)
	case arrow.IsFloating(t.ID()):
		return "a number"
	}
	return "a " + t.String()
}

// newTimeAppender returns the appender for a builder of dates or times.
func newTimeAppender(b array.Builder) appender {
	switch b := b.(type) {
	case *array.Date32Builder:
		return appenderOf(b.Type(), parseDate, func(days int32) { b.Append(arrow.Date32(days)) })
	case *array.TimestampBuilder:
		if b.Type().(*arrow.TimestampType).Unit == arrow.Microsecond {
			return appenderOf(b.Type(), parseTimestamp, func(micros int64) { b.Append(arrow.Timestamp(micros)) })
		}
	}
	return func(s string) error {
		if err := b.AppendValueFromString(s); err != nil {
			return notA(s, want(b.Type()))
		}
		return nil
	}
}

// newNumberAppender returns the appender for a builder of numbers, nil for others.
func newNumberAppender(b array.Builder) appender {
	switch b := b.(type) {
	case *array.Int8Builder:
		return intAppender(b.Type(), 8, func(v int64) { b.Append(int8(v)) })
	case *array.Int16Builder:
		return intAppender(b.Type(), 16, func(v int64) { b.Append(int16(v)) })
	case *array.Int32Builder:
		return intAppender(b.Type(), 32, func(v int64) { b.Append(int32(v)) })
	case *array.Int64Builder:
		return intAppender(b.Type(), 64, b.Append)
	case *array.Uint8Builder:
		return uintAppender(b.Type(), 8, func(v uint64) { b.Append(uint8(v)) })
	case *array.Uint16Builder:
		return uintAppender(b.Type(), 16, func(v uint64) { b.Append(uint16(v)) })
	case *array.Uint32Builder:
		return uintAppender(b.Type(), 32, func(v uint64) { b.Append(uint32(v)) })
	case *array.Uint64Builder:
		return uintAppender(b.Type(), 64, b.Append)
	case *array.Float32Builder:
		return floatAppender(b.Type(), 32, func(v float64) { b.Append(float32(v)) })
	case *array.Float64Builder:
		return floatAppender(b.Type(), 64, b.Append)
	}
	return nil
}

func intAppender(t arrow.DataType, bits int, add func(int64)) appender {
	return appenderOf(t, func(s string) (int64, bool) {
		v, err := strconv.ParseInt(s, 10, bits)
		return v, err == nil
	}, add)
}

func uintAppender(t arrow.DataType, bits int, add func(uint64)) appender {
	return appenderOf(t, func(s string) (uint64, bool) {
		v, err := strconv.ParseUint(s, 10, bits)
		return v, err == nil
	}, add)
}

func floatAppender(t arrow.DataType, bits int, add func(float64)) appender {
	return appenderOf(t, func(s string) (float64, bool) { return parseFloat(s, bits) }, add)
}
