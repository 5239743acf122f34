package formats

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

// long encodes an Avro long, or the length of a string.
func long(v int64) []byte { return binary.AppendVarint(nil, v) }

func avroText(s string) []byte { return append(long(int64(len(s))), s...) }

func avroDoubleBytes(v float64) []byte {
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
}

func concat(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// TestSchemasOfNeighbours reads messages by schemas that other tools register: names that only
// Java's library accepts, logical types that must be ignored, files that Confluent's clients have
// built in, members of oneofs, groups and absent fields.
func TestSchemasOfNeighbours(t *testing.T) {
	record := func(fields string) Schema {
		text := `{"type": "record", "name": "E", "fields": [` + fields + `, {"name": "x", "type": "double"}]}`
		return Schema{Format: Avro, Text: text}
	}
	bytesDecimal := func(parameters string) Schema {
		return record(`{"name": "p", "type": {"type": "bytes", "logicalType": "decimal"` + parameters + `}}`)
	}
	proto := func(text string) Schema { return Schema{Format: Protobuf, Text: text} }
	named := func(old, name string) Schema {
		s := record(`{"name": "p", "type": "long"}`)
		s.Text = strings.Replace(s.Text, old, name, 1)
		return s
	}
	const proto2, proto3 = `syntax = "proto2"; `, `syntax = "proto3"; `
	for name, c := range map[string]struct {
		schema Schema
		body   []byte
		want   string
	}{
		"decimal on a string": {
			record(`{"name": "p", "type": {"type": "string", "logicalType": "decimal", "precision": 9, "scale": 2}}`),
			concat(avroText("12.50"), avroDoubleBytes(1)), "p=12.50 x=1",
		},
		"date on a long": {
			record(`{"name": "p", "type": {"type": "long", "logicalType": "date"}}`),
			concat(long(7), avroDoubleBytes(1)), "p=7 x=1",
		},
		"decimal without precision": {bytesDecimal(""), concat(avroText("\x01"), avroDoubleBytes(1)), "p=AQ== x=1"},
		"scale beyond precision": {
			bytesDecimal(`, "precision": 64, "scale": 127`),
			concat(avroText("\x01"), avroDoubleBytes(1)), "p=AQ== x=1",
		},
		"negative scale": {
			bytesDecimal(`, "precision": 4, "scale": -1`),
			concat(avroText("\x01"), avroDoubleBytes(1)), "p=AQ== x=1",
		},
		"precision beyond a fixed": {
			record(`{"name": "p", "type": {"type": "fixed", "name": "F", "size": 1, "logicalType": "decimal", "precision": 3}}`),
			concat([]byte{1}, avroDoubleBytes(1)), "p=AQ== x=1",
		},
		"precision of Kafka Connect": {
			bytesDecimal(`, "precision": 64, "scale": 2, "connect.decimal.precision": "64"`),
			concat(avroText("\x04\xe2"), avroDoubleBytes(1)), "p=12.5 x=1",
		},
		"value beyond 38 digits": {
			bytesDecimal(`, "precision": 64, "scale": 2`),
			concat(avroText("\x7f"+strings.Repeat("\xff", 15)), avroDoubleBytes(1)), "bad_avro",
		},
		"hyphen in a namespace": {
			named(`"E"`, `"E", "namespace": "my-shop.public.orders"`),
			concat(long(7), avroDoubleBytes(1)), "p=7 x=1",
		},
		"hyphen and letters beyond ASCII in a field": {
			named(`"p"`, `"größe-3d"`),
			concat(long(7), avroDoubleBytes(1)), "größe-3d=7 x=1",
		},
		"symbols beyond ASCII": {
			record(`{"name": "p", "type": {"type": "enum", "name": "K", "symbols": ["süß", "e-mail"]}}`),
			concat(long(1), avroDoubleBytes(1)), "p=e-mail x=1",
		},
		"one name in two namespaces": {
			record(`{"name": "b", "type": {"type": "record", "name": "B", "namespace": "billing", "fields": [
				{"name": "h", "type": {"type": "record", "name": "Address", "fields": [{"name": "zip", "type": "long"}]}},
				{"name": "w", "type": "Address"}]}},
				{"name": "s", "type": {"type": "record", "name": "S", "namespace": "shipping", "fields": [
				{"name": "h", "type": {"type": "record", "name": "Address", "fields": [{"name": "km", "type": "double"}]}},
				{"name": "w", "type": "Address"}, {"name": "o", "type": "billing.Address"}]}}`),
			concat(long(1), long(2), avroDoubleBytes(3), avroDoubleBytes(4), long(5), avroDoubleBytes(1)),
			"b.h.zip=1 b.w.zip=2 s.h.km=3 s.w.km=4 s.o.zip=5 x=1",
		},
		"a name with and without namespace": {
			record(`{"name": "a", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
				{"name": "s", "type": {"type": "record", "name": "S", "namespace": "shipping", "fields": [
				{"name": "k", "type": {"type": "enum", "name": "Kind", "symbols": ["w", "x"]}},
				{"name": "l", "type": "Kind"}]}}`),
			concat(long(1), long(1), long(0), avroDoubleBytes(1)), "a=B s.k=x s.l=w x=1",
		},
		"a name without namespace used within one": {
			record(`{"name": "a", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
				{"name": "s", "type": {"type": "record", "name": "S", "namespace": "shipping", "fields": [
				{"name": "l", "type": "Kind"}]}}`),
			concat(long(1), long(0), avroDoubleBytes(1)), "a=B s.l=A x=1",
		},
		"a full name within another namespace": {
			record(`{"name": "s", "type": {"type": "record", "name": "S", "namespace": "shipping", "fields": [
				{"name": "k", "type": {"type": "enum", "name": "other.Kind", "symbols": ["w", "x"]}},
				{"name": "l", "type": ["null", "other.Kind"]}]}}`),
			concat(long(1), long(1), long(1), avroDoubleBytes(1)), "s.k=x s.l=x x=1",
		},

		"confluent/meta.proto": {
			proto(proto3 + `import "confluent/meta.proto"; message V {
				int32 p = 1 [(confluent.field_meta) = { params: [{ key: "connect.type", value: "int16" }] }]; }`),
			[]byte{0, 8, 7}, "p=7",
		},
		"confluent/type/decimal.proto": {
			proto(proto3 + `import "confluent/type/decimal.proto"; message V { confluent.type.Decimal d = 1; }`),
			[]byte{0, 10, 6, 10, 2, 0xfb, 0x1e, 24, 2}, "d=-12.5",
		},
		"google/type/decimal.proto": {
			proto(proto3 + `import "google/type/decimal.proto"; message V { google.type.Decimal d = 1; }`),
			append([]byte{0, 10, 8, 10, 6}, "1.25e3"...), "d=1250",
		},
		"google/type/decimal.proto, not a number": {
			proto(proto3 + `import "google/type/decimal.proto"; message V { google.type.Decimal d = 1; }`),
			append([]byte{0, 10, 5, 10, 3}, "inf"...), "bad_protobuf",
		},
		"google/type/money.proto": {
			proto(proto3 + `import "google/type/money.proto"; message V { google.type.Money m = 1; }`),
			append([]byte{0, 10, 7, 10, 3}, "EUR\x10\x05"...), "m.currency_code=EUR m.units=5 m.nanos=0",
		},
		"last member of a oneof": {
			proto(proto3 + `message V { oneof v { int32 i = 1; int32 d = 2; } }`),
			[]byte{0, 8, 7, 16, 9}, "i=(null) d=9",
		},
		"first member of a oneof again": {
			proto(proto3 + `message V { oneof v { int32 i = 1; int32 d = 2; } }`),
			[]byte{0, 8, 7, 16, 9, 8, 6}, "i=6 d=(null)",
		},
		"message that another member of a oneof replaces": {
			proto(proto3 + `message V { oneof v { M m = 1; int32 d = 2; } } message M { int32 a = 1; oneof n { int32 b = 2; } }`),
			[]byte{0, 10, 4, 8, 5, 16, 6, 16, 9},
			"m.a=(null) m.b=(null) d=9",
		},
		"message of a oneof in two pieces": {
			proto(proto3 + `message V { oneof v { M m = 1; int32 d = 2; } } message M { int32 a = 1; int32 b = 2; }`),
			[]byte{0, 10, 2, 8, 5, 10, 2, 16, 6}, "m.a=5 m.b=6 d=(null)",
		},
		"optional field of proto3": {
			proto(proto3 + `message V { optional int32 i = 1; int32 d = 2; }`), []byte{0, 16, 9}, "i=(null) d=9",
		},
		"group": {
			proto(proto2 + `message V { optional group G = 1 { optional int32 a = 1; } optional int32 d = 2; }`),
			[]byte{0, 11, 8, 5, 12, 16, 9}, "g.a=5 d=9",
		},
		"group without end": {
			proto(proto2 + `message V { optional group G = 1 { optional int32 a = 1; } optional int32 d = 2; }`),
			[]byte{0, 11, 8, 5, 16, 9}, "bad_protobuf",
		},
		"absent field with a declared default": {
			proto(proto2 + `message V { optional int32 n = 1 [default = 41]; }`), []byte{0}, "n=(null)",
		},
		"absent field without presence": {
			proto(proto3 + `message V { int32 n = 1; string s = 2; K k = 3; } enum K { ZERO = 0; }`),
			[]byte{0}, "n=0 s= k=ZERO",
		},
	} {
		t.Run(name, func(t *testing.T) {
			names, _, cells, err := rows(t, NewDecoder(Options{Registry: schemas{7: &c.schema}}), framed(7, c.body))
			got := Reason(err)
			for i := range names {
				got += fmt.Sprintf(" %s=%s", names[i], cells[0][i])
			}
			if got = strings.TrimSpace(got); got != c.want {
				t.Errorf("%s, want %s: %v", got, c.want, err)
			}
		})
	}
}

// TestOneofsThatReplaceEachOther bounds the work for a message in which the members of a oneof
// take turns: each turn clears all columns of a member.
func TestOneofsThatReplaceEachOther(t *testing.T) {
	var b strings.Builder
	b.WriteString(`syntax = "proto3"; message V { oneof v { M m = 1; int32 d = 2; } } message M {`)
	for i := range 1000 {
		fmt.Fprintf(&b, "int32 a%d = %d;", i, i+1)
	}
	b.WriteString("}")
	limits := small
	limits.MaxColumns = 2000
	d := NewDecoder(Options{
		Limits:   limits,
		Registry: schemas{7: &Schema{Format: Protobuf, Text: b.String()}},
	})
	turns := strings.Repeat("\x0a\x00\x10\x01", 10_000)
	_, err := d.Decode(framed(7, append([]byte{0}, turns...)))
	if got := Reason(err); got != "too_large" {
		t.Errorf("%q: %v", got, err)
	}
}
