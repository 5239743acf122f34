package config

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/eerf-stream/eerf/internal/duration"
)

type valueKind uint8

const (
	valueNull valueKind = iota
	valueText
	valueList
)

// value is the setting of a key in one layer, as text.
type value struct {
	Kind   valueKind
	Text   string
	List   []string
	Source string
}

// String returns the value in readable form.
func (v value) String() string {
	switch v.Kind {
	case valueList:
		return "[" + strings.Join(v.List, ", ") + "]"
	case valueText:
		return v.Text
	default:
		return "null"
	}
}

// render is the inverse of assign: the value of a field as text.
func render(field reflect.Value) value {
	text := func(s string) value { return value{Kind: valueText, Text: s} }
	if m, ok := field.Interface().(encoding.TextMarshaler); ok && readsText(field.Type()) {
		if b, err := m.MarshalText(); err == nil {
			return text(string(b))
		}
		return text(fmt.Sprint(field.Interface()))
	}
	switch {
	case field.Type() == durationType:
		return text(duration.Text(time.Duration(field.Int())))
	case field.Kind() == reflect.Pointer && field.IsNil():
		return value{}
	case field.Kind() == reflect.Pointer:
		return render(field.Elem())
	case field.Kind() == reflect.Slice:
		list := make([]string, field.Len())
		for i := range list {
			list[i] = render(field.Index(i)).Text
		}
		return value{Kind: valueList, List: list}
	case field.Kind() == reflect.Float64:
		return text(strconv.FormatFloat(field.Float(), 'g', -1, 64))
	default:
		return text(fmt.Sprint(field.Interface()))
	}
}

// fieldText is the value of a field in readable form.
func fieldText(field reflect.Value, typeName string) string {
	if typeName == typeSize {
		return sizeText(field.Int())
	}
	return render(field).String()
}

// assign sets a field from a value. The error describes a correct value.
func assign(field reflect.Value, unit string, v value) error {
	if field.Kind() == reflect.Slice {
		return assignList(field, v)
	}
	switch {
	case v.Kind == valueList:
		return fmt.Errorf("want one value, not a list")
	case v.Kind == valueNull && field.Kind() == reflect.Pointer:
		field.SetZero()
		return nil
	case v.Kind == valueNull && field.Kind() == reflect.String && !readsText(field.Type()):
		field.SetString("")
		return nil
	case v.Kind == valueNull:
		return fmt.Errorf("has no value; leave the key out for its default")
	}
	return assignText(field, unit, v.Text)
}

func assignList(field reflect.Value, v value) error {
	switch {
	case v.Kind == valueText:
		return fmt.Errorf("want a list: [%s]", v.Text)
	case len(v.List) == 0:
		field.SetZero() // so that [] and the default of no entries are the same
		return nil
	}
	list := reflect.MakeSlice(field.Type(), len(v.List), len(v.List))
	for i, text := range v.List {
		if err := assignText(list.Index(i), "", text); err != nil {
			return fmt.Errorf("entry %q: %w", text, err)
		}
	}
	field.Set(list)
	return nil
}

func assignText(field reflect.Value, unit, text string) error {
	if !utf8.ValidString(text) {
		return errors.New("want text in UTF-8: otherwise a printed configuration could not be reread")
	}
	switch {
	case readsText(field.Type()):
		return field.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	case field.Type() == durationType:
		return assignDuration(field, text)
	case field.Kind() == reflect.String:
		field.SetString(text)
		return nil
	case field.Kind() == reflect.Bool:
		return assignBool(field, text)
	case isInteger(field.Kind()):
		return assignInteger(field, unit, text)
	case field.Kind() == reflect.Pointer:
		number := reflect.New(field.Type().Elem())
		if err := assignFloat(number.Elem(), text); err != nil {
			return err
		}
		field.Set(number)
		return nil
	default:
		return assignFloat(field, text)
	}
}

func assignDuration(field reflect.Value, text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("want a duration with its unit, such as 30s, 5m or 168h")
	}
	field.SetInt(int64(d))
	return nil
}

func assignBool(field reflect.Value, text string) error {
	if text != "true" && text != "false" {
		return fmt.Errorf("want true or false")
	}
	field.SetBool(text == "true")
	return nil
}

func assignFloat(field reflect.Value, text string) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("want a finite number")
	}
	field.SetFloat(f)
	return nil
}

// assignInteger accepts 100000, 100_000 and 1e5, and for sizes 8MiB.
func assignInteger(field reflect.Value, unit, text string) error {
	want := "want a whole number"
	if unit == "bytes" {
		want = "want a size: a whole number of bytes, or with a unit such as 64kB or 8MiB"
	}
	text = strings.ReplaceAll(text, "_", "")
	if size, err := humanize.ParseBytes(text); err == nil && unit == "bytes" {
		text = strconv.FormatUint(size, 10)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		text = strconv.FormatFloat(f, 'f', 0, 64)
	}
	if field.CanUint() {
		n, err := strconv.ParseUint(text, 10, field.Type().Bits())
		if err != nil {
			return fmt.Errorf("%s from 0 to %d", want, uint64(math.MaxUint64)>>(64-field.Type().Bits()))
		}
		field.SetUint(n)
		return nil
	}
	n, err := strconv.ParseInt(text, 10, field.Type().Bits())
	if err != nil {
		return fmt.Errorf("%s", want)
	}
	field.SetInt(n)
	return nil
}

// sizeText returns a number of bytes in the largest unit of which it is a multiple, in a form that
// assignInteger reads.
func sizeText(bytes int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{
		{"PiB", humanize.PiByte},
		{"TiB", humanize.TiByte},
		{"GiB", humanize.GiByte},
		{"MiB", humanize.MiByte},
		{"KiB", humanize.KiByte},
	} {
		if bytes != 0 && bytes%unit.bytes == 0 {
			return strconv.FormatInt(bytes/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(bytes, 10)
}
