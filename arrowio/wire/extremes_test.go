package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/internal/outside"
)

// absent stands for a member that is left out.
type absent struct{}

// extreme is a value to try in the place of another.
type extreme struct {
	name   string
	value  any  // as JSON
	beyond bool // the bound excludes it, so that it must be refused
}

// extremesOf are the extremes of a value.
func extremesOf(s *outside.Shape) []extreme {
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	all := []extreme{
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
		return append(all, extreme{"empty", []any{}, s.Least > 0}, extreme{"a text", "x", true},
			extreme{"nulls", slices.Repeat([]any{nil}, 3), true},
			extreme{"one too many", slices.Repeat([]json.RawMessage{element}, s.Most+1), true},
			extreme{"thousands", slices.Repeat([]json.RawMessage{element}, min(s.Most, 2000)), false})
	case outside.Text:
		return append(
			all,
			extreme{"empty", "", false},
			extreme{"a number", 5, true},
			extreme{"the longest", strings.Repeat("x", s.Most), false},
			extreme{
				"one byte more",
				strings.Repeat("x", s.Most+1),
				true,
			},
			extreme{"enormous", strings.Repeat("x", 64<<10), s.Most < 64<<10},
			extreme{"escapes", strings.Repeat("\x01", min(s.Most, 1000)), false},
			extreme{"a slash", "a/b", false},
		)
	case outside.Digits:
		return append(
			all,
			extreme{"empty", "", true},
			extreme{"zero", "0", false},
			extreme{"the largest", "18446744073709551615", false},
			extreme{"one more", "18446744073709551616", true},
			extreme{"negative", "-1", true},
			extreme{"a number", 5, true},
		)
	case outside.Time:
		return append(
			all,
			extreme{"the year 1", "0001-01-01T00:00:00Z", true},
			extreme{"1970", "1970-01-01T00:00:00Z", false},
			extreme{
				"the far future",
				"9999-12-31T23:59:59.999999999Z",
				false,
			},
			extreme{"beyond it", "9999-12-31T23:59:59-10:00", true},
			extreme{"a word", "never", true},
			extreme{"a number", 5, true},
		)
	case outside.Truth:
		return append(all, extreme{"true", true, false}, extreme{"one", 1, true}, extreme{"a text", "true", true})
	}
	number := func(name, text string) extreme {
		v, err := strconv.ParseFloat(text, 64)
		whole := s.Kind != outside.Whole || !strings.ContainsAny(text, ".e")
		return extreme{name, raw(text), err != nil || !whole || v < s.Low || v > s.High}
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
		extreme{"NaN", "NaN", true},
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

// withValue returns the document with another value at a path such as a.b[].c: in the first element
// of each list. It is nil if the document has no such place.
func withValue(document any, path string, value any) any {
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
		if copied[member] = withValue(below, rest, value); copied[member] == nil {
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
		if elements[0] = withValue(elements[0], rest, value); elements[0] == nil {
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

// parsed is a JSON document with its numbers as they are.
func parsed(text string) any {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

// Every field of every document, with every extreme value: beyond its bound it is refused, within
// it the message is refused for a reason, or read and written unchanged.
func TestExtremesOfDocuments(t *testing.T) {
	tried, accepted := 0, 0
	covered := map[string]bool{}
	for name, m := range decoders {
		texts := map[string]*outside.Shape{m.key: shapeOfDocument(m.key)}
		if m.key == KeyFeatureSet {
			texts[KeyEncoder] = encoderMetadata.shape
		}
		for key, shape := range texts {
			covered[key] = true
			document := parsed(m.text(key))
			for _, v := range outside.Document(shape) {
				for _, e := range extremesOf(v.Shape) {
					changed := withValue(document, v.Name, e.value)
					if changed == nil {
						t.Errorf("%s: no place for %s", name, v.Name)
						continue
					}
					var text bytes.Buffer
					enc := json.NewEncoder(&text)
					enc.SetEscapeHTML(false)
					if err := enc.Encode(changed); err != nil {
						t.Fatalf("%s: %s: %v", name, v.Name, err)
					}
					tried++
					reason, err := documentReason(m.stable(newDecoder(), m.with(key, strings.TrimSpace(text.String()))))
					switch {
					case err != nil:
						t.Errorf("%s: %s %s: %v", name, v.Name, e.name, err)
					case reason == "accepted" && e.beyond:
						t.Errorf("%s: %s %s is accepted beyond the bound %s", name, v.Name, e.name, v.Shape.Bound())
					case reason == "accepted":
						accepted++
					}
				}
			}
		}
	}
	t.Logf("%d values, %d accepted", tried, accepted)
	for _, d := range documents {
		if d != featuresMetadata && d != rejectedRowsMetadata && !covered[d.key] { // those two have tests of their own
			t.Errorf("no example of %s", d.key)
		}
	}
}

// shapeOfDocument is the shape of a document by name.
func shapeOfDocument(key string) *outside.Shape {
	at := slices.IndexFunc(documents, func(d *document) bool { return d.key == key })
	return documents[at].shape
}

// Values that are valid alone must not overflow together.
func TestExtremesAddUp(t *testing.T) {
	s := bigSpec(MaxPartitions)
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	if rows := s.LabelledRows(); rows != MaxPartitions*outside.MaxCount {
		t.Errorf("%d labelled rows", rows)
	}
	if s.Sampled(s.LabelledRows()) < 0 {
		t.Error("a negative sample")
	}
	b := exampleBlock()
	b.Models = nil
	for i := range 1024 {
		sums := exampleBlock().Models[0]
		sums.Model = fmt.Sprint("m-", i)
		sums.Rows = 1e9
		sums.Loss = 1e90
		sums.Squares = 1e170
		b.Models = append(b.Models, sums)
	}
	found := must(DecodeBlock(must(EncodeBlock(b))))
	if found.Rows() != 1024e9 {
		t.Errorf("%d rows", found.Rows())
	}
	whole := found.Models[0].Clone()
	for range 100 {
		for i := range found.Models {
			whole.Merge(&found.Models[i])
		}
	}
	if math.IsInf(whole.Squares, 0) || whole.Rows < 0 {
		t.Errorf("sums of blocks overflow: %+v", whole)
	}
	b.Models[0].Loss = math.MaxFloat64
	if _, err := EncodeBlock(b); err == nil {
		t.Error("a loss that overflows together with another is accepted")
	}
	counts := Counts{Rows: math.MinInt64, Scored: math.MaxInt64, NotSampled: 1}
	if counts.Validate() == nil {
		t.Error("counts that overflow are valid")
	}
	counts = Counts{Rows: 2, Scored: math.MaxInt64, NotSampled: math.MaxInt64, Unlabelled: 4}
	if counts.Validate() == nil {
		t.Error("outcomes that overflow add up")
	}
}

// Every header, with every extreme text.
func TestExtremesOfHeaders(t *testing.T) {
	live := LiveHeader(exampleLive())
	_, samples, _ := EncodeSamples(exampleSamples(true))
	base := slices.Concat(
		FeatureBatch{
			"fs-1",
			"events",
			3,
			9,
			0,
			5,
			9,
			"log.1",
			BatchMark{7, 8},
		}.Headers(),
		[]Header{live, ModelHeader("m-1"), {HeaderEventTime, []byte("5")}},
		samples,
		DeadLetter{Stage: "subsample", Reason: "corrupt", Topic: "events", Time: noon}.Headers(),
	)
	tried := 0
	for key, shape := range headerShapes {
		if !slices.ContainsFunc(base, func(h Header) bool { return h.Key == key }) {
			t.Errorf("header %s has no example", key)
		}
		texts := []string{
			"",
			"0",
			"-1",
			"9223372036854775807",
			"9223372036854775808",
			"253402300800000",
			"NaN",
			"+Inf",
			"1e9",
			"0x10",
			"1:2",
			":",
			"-1:5",
			"9223372036854775807:4294967296",
			"\xff",
			"null",
			"{}",
			"[]",
			`{"model":null}`,
			strings.Repeat("9", 1<<16),
			strings.Repeat("{", 1<<16),
			strings.Repeat("x", shape.Most+1),
		}
		for _, text := range texts {
			tried++
			headers := slices.Clone(base)
			for i := range headers {
				if headers[i].Key == key {
					headers[i].Value = []byte(text)
				}
			}
			checkHeaders(t, ParseFeatureHeaders, headers)
			checkHeaders(t, ParseDeadLetterHeaders, headers)
			checkHeaders(t, parseLiveHeaders, headers)
			if _, err := DecodeSamples(newDecoder(), samplesValue(exampleSamples(true)), headers); err != nil &&
				!errors.Is(err, ErrHeaders) &&
				!errors.Is(err, ErrMalformed) {
				t.Errorf("%s %.40q: %v", key, text, err)
			}
			SamplesOf(headers, exampleSpec().Hash(), 2)
			if at, ok := ParseEventTime([]byte(text)); ok && !outside.ValidTime(at) {
				t.Errorf("%s %.40q is the time %v", key, text, at)
			}
		}
	}
	t.Logf("%d values", tried)
}

// Every column of our own messages is declared, and extreme numbers in it are refused for a reason,
// or read and written unchanged.
func TestExtremesOfColumns(t *testing.T) {
	declared := map[string]*outside.Shape{}
	for _, s := range columnSources {
		for _, v := range s.Values {
			declared[v.Name] = v.Shape
		}
	}
	tried := 0
	for name, m := range decoders {
		if IsJSON(m.value) {
			continue
		}
		recs := must(newDecoder().Decode(m.value))
		for i, field := range recs[0].Schema().Fields() {
			if declared[field.Name] == nil {
				t.Errorf("column %s of %s is not declared", field.Name, name)
			}
			for bits := range extremeBits(field.Type) {
				value := withBits(m.value, i, bits)
				if value == nil {
					continue
				}
				tried++
				if _, err := documentReason(m.stable(newDecoder(), value)); err != nil {
					t.Errorf("%s: column %s with %x: %v", name, field.Name, bits, err)
				}
			}
		}
		releaseAll(recs)
	}
	t.Logf("%d values", tried)
}

// extremeBits returns the extreme numbers of a column type, encoded as the bytes of a value.
func extremeBits(arrow.DataType) map[string]bool {
	words := []uint64{
		0,
		1,
		1<<31 - 1,
		1 << 31,
		1<<32 - 1,
		1<<63 - 1,
		1 << 63,
		1<<64 - 1,
		math.Float64bits(math.NaN()),
		math.Float64bits(math.Inf(1)),
		math.Float64bits(
			math.Inf(-1),
		),
		math.Float64bits(math.MaxFloat64),
		math.Float64bits(-math.MaxFloat64),
		math.Float64bits(5e-324),
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32, -math.MaxFloat32} {
		word := uint64(math.Float32bits(float32(v)))
		words = append(words, word|word<<32)
	}
	all := map[string]bool{}
	for _, w := range words {
		all[string(arrow.GetBytes([]uint64{w}))] = true
	}
	return all
}

// withBits is a message whose column i begins with other bytes; nil if the column holds no numbers.
func withBits(value []byte, i int, bits string) []byte {
	changed := false
	out := rewrite(
		bytes.Clone(value),
		func(_ map[string]string, f []arrow.Field, c []arrow.Array) ([]arrow.Field, []arrow.Array) {
			data := c[i].Data()
			for len(data.Children()) > 0 {
				data = data.Children()[0]
			}
			if arr := array.MakeFromData(data); arrow.IsFloating(arr.DataType().ID()) || arrow.IsInteger(arr.DataType().ID()) {
				if raw := data.Buffers()[1].Bytes(); len(raw) >= 4 {
					copy(raw, bits)
					changed = true
				}
			}
			return f, c
		},
	)
	if !changed {
		return nil
	}
	return out
}
