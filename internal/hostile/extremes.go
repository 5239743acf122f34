package hostile

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/eerf-stream/eerf/internal/outside"
)

// absent stands for a member that is left out.
type absent struct{}

// Extreme is a value to try in the place of another.
type Extreme struct {
	Name   string
	Value  any  // as JSON
	Beyond bool // the bound excludes it, so that it must be refused
}

// Extremes returns the extreme values of a shape.
func Extremes(s *outside.Shape) []Extreme {
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	all := []Extreme{
		{"absent", absent{}, false}, {"null", nil, !s.Nullable}, {"an object", map[string]any{}, true},
		{"a nested list", raw(strings.Repeat("[", 100) + strings.Repeat("]", 100)), true},
	}
	switch s.Kind {
	case outside.List:
		element := raw(`0`)
		switch s.Element.Kind {
		case outside.Text, outside.Time, outside.Digits:
			element = raw(`"1"`)
		case outside.Object:
			element = raw(`{}`)
		case outside.List:
			element = raw(`[]`)
		}
		return append(all, Extreme{"empty", []any{}, s.Least > 0}, Extreme{"a text", "x", true},
			Extreme{"nulls", slices.Repeat([]any{nil}, 3), true},
			Extreme{"one too many", slices.Repeat([]json.RawMessage{element}, s.Most+1), true},
			Extreme{"thousands", slices.Repeat([]json.RawMessage{element}, min(s.Most, 2000)), false})
	case outside.Text:
		return append(
			all,
			Extreme{"empty", "", false},
			Extreme{"a number", 5, true},
			Extreme{"the longest", strings.Repeat("x", s.Most), false},
			Extreme{
				"one byte more",
				strings.Repeat("x", s.Most+1),
				true,
			},
			Extreme{"enormous", strings.Repeat("x", 64<<10), s.Most < 64<<10},
			Extreme{"escapes", strings.Repeat("\x01", min(s.Most, 1000)), false},
			Extreme{"a slash", "a/b", false},
		)
	case outside.Digits:
		return append(
			all,
			Extreme{"empty", "", true},
			Extreme{"zero", "0", false},
			Extreme{"the largest", "18446744073709551615", false},
			Extreme{"one more", "18446744073709551616", true},
			Extreme{"negative", "-1", true},
			Extreme{"a number", 5, true},
		)
	case outside.Time:
		return append(
			all,
			Extreme{"the year 1", "0001-01-01T00:00:00Z", true},
			Extreme{"1970", "1970-01-01T00:00:00Z", false},
			Extreme{
				"the far future",
				"9999-12-31T23:59:59.999999999Z",
				false,
			},
			Extreme{"beyond it", "9999-12-31T23:59:59-10:00", true},
			Extreme{"a word", "never", true},
			Extreme{"a number", 5, true},
		)
	case outside.Truth:
		return append(all, Extreme{"true", true, false}, Extreme{"one", 1, true}, Extreme{"a text", "true", true})
	}
	number := func(name, text string) Extreme {
		v, err := strconv.ParseFloat(text, 64)
		whole := s.Kind != outside.Whole || !strings.ContainsAny(text, ".e")
		return Extreme{name, raw(text), err != nil || !whole || v < s.Low || v > s.High}
	}
	all = append(
		all,
		number("zero", "0"),
		number("negative", "-1"),
		number("2^63-1", "9223372036854775807"),
		number("2^64", "18446744073709551616"),
		number(
			"-2^63",
			"-9223372036854775808",
		),
		number("infinite", "1e999"),
		number("largest", "1.7976931348623157e308"),
		number("smallest", "5e-324"),
		number("a fraction", "0.5"),
		number("2^31-1", "2147483647"),
		Extreme{"NaN", "NaN", true},
	)
	if s.Kind == outside.Whole {
		high := int64(s.High)
		all = append(
			all,
			number("the largest", strconv.FormatInt(high, 10)),
			number("one more", strconv.FormatInt(high+1, 10)),
		)
	}
	return all
}

// WithValue returns the document with another value at a path such as a.b[].c: in the first element
// of each list. It is nil if the document has no such place.
func WithValue(document any, path string, value any) any {
	name, rest, nested := strings.Cut(path, ".")
	member, list := strings.CutSuffix(name, "[]")
	inner := ""
	for strings.HasSuffix(member, "[]") { // a list of lists
		member = strings.TrimSuffix(member, "[]")
		inner += "[]"
	}
	object, ok := document.(map[string]any)
	if !ok {
		return nil
	}
	copied := map[string]any{}
	for k, v := range object {
		copied[k] = v
	}
	switch {
	case !list && !nested:
		if copied[member] = value; value == (any)(absent{}) {
			delete(copied, member)
		}
		return copied
	case !list:
		below := copied[member]
		if below == nil {
			below = map[string]any{}
		}
		if copied[member] = WithValue(below, rest, value); copied[member] == nil {
			return nil
		}
		return copied
	}
	elements, _ := copied[member].([]any)
	elements = slices.Clone(elements)
	if len(elements) == 0 {
		elements = []any{map[string]any{}}
	}
	if nested {
		if elements[0] = WithValue(elements[0], rest, value); elements[0] == nil {
			return nil
		}
	} else if value == (any)(absent{}) {
		elements = elements[1:]
	} else {
		for range inner {
			value = []any{value}
		}
		elements[0] = value
	}
	copied[member] = elements
	return copied
}

// Parsed returns a JSON document with its numbers as they are. It panics on anything else.
func Parsed(text string) any {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

// JSON returns the text of a document made by [WithValue].
func JSON(document any) string {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(document); err != nil {
		panic(err)
	}
	return strings.TrimSpace(text.String())
}

// Texts returns extreme texts for a header.
func Texts(s *outside.Shape) []string {
	return []string{
		"",
		"0",
		"-1",
		"9223372036854775807",
		"9223372036854775808",
		"253402300800000",
		strconv.FormatFloat(s.High, 'f', 0, 64),
		"NaN",
		"+Inf",
		"1e9",
		"0x10",
		"1:2",
		":",
		"-1:5",
		"9223372036854775807:4294967296",
		"\xff",
		"\x1b[2J",
		"null",
		"{}",
		"[]",
		`{"model":null}`,
		strings.Repeat("9", 1<<16),
		strings.Repeat("{", 1<<16),
		strings.Repeat("x", s.Most),
		strings.Repeat("x", s.Most+1),
	}
}

// Words returns the bytes of extreme numbers: integers and floats of 32 and 64 bits.
func Words() [][8]byte {
	words := []uint64{0, 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324} {
		words = append(words, math.Float64bits(v))
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32, -math.MaxFloat32} {
		word := uint64(math.Float32bits(float32(v)))
		words = append(words, word|word<<32)
	}
	all := make([][8]byte, len(words))
	for i, w := range words {
		binary.LittleEndian.PutUint64(all[i][:], w)
	}
	return all
}
