package formats

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

func avroSchema(fields string) string {
	return `{"type": "record", "name": "E", "fields": [` + fields + `]}`
}

// TestAvroAttacks decodes messages with false lengths and counts.
func TestAvroAttacks(t *testing.T) {
	huge := binary.AppendVarint(nil, 1<<40)
	for name, c := range map[string]struct {
		fields string
		body   []byte
		reason string
	}{
		"string beyond the end": {`{"name": "a", "type": "string"}`, huge, "bad_avro"},
		"negative length":       {`{"name": "a", "type": "bytes"}`, binary.AppendVarint(nil, -5), "bad_avro"},
		"endless number":        {`{"name": "a", "type": "long"}`, slices.Repeat([]byte{0xff}, 12), "bad_avro"},
		"int too large":         {`{"name": "a", "type": "int"}`, huge, "bad_avro"},
		"boolean of two":        {`{"name": "a", "type": "boolean"}`, []byte{2}, "bad_avro"},
		"branch":                {`{"name": "a", "type": ["null", "int"]}`, []byte{4}, "bad_avro"},
		"symbol": {
			`{"name": "a", "type": {"type": "enum", "name": "K", "symbols": ["x"]}}`,
			[]byte{2},
			"bad_avro",
		},
		"not UTF-8":           {`{"name": "a", "type": "string"}`, []byte{2, 0xff}, "bad_avro"},
		"bytes after it":      {`{"name": "a", "type": "int"}`, []byte{2, 2}, "bad_avro"},
		"cut":                 {`{"name": "a", "type": "double"}`, []byte{1, 2, 3}, "bad_avro"},
		"numbers without end": {`{"name": "a", "type": {"type": "array", "items": "double"}}`, huge, "too_large"},
		"nothing, many times": {`{"name": "a", "type": {"type": "array", "items": "null"}}`, huge, "too_large"},
		"nothing, in many blocks": {
			`{"name": "a", "type": {"type": "array", "items": "null"}}`,
			slices.Repeat(binary.AppendVarint(nil, 1<<20), 10),
			"too_large",
		},
		"least block": {
			`{"name": "a", "type": {"type": "array", "items": "null"}}`,
			slices.Concat(binary.AppendVarint(nil, -1<<63), []byte{0}),
			"bad_avro",
		},
		"records in records": {
			`{"name": "a", "type": {"type": "record", "name": "R", "fields": [{"name": "n", "type": ["null", "R"]}]}}`,
			slices.Repeat([]byte{2}, 500),
			"too_large",
		},
		"decimal of 17 bytes": {
			`{"name": "a", "type": {"type": "bytes", "logicalType": "decimal", "precision": 38}}`,
			append([]byte{34}, slices.Repeat([]byte{1}, 17)...),
			"bad_avro",
		},
	} {
		t.Run(name, func(t *testing.T) {
			registry := schemas{1: {Format: Avro, Text: avroSchema(c.fields)}}
			_, _, _, err := rows(t, NewDecoder(Options{Limits: small, Registry: registry}), framed(1, c.body))
			if Reason(err) != c.reason {
				t.Errorf("reason %q: %v", Reason(err), err)
			}
		})
	}
}

// TestBadSchemas compiles schemas that are unusable, or expand beyond the limits.
func TestBadSchemas(t *testing.T) {
	deep := `"int"`
	for i := range MaxDepth + 1 {
		deep = fmt.Sprintf(`{"type": "record", "name": "R%d", "fields": [{"name": "f", "type": %s}]}`, i, deep)
	}
	wide := make([]string, small.MaxColumns+1)
	for i := range wide {
		wide[i] = fmt.Sprintf(`{"name": "f%d", "type": "null"}`, i)
	}
	// Each record contains the previous one twice: 2^15 columns from a schema of a few lines.
	double := `"int"`
	for i := range MaxDepth - 1 {
		double = fmt.Sprintf(
			`{"type": "record", "name": "D%d", "fields": [{"name": "a", "type": %s}, {"name": "b", "type": "%s"}]}`,
			i,
			double,
			map[bool]string{true: "int", false: fmt.Sprintf("D%d", i-1)}[i == 0],
		)
	}
	for name, c := range map[string]struct {
		schema Schema
		reason string
	}{
		"no schema": {Schema{Format: Avro, Text: "{"}, "bad_schema"},
		"no record": {Schema{Format: Avro, Text: `"int"`}, "bad_schema"},
		"deep":      {Schema{Format: Avro, Text: deep}, "bad_schema"},
		"wide":      {Schema{Format: Avro, Text: avroSchema(strings.Join(wide, ","))}, "too_large"},
		"double":    {Schema{Format: Avro, Text: double}, "too_large"},
		"large": {
			Schema{
				Format: Avro,
				Text:   avroSchema(`{"name": "a", "type": "int", "doc": "` + strings.Repeat("x", MaxSchemaBytes) + `"}`),
			},
			"bad_schema",
		},
		"unknown type": {Schema{Format: "THRIFT", Text: "{}"}, "bad_schema"},
		"no proto":     {Schema{Format: Protobuf, Text: "message {"}, "bad_schema"},
		"no message":   {Schema{Format: Protobuf, Text: `syntax = "proto3";`}, "bad_schema"},
		"import not there": {
			Schema{Format: Protobuf, Text: `syntax = "proto3"; import "other.proto"; message M { int32 a = 1; }`},
			"bad_schema",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(Options{Limits: small, Registry: schemas{1: &c.schema}})
			if _, _, _, err := rows(t, d, framed(1, make([]byte, 8))); Reason(err) != c.reason ||
				strings.Contains(err.Error(), unforeseen) {
				t.Errorf("reason %q: %v", Reason(err), err)
			}
		})
	}
}

// TestEncoderColumnsByAlias finds columns by the aliases of the message's schema; a missing column
// is null.
func TestEncoderColumnsByAlias(t *testing.T) {
	enc := &encoder.Encoder{Columns: []encoder.Column{
		{Name: "in.old", Kind: encoder.Numeric, Width: 1}, {Name: "gone", Kind: encoder.Numeric, Width: 1},
	}}
	text := avroSchema(
		`{"name": "within", "aliases": ["in"], "type": {"type": "record", "name": "In", "fields": [{"name": "new", "aliases": ["old"], "type": "int"}]}}`,
	)
	names, _, cells, err := rows(
		t,
		NewDecoder(Options{Encoder: enc, Registry: schemas{1: {Format: Avro, Text: text}}}),
		framed(1, []byte{14}),
	)
	if want := []string{"in.old", "gone"}; err != nil || !slices.Equal(names, want) ||
		!reflect.DeepEqual(cells, [][]string{{"7", "(null)"}}) {
		t.Errorf("%q %q %v", names, cells, err)
	}
}

// TestArrayOfRecords reads an array of records as rows.
func TestArrayOfRecords(t *testing.T) {
	text := `{"type": "array", "items": ` + avroSchema(`{"name": "a", "type": "int"}`) + `}`
	_, _, cells, err := rows(t, NewDecoder(Options{Format: Avro, Schema: text}), []byte{4, 14, 16, 0})
	if err != nil || !reflect.DeepEqual(cells, [][]string{{"7"}, {"8"}}) {
		t.Errorf("%q %v", cells, err)
	}
}
