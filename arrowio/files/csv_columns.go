package files

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// appender adds one field that is not null to a column, or says why it cannot.
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
	return nil, fmt.Errorf("%w: type %s cannot be read from text", ErrUnsupported, t)
}

// newAppender returns the appender of a builder of a type that textType gives.
func newAppender(b array.Builder) appender {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return func(s string) error {
			v, ok := parseBool(s)
			if !ok {
				return notA(s, "true or false")
			}
			b.Append(v)
			return nil
		}
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
	return func(s string) error { // dates and times
		if err := b.AppendValueFromString(s); err != nil {
			return notA(s, "a "+b.Type().String())
		}
		return nil
	}
}

// newNumberAppender returns the appender of a builder of numbers, nil for others.
func newNumberAppender(b array.Builder) appender {
	switch b := b.(type) {
	case *array.Int8Builder:
		return intAppender(8, func(v int64) { b.Append(int8(v)) })
	case *array.Int16Builder:
		return intAppender(16, func(v int64) { b.Append(int16(v)) })
	case *array.Int32Builder:
		return intAppender(32, func(v int64) { b.Append(int32(v)) })
	case *array.Int64Builder:
		return intAppender(64, b.Append)
	case *array.Uint8Builder:
		return uintAppender(8, func(v uint64) { b.Append(uint8(v)) })
	case *array.Uint16Builder:
		return uintAppender(16, func(v uint64) { b.Append(uint16(v)) })
	case *array.Uint32Builder:
		return uintAppender(32, func(v uint64) { b.Append(uint32(v)) })
	case *array.Uint64Builder:
		return uintAppender(64, b.Append)
	case *array.Float32Builder:
		return floatAppender(32, func(v float64) { b.Append(float32(v)) })
	case *array.Float64Builder:
		return floatAppender(64, b.Append)
	}
	return nil
}

func intAppender(bits int, add func(int64)) appender {
	return func(s string) error {
		v, err := strconv.ParseInt(s, 10, bits)
		if err != nil {
			return notA(s, fmt.Sprintf("a whole number of %d bits", bits))
		}
		add(v)
		return nil
	}
}

func uintAppender(bits int, add func(uint64)) appender {
	return func(s string) error {
		v, err := strconv.ParseUint(s, 10, bits)
		if err != nil {
			return notA(s, fmt.Sprintf("a whole number from 0 of %d bits", bits))
		}
		add(v)
		return nil
	}
}

func floatAppender(bits int, add func(float64)) appender {
	return func(s string) error {
		v, ok := parseFloat(s, bits)
		if !ok {
			return notA(s, "a number")
		}
		add(v)
		return nil
	}
}
