package formats

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
)

func TestJSONRows(t *testing.T) {
	for name, c := range map[string]struct {
		text         string
		names, types []string
		cells        [][]string
	}{
		"object": {`{"a": 1, "b": 2.5, "c": "x", "d": true, "e": null}`, []string{"a", "b", "c", "d", "e"},
			[]string{"int64", "float64", "utf8", "bool", "null"}, [][]string{{"1", "2.5", "x", "true", "(null)"}}},
		"array": {
			` [{"a": 1}, {"b": 2, "a": 3}, {}] `,
			[]string{"a", "b"},
			[]string{"int64", "int64"},
			[][]string{{"1", "(null)"}, {"3", "2"}, {"(null)", "(null)"}},
		},
		"lines": {"{\"a\": 1}\n{\"a\": 2.5}\n", []string{"a"}, []string{"float64"}, [][]string{{"1"}, {"2.5"}}},
		"nested": {
			`{"a": {"b": {"c": 1}, "d": "é"}}`,
			[]string{"a.b.c", "a.d"},
			[]string{"int64", "utf8"},
			[][]string{{"1", "é"}},
		},
		"lists": {
			`[{"v": [1, 2.5]}, {"v": [3, null]}]`,
			[]string{"v"},
			[]string{"fixed_size_list<item: float64, nullable>[2]"},
			[][]string{{"[1,2.5]"}, {"[3,null]"}},
		},
		"ragged": {`[{"v": [1, 2]}, {"v": [3]}]`, []string{"v"}, []string{"null"}, [][]string{{"(null)"}, {"(null)"}}},
		"other": {
			`{"v": ["x"], "w": [{"a": [1]}], "x": 1}`,
			[]string{"v", "w", "x"},
			[]string{"null", "null", "int64"},
			[][]string{{"(null)", "(null)", "1"}},
		},
		"one bad": {
			`[{"a": 1}, {"a": "n/a"}, {"a": 2.5}]`,
			[]string{"a"},
			[]string{"utf8"},
			[][]string{{"1"}, {"n/a"}, {"2.5"}},
		},
		"mostly": {
			`[{"a": "x"}, {"a": 7}, {"a": true}, {"a": "y"}]`,
			[]string{"a"},
			[]string{"utf8"},
			[][]string{{"x"}, {"7"}, {"true"}, {"y"}},
		},
		"large": {
			`{"a": 9223372036854775807, "b": 9223372036854775808, "c": 1.0}`,
			[]string{"a", "b", "c"},
			[]string{"int64", "uint64", "float64"},
			[][]string{{"9223372036854775807", "9223372036854775808", "1"}},
		},
		"larger": {
			`[{"a": 18446744073709551616, "b": -1, "c": 18446744073709551615},
				{"a": 5, "b": 18446744073709551615}, {"a": null, "b": 0.5, "c": 7}]`,
			[]string{"a", "b", "c"},
			[]string{"utf8", "utf8", "uint64"},
			[][]string{
				{"18446744073709551616", "-1", "18446744073709551615"},
				{"5", "18446744073709551615", "(null)"},
				{"(null)", "0.5", "7"},
			},
		},
		"no rows":   {`[]`, nil, nil, nil},
		"no fields": {`[{},{}]`, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			names, types, cells, err := rows(t, NewDecoder(Options{}), []byte(c.text))
			if err != nil || !reflect.DeepEqual(names, c.names) || !reflect.DeepEqual(types, c.types) ||
				!reflect.DeepEqual(cells, c.cells) {
				t.Errorf("%q %q %q %v, want %q %q %q", names, types, cells, err, c.names, c.types, c.cells)
			}
		})
	}
}

