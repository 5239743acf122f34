package formats

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// branching is a schema of records, each containing the next ten times, down to a type.
func branching(levels int, name, leaf string) string {
	s := leaf
	for l := levels; l >= 1; l-- {
		fields := make([]string, 10)
		for i := range fields {
			typ := s
			if i > 0 && l < levels {
				typ = fmt.Sprintf(`"R%d"`, l+1)
			} else if i > 0 {
				typ = name
			}
			fields[i] = fmt.Sprintf(`{"name": "f%d", "type": %s}`, i, typ)
		}
		s = fmt.Sprintf(`{"type": "record", "name": "R%d", "fields": [%s]}`, l, strings.Join(fields, ","))
	}
	return s
}

// branchingProto is the same for messages.
func branchingProto(levels int) string {
	var b strings.Builder
	b.WriteString("syntax = \"proto3\";\n")
	for l := range levels {
		fmt.Fprintf(&b, "message M%d {", l)
		for i := range 10 {
			fmt.Fprintf(&b, "M%d f%d = %d;", l+1, i, i+1)
		}
		b.WriteString("}\n")
	}
	fmt.Fprintf(&b, "message M%d {}\n", levels)
	return b.String()
}

// allocated returns the bytes that a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestSchemasThatExpand compiles small schemas that reference a record many times, or have long
// names.
func TestSchemasThatExpand(t *testing.T) {
	empty := branching(9, `"E"`, `{"type": "record", "name": "E", "fields": []}`)
	leaves := make([]string, 1500)
	for i := range leaves {
		leaves[i] = fmt.Sprintf(`{"name": "x%d", "type": "int"}`, i)
	}
	wide := fmt.Sprintf(`{"type": "record", "name": "L", "fields": [%s]}`, strings.Join(leaves, ","))
	long, aliases := wide, wide
	for l := range MaxDepth - 2 {
		long = fmt.Sprintf(
			`{"type": "record", "name": "R%d", "fields": [{"name": "%s", "type": %s}]}`,
			l,
			strings.Repeat("n", 6000),
			long,
		)
		aliases = fmt.Sprintf(
			`{"type": "record", "name": "R%d", "fields": [{"name": "%s", "aliases": ["q"], "type": %s}]}`,
			l,
			strings.Repeat("n", 60),
			aliases,
		)
	}
	proto, longProto := branchingProto(9), "syntax = \"proto3\"; message M { int32 "+strings.Repeat("n", 2000)+" = 1; }"
	huge := Reference{
		"E",
		`{"type": "enum", "name": "E", "symbols": ["A"], "doc": "` + strings.Repeat("d", MaxSchemaBytes) + `"}`,
	}
	const most = 128 << 20 // nodes, columns and names at their bounds, and parsing
	for name, c := range map[string]struct {
		schema Schema
		most   uint64
	}{
		"empty records": {Schema{Format: Avro, Text: empty}, most},
		"nulls":         {Schema{Format: Avro, Text: branching(9, `"null"`, `"null"`)}, most},
		"long names":    {Schema{Format: Avro, Text: long}, most},
		"aliases":       {Schema{Format: Avro, Text: aliases}, most},
		"type's name": {
			Schema{
				Format: Avro,
				Text: avroSchema(fmt.Sprintf(`{"name": "a", "type": {"type": "fixed", "size": 1, "name": "%s"}}`,
					strings.Repeat("n", 2000))),
			},
			most,
		},
		"reference": {
			Schema{Format: Avro, Text: avroSchema(`{"name": "e", "type": "E"}`), References: []Reference{huge}},
			1 << 20,
		},
		"messages":         {Schema{Format: Protobuf, Text: proto}, most},
		"long proto names": {Schema{Format: Protobuf, Text: longProto}, most},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(Options{Limits: arrowio.Limits{MaxColumns: 1 << 20}, Registry: schemas{1: &c.schema}})
			var err error
			if taken := allocated(func() { _, err = d.Decode(framed(1, make([]byte, 8))) }); taken > c.most {
				t.Errorf("%d bytes taken, at most %d", taken, c.most)
			}
			if Reason(err) != "bad_schema" || strings.Contains(err.Error(), unforeseen) {
				t.Errorf("reason %q: %v", Reason(err), err)
			}
		})
	}
}

// steps counts the nodes visited for a value without bytes, up to a bound.
func steps(n *avroNode, most int) int {
	if n.empty || most <= 0 {
		return 1
	}
	count := 1
	for _, part := range n.parts {
		if count += steps(part, most-count); count > most {
			break
		}
	}
	return count
}

// TestWalkSkipsEmptyTypes visits no type without bytes, however often the schema references it.
func TestWalkSkipsEmptyTypes(t *testing.T) {
	for name, leaf := range map[string]string{
		`"null"`: `"null"`,
		`"N"`:    `{"type": "record", "name": "N", "fields": []}`,
		`"F"`:    `{"type": "fixed", "name": "F", "size": 0}`,
	} {
		text := avroSchema(
			`{"name": "x", "type": "int"}, {"name": "a", "type": {"type": "array", "items": ` + branching(8, name, leaf) + `}}`,
		)
		plan, err := compileAvro(&Schema{Format: Avro, Text: text}, nil, maxSchemaNodes)
		if err != nil {
			if strings.Contains(err.Error(), "size") { // the parser refuses a fixed of zero bytes
				continue
			}
			t.Fatal(err)
		}
		if n := steps(plan.root, 1000); n > 4 {
			t.Errorf("%s: a walk over %d nodes", name, n)
		}
		_, _, cells, err := rows(t, NewDecoder(Options{Format: Avro, Schema: text}), []byte{2, 2, 0})
		if err != nil || !reflect.DeepEqual(cells, [][]string{{"1", "(null)"}}) {
			t.Errorf("%s: %q %v", name, cells, err)
		}
	}
	nulls := make([]string, 1000)
	for i := range nulls {
		nulls[i] = fmt.Sprintf(`{"name": "n%d", "type": "null"}`, i)
	}
	plan, err := compileAvro(&Schema{Format: Avro, Text: avroSchema(strings.Join(nulls, ","))}, nil, maxSchemaNodes)
	if err != nil || steps(plan.root, 1000) != 1 {
		t.Fatalf("a row of nulls is %d steps: %v", steps(plan.root, 1000), err)
	}
}

// TestAliasesFollowFeatureOrder assigns aliases in the order of the encoder's features.
func TestAliasesFollowFeatureOrder(t *testing.T) {
	enc := &encoder.Encoder{
		Columns: []encoder.Column{{Name: "b", Kind: encoder.Numeric, Width: 1}, {Name: "a", Kind: encoder.Numeric, Width: 1}},
	}
	registry := schemas{1: {Format: Avro, Text: avroSchema(`{"name": "x", "aliases": ["a", "b"], "type": "int"}`)}}
	for range 50 {
		names, _, cells, err := rows(
			t,
			NewDecoder(Options{Format: Avro, Encoder: enc, Registry: registry}),
			framed(1, []byte{14}),
		)
		if err != nil || !slices.Equal(names, []string{"b", "a"}) || !reflect.DeepEqual(cells, [][]string{{"7", "(null)"}}) {
			t.Fatalf("%q %q %v", names, cells, err)
		}
	}
}