func TestMalformedJSONIsRefused(t *testing.T) {
	deep := strings.Repeat(`{"a":`, MaxDepth+1) + "1" + strings.Repeat("}", MaxDepth+1)
	lists := `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}"
	for name, c := range map[string]struct{ text, reason string }{
		"cut":             {`{"a": 1`, "bad_json"},
		"half":            {`{"a": 1}{"a"`, "bad_json"},
		"twice":           {`{"a": 1, "a": 2}`, "bad_json"},
		"twice, escaped":  {`{"a": 1, "\u0061": 2}`, "bad_json"},
		"twice as null":   {`{"a": null, "a": null}`, "bad_json"},
		"object twice":    {`{"a": {"b": 1}, "a": {"c": 2}}`, "bad_json"},
		"twice in a part": {`{"a": [{"b": 1, "b": 2}]}`, "bad_json"},
		"after text":      {`{"s": ":{", "t": "x", "t": 1}`, "bad_json"},
		"twice by dots":   {`{"a.b": 1, "a": {"b": 2}}`, "bad_json"},
		"number":          {`[1]`, "bad_json"},
		"after the row":   {`{"a": 1} 7`, "bad_json"},
		"too large":       {`{"a": 1e999}`, "bad_json"},
		"long number":     {`{"a": ` + strings.Repeat("9", 2000) + `}`, "too_large"},
		"not UTF-8":       {"{\"a\": \"\xff\"}", "bad_json"},
		"lone surrogate":  {`{"a": "\ud800"}`, "bad_json"},
		"deep":            {deep, "too_large"},
		"deep lists":      {lists, "too_large"},
		"long name":       {`{"` + strings.Repeat("n", 2000) + `": 1}`, "too_large"},
		"rows":            {"[" + strings.Repeat(`{},`, 1000) + `{}]`, "too_large"},
		"columns":         {"{" + columnsOf(101) + "}", "too_large"},
		"columns x rows": {
			"[{" + columnsOf(100) + "}," + strings.Repeat(`{},`, 900) + "{" + columnsOf(100) + "}]",
			"over_budget",
		},
		"trailing comma": {`{"a": 1,}`, "bad_json"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := rows(t, NewDecoder(Options{Limits: small}), []byte(c.text))
			if Reason(err) != c.reason {
				t.Errorf("reason %q: %v", Reason(err), err)
			}
		})
	}
}

func columnsOf(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"c` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26) + `": 1`)
	}
	return b.String()
}

// testEncoder has a number, a category, a boolean, a pair of numbers, and a label.
func testEncoder() *encoder.Encoder {
	return &encoder.Encoder{
		Columns: []encoder.Column{
			{Name: "n", Kind: encoder.Numeric, Width: 1, Mean: []float64{0}, Scale: []float64{1}},
			{Name: "c", Kind: encoder.Category, Width: 1, Categories: []string{"7"}},
			{Name: "b", Kind: encoder.Bool, Width: 1, Mean: []float64{0.5}},
			{Name: "v", Kind: encoder.Vector, Width: 2, Mean: []float64{0, 0}, Scale: []float64{1, 1}},
		},
		Dim: 5, Label: &encoder.Label{Columns: []string{"y"}, Kind: encoder.Numeric, Task: scoring.Regression},
	}
}

// TestJSONMatchesTheEncoder checks that cells of another kind keep their text, and a missing column
// has only nulls.
func TestJSONMatchesTheEncoder(t *testing.T) {
	d := NewDecoder(Options{Encoder: testEncoder()})
	for name, c := range map[string]struct {
		text  string
		names []string
		cells [][]string
	}{
		"fits": {
			`{"n": 1, "c": "x", "b": true, "v": [1, 2], "y": 3}`,
			[]string{"n", "c", "b", "v", "y"},
			[][]string{{"1", "x", "true", "[1,2]", "3"}},
		},
		"does not": {
			`{"n": "n/a", "c": 7, "b": 1, "v": [1], "y": "?"}`,
			[]string{"n", "c", "b", "v", "y"},
			[][]string{{"n/a", "7", "1", "(null)", "?"}},
		},
		"beyond int64": {
			`{"n": 36893488147419103232, "c": 36893488147419103232, "v": [36893488147419103232, 1], "id": 36893488147419103232}`,
			[]string{"n", "c", "v", "id", "b"},
			[][]string{{
				"3.6893488147419103e+19", "36893488147419103232", "[36893488147419103000,1]", "36893488147419103232", "(null)",
			}},
		},
		"is missing": {`{"n": 1}`, []string{"n", "c", "b", "v"}, [][]string{{"1", "(null)", "(null)", "(null)"}}},
		"all are":    {`{"other": 1}`, []string{"other"}, [][]string{{"1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			names, _, cells, err := rows(t, d, []byte(c.text))
			if err != nil || !reflect.DeepEqual(names, c.names) || !reflect.DeepEqual(cells, c.cells) {
				t.Errorf("%q %q %v", names, cells, err)
			}
		})
	}
}

// TestListsOfAnotherKindAreUnfit: no column can hold a list where the encoder reads single values.
func TestListsOfAnotherKindAreUnfit(t *testing.T) {
	d := NewDecoder(Options{Encoder: testEncoder()})
	for text, want := range map[string]string{
		`{"n": 1, "c": "x", "b": true, "v": [1, 2], "y": 3}`: "",
		`{"n": "n/a", "c": null, "b": "no", "v": null}`:      "",
		`{"n": "many", "c": 7, "v": []}`:                     "", // an encoder rejects texts row by row
		`[{"n": 1}, {"n": [1, 2]}]`:                          `column "n" is a list of 2 numbers in row 1, not a number`,
		`{"c": ["a"]}`:                                       `column "c" is a list in row 0, not a text`,
		`{"v": [1]}`:                                         "", // missing, so that it spoils no other row
		`{"v": "1 2"}`:                                       "",
		`{"y": [3]}`:                                         `column "y" is a list of 1 numbers in row 0, not a number`,
		`{"other": [3]}`:                                     "",
	} {
		recs, err := d.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		recs[0].Release()
		if err := d.Unfit(); (err == nil) != (want == "") || err != nil &&
			(!errors.Is(err, encoder.ErrSchema) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestFormatDetection detects formats by first bytes, and reads Arrow even if another format is
// configured.
func TestFormatDetection(t *testing.T) {
	rec := sampleRecord(t, 2)
	arrows, err := arrowio.EncodeStream(rec.Schema(), rec)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		options Options
		value   []byte
		reason  string
	}{
		"arrow":             {Options{}, arrows, ""},
		"arrow under json":  {Options{Format: JSON}, arrows, ""},
		"arrow under avro":  {Options{Format: Avro, Registry: registered}, arrows, ""},
		"not under bare":    {Options{Format: Avro, Schema: nestedAvro}, arrows, "bad_avro"},
		"json":              {Options{}, []byte(" {}"), ""},
		"json framed":       {Options{Format: JSON}, framed(9, []byte("{}")), ""},
		"json by id":        {Options{Registry: registered}, framed(3, []byte("{}")), ""},
		"json is not arrow": {Options{Format: Arrow}, []byte("{}"), "not_arrow"},
		"avro":              {Options{Registry: registered}, nestedAvroMessage(t, 1), ""},
		"avro, no registry": {Options{}, nestedAvroMessage(t, 1), "unknown_format"},
		"avro, none at all": {Options{Format: Avro}, nestedAvroMessage(t, 1), "unknown_schema"},
		"avro as protobuf":  {Options{Format: Protobuf, Registry: registered}, nestedAvroMessage(t, 1), "bad_schema"},
		"bare avro":         {Options{Format: Avro, Schema: nestedAvro}, nestedAvroMessage(t, 1)[frameBytes:], ""},
		"bare protobuf": {
			Options{Format: Protobuf, Schema: "syntax = \"proto3\"; message M { int32 a = 1; }"},
			[]byte{8, 1},
			"",
		},
		"protobuf":            {Options{Registry: registered}, nestedProtoMessage(t), ""},
		"protobuf of no type": {Options{Registry: registered}, framed(2, []byte{2, 18}), "bad_schema"},
		"unknown":             {Options{Registry: registered}, framed(12, nil), "unknown_schema"},
		"nothing":             {Options{Registry: registered}, nil, "unknown_format"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, _, err := rows(t, NewDecoder(c.options), c.value)
			if Reason(err) != c.reason || (err == nil) != (c.reason == "") {
				t.Errorf("reason %q, want %q: %v", Reason(err), c.reason, err)
			}
		})
	}
}

// Errors for messages in the wrong format describe the actual format.
func TestErrorsNameTheActualFormat(t *testing.T) {
	for want, c := range map[string]struct {
		format Format
		value  string
	}{
		"Arrow is expected, and the message looks like JSON": {Arrow, ` {"a": 1}`},
		"no known format, see events.format: the message looks like JSON within a JSON string": {
			Auto,
			`"{\"a\": 1}"`,
		},
		"no known format, see events.format: the message looks like text after a byte order mark":      {Auto, "\ufeff{}"},
		`no known format, see events.format: the message looks like text: it begins with "a,b\n1,2\n"`: {Auto, "a,b\n1,2\n"},
		"looks as if it named schema 7 of a registry, and none is configured": {
			Auto,
			"\x00\x00\x00\x00\x07\x02",
		},
		"no known format, see events.format: the message is empty":               {Auto, ""},
		`no known format, see events.format: the message begins with "\x01\x02"`: {Auto, "\x01\x02"},
		"looks like gzip": {Auto, "\x1f\x8b\x08"},
	} {
		if _, err := NewDecoder(Options{Format: c.format}).Decode([]byte(c.value)); err == nil ||
			!strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "arrow stream") {
			t.Errorf("%q as %s: %v, want %s", c.value, c.format, err, want)
		}
	}
}
