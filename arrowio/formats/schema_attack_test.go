package formats

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/eerf-stream/eerf/internal/bytecache"
	"github.com/eerf-stream/eerf/internal/hostile"
)

// filled repeats a text between head and tail up to the maximum size of a schema.
func filled(head, tail, between string, one func(i int) string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len() < MaxSchemaBytes-len(tail)-100; i++ {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(one(i))
	}
	return b.String() + tail
}

// nestedDefaults is a schema of records whose defaults the library fills exponentially.
func nestedDefaults(levels, width int) string {
	text, value := `"int"`, `0`
	for l := levels; l > 0; l-- {
		fields := make([]string, width)
		for i := range fields {
			typ := text
			if i > 0 && l != levels {
				typ = fmt.Sprintf(`"R%d"`, l+1)
			}
			fields[i] = fmt.Sprintf(`{"name": "f%d", "type": %s, "default": %s}`, i, typ, value)
		}
		text, value = fmt.Sprintf(`{"type": "record", "name": "R%d", "fields": [%s]}`, l, strings.Join(fields, ",")), `{}`
	}
	return text
}

// publicImports is a schema of files, each of which imports all later ones publicly: a name is
// looked up along 2ⁿ paths.
func publicImports(files int) *Schema {
	s := &Schema{Format: Protobuf, Text: `syntax = "proto3"; import public "f0"; message M { X x = 1; }`}
	for i := files - 1; i >= 0; i-- {
		var b strings.Builder
		b.WriteString(`syntax = "proto3";`)
		for j := i + 1; j < files; j++ {
			fmt.Fprintf(&b, `import public "f%d";`, j)
		}
		s.References = append(s.References, Reference{fmt.Sprintf("f%d", i), b.String()})
	}
	return s
}

// TestCompilingIsBounded compiles the most expensive known schemas of the largest size, and small
// ones that libraries expand.
func TestCompilingIsBounded(t *testing.T) {
	namespace := strings.Repeat("n", 900)
	deep := strings.Repeat(`message `+strings.Repeat("n", 900)+`{`, 20)
	empties := &descriptorpb.FileDescriptorProto{MessageType: make([]*descriptorpb.DescriptorProto, 40_000)}
	for i := range empties.MessageType {
		empties.MessageType[i] = &descriptorpb.DescriptorProto{}
	}
	for name, c := range map[string]struct {
		schema *Schema
		quick  bool // the schema must be refused before a library sees it
	}{
		"enums": {
			schema: &Schema{
				Format: Avro,
				Text: filled(`{"type":"record","name":"E","namespace":"`+namespace+`","fields":[`, `]}`, ",",
					func(i int) string {
						return fmt.Sprintf(`{"name":"a%d","type":{"type":"enum","name":"N%d","symbols":["A"]}}`, i, i)
					}),
			},
		},
		"nested defaults": {schema: &Schema{Format: Avro, Text: nestedDefaults(12, 10)}},
		"nested unions":   {&Schema{Format: Avro, Text: strings.Repeat("[", 100_000)}, true},
		"fields": {
			schema: &Schema{
				Format: Protobuf,
				Text: filled(`syntax="proto3";message M{`, `}`, "", func(i int) string {
					return fmt.Sprintf(`M a%d=%d;`, i, i+1)
				}),
			},
		},
		"nested messages": {&Schema{Format: Protobuf, Text: strings.Repeat("message M{", 20_000)}, true},
		"nested long names": {
			&Schema{Format: Protobuf, Text: filled(deep, "", "", func(i int) string { return fmt.Sprintf(`message M%d{}`, i) })},
			true,
		},
		"many small tokens": {&Schema{Format: Protobuf, Text: strings.Repeat(";", MaxSchemaBytes)}, true},
		"public imports":    {publicImports(40), true},
		"descriptor":        {schema: &Schema{Format: Protobuf, Text: stored(t, empties)}},
		"nested descriptor": {
			&Schema{Format: Protobuf, Text: base64.StdEncoding.EncodeToString(nestedDescriptor(5000))},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			began, most := time.Now(), uint64(compilingBytes)
			if c.quick {
				most = 4 << 20
			}
			var err error
			var held int64
			taken := allocated(func() { held, err = compiledAs(c.schema) })
			if held > keptPlansBytes/4 {
				t.Errorf("a plan of %d bytes: the cache would not keep a few of them", held)
			}
			if taken > most {
				t.Errorf("%d bytes taken, at most %d: %v", taken, most, err)
			}
			if c.quick && Reason(err) != "bad_schema" {
				t.Errorf("%v", err)
			}
			t.Logf("%d bytes of schema: %d KiB, %v", c.schema.Bytes(), taken>>10, time.Since(began))
		})
	}
}

func compiledAs(s *Schema) (held int64, err error) {
	made, err := guarded(func() (plan, error) {
		if s.Format == Avro {
			return compileAvro(s, nil, maxSchemaNodes)
		}
		return planProto(s, "", nil, maxSchemaNodes)
	})
	if err != nil {
		return 0, err
	}
	return made.heldBytes(), nil
}

func stored(t testing.TB, d *descriptorpb.FileDescriptorProto) string {
	t.Helper()
	raw, err := proto.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// nestedDescriptor is a chain of nested message types.
func nestedDescriptor(levels int) []byte {
	var inner []byte
	for range levels {
		inner = append([]byte{3<<3 | 2}, sizedBytes(inner)...)
	}
	return append([]byte{4<<3 | 2}, sizedBytes(inner)...)
}

func sizedBytes(b []byte) []byte {
	var size []byte
	n := uint64(len(b))
	for ; n >= 0x80; n >>= 7 {
		size = append(size, byte(n)|0x80)
	}
	return append(append(size, byte(n)), b...)
}

// TestPlansAreHeldOnce has many decoders read with many schemas; together they stay within the
// limit of the cache.
func TestPlansAreHeldOnce(t *testing.T) {
	const count, most = 6, 1 << 20
	registry := schemas{}
	for i := range uint32(count) {
		fields := make([]string, 300)
		for j := range fields {
			fields[j] = fmt.Sprintf(`{"name": "a_column_of_schema_%d_%d", "type": ["null", "int"]}`, i, j)
		}
		registry[i+1] = NewSchema(Avro, avroSchema(strings.Join(fields, ",")))
	}
	types := make([]string, 2*count)
	for i := range types {
		types[i] = fmt.Sprintf("message T%d { M0 a = 1; }", i)
	}
	registry[100] = NewSchema(Protobuf, branchingProto(3)+strings.Join(types, "\n"))
	plans := &Plans{cache: bytecache.Cache[planKey, compiled]{Most: most}}
	before := liveHeap()
	decoders := make([]*Decoder, 2)
	for i := range decoders {
		decoders[i] = NewDecoder(Options{Registry: registry, Plans: plans})
		for id := range uint32(count) {
			for _, m := range [][]byte{framed(id+1, make([]byte, 300)), framed(100, []byte{2, byte(2 * (id + 4))})} {
				recs, err := decoders[i].Decode(m)
				if err != nil && Reason(err) != "too_large" {
					t.Fatal(err)
				}
				release(recs)
				decoders[i].Trim()
			}
		}
	}
	if held := liveHeap() - before; held > most+4*restingHeap {
		t.Errorf("%d bytes held, at most %d", held, most)
	}
	if charged := plans.cache.Bytes(); charged < most/2 {
		t.Errorf("only %d bytes charged: nothing is tested", charged)
	}
	runtime.KeepAlive(decoders)
}

// restingHeap is what a decoder may hold between messages: stages.partitionBytes.
const restingHeap = 256 << 10

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestRefusedSchemasAreCached compiles an unusable schema once for all decoders.
func TestRefusedSchemasAreCached(t *testing.T) {
	last := avroSchema(
		strings.Repeat(`{"name": "x", "type": ["null", "int"]},`, 2000) + `{"name": "last", "type": "nowhere"}`,
	)
	for name, s := range map[string]*Schema{
		"avro":              NewSchema(Avro, last),
		"avro that expands": NewSchema(Avro, branching(5, `"int"`, `"int"`)),
		"protobuf":          NewSchema(Protobuf, branchingProto(9)),
	} {
		t.Run(name, func(t *testing.T) {
			plans := NewPlans()
			message := framed(1, make([]byte, 8))
			decode := func() error {
				_, err := NewDecoder(Options{Registry: schemas{1: s}, Plans: plans}).Decode(message)
				return err
			}
			first := decode()
			if first == nil {
				t.Fatal("it is no bad schema")
			}
			d := NewDecoder(Options{Registry: schemas{1: s}, Plans: plans})
			taken := allocated(func() {
				if _, err := d.Decode(message); err == nil || err.Error() != first.Error() {
					t.Errorf("%v, at first %v", err, first)
				}
			})
			if taken > 16<<10 {
				t.Errorf("%d bytes taken for a schema that was refused before", taken)
			}
		})
	}
}

// schemaBases are the schemas from which mutants are made.
func schemaBases(t testing.TB) map[string][]*hostile.Message {
	file, err := compileProto(registered[2])
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := proto.Marshal(protodesc.ToFileDescriptorProto(file))
	if err != nil {
		t.Fatal(err)
	}
	text := func(name, s string) *hostile.Message {
		m := &hostile.Message{
			Name:  name,
			Bytes: []byte(s),
			Order: binary.LittleEndian,
			Marks: marksOf([]byte(s)),
			Parts: []int{0},
		}
		for i := range len(s) {
			if strings.IndexByte("{[,;", s[i]) >= 0 {
				m.Parts = append(m.Parts, i)
			}
		}
		return m
	}
	return map[string][]*hostile.Message{
		"avro": {
			text("nested", nestedAvro),
			text("defaults", nestedDefaults(4, 3)),
			text("branching", branching(3, `"int"`, `"int"`)),
		},
		"protobuf": {text("nested", nestedProto), text("branching", branchingProto(3))},
		"descriptor": {
			{
				Name:  "nested",
				Bytes: compiled,
				Order: binary.LittleEndian,
				Marks: marksOf(compiled),
				Parts: []int{0, len(compiled) / 3, len(compiled) / 2},
			},
		},
		"json": {text("schema", `{"type": "object", "properties": {"a": {"type": "number", "default": {}}}}`)},
	}
}

// TestSchemaMutants damages schemas. A refusal must have a reason, compiling must stay within its
// limit, and the memory held must equal the memory that the cache charges.
func TestSchemaMutants(t *testing.T) {
	for name, bases := range schemaBases(t) {
		t.Run(name, func(t *testing.T) {
			plans := NewPlans()
			hostile.Run(t, hostile.Suite{
				MemoryBytes: 1 << 30,
				Make: func(r *rand.Rand, into []byte) []byte {
					base := bases[r.IntN(len(bases))]
					if name != "descriptor" && r.IntN(4) > 0 {
						return mutateTokens(r, into, string(base.Bytes), string(bases[r.IntN(len(bases))].Bytes))
					}
					return base.Mutate(r, into, bases)
				},
				Try: func(m *hostile.Meter, mutant []byte) (reason string, err error) {
					s, body := schemaMutant(name, mutant)
					m.Within(compilingBytes, func() {
						err = refusalOf(NewDecoder(Options{Limits: hostileLimits, Registry: schemas{1: s}}), body)
					})
					if s.Hash()[0]%freshOnes == 0 {
						other := refusalOf(NewDecoder(Options{Limits: hostileLimits, Registry: schemas{1: s}, Plans: plans}), body)
						if Reason(err) != Reason(other) {
							return "", fmt.Errorf("%w, and with plans of others %w", err, other)
						}
					}
					m.Held(keptPlansBytes)
					switch {
					case err == nil:
						return hostile.Accepted, nil
					case Reason(err) == "" || strings.Contains(err.Error(), unforeseen):
						return "", err
					case strings.Contains(err.Error(), parserFailed):
						return parserFailed, nil
					}
					return Reason(err), nil
				},
			}, 3000)
		})
	}
}

// mutateTokens repeats, drops, moves and replaces tokens of a text, so that more of it stays a
// schema than with bytes.
func mutateTokens(r *rand.Rand, into []byte, text, other string) []byte {
	tokens, others := tokensOf(text), tokensOf(other)
	for range 1 + r.IntN(3) {
		from := r.IntN(len(tokens))
		to := min(len(tokens), from+1+r.IntN(1<<r.IntN(6)))
		part := slices.Clone(tokens[from:to])
		switch r.IntN(5) {
		case 0:
			tokens = slices.Delete(tokens, from, to)
		case 1: // repeat many times
			for range 1 << r.IntN(8) {
				tokens = slices.Insert(tokens, to, part...)
			}
		case 2:
			tokens[from] = others[r.IntN(len(others))]
		case 3:
			at := r.IntN(len(others))
			tokens = slices.Replace(tokens, from, to, others[at:min(len(others), at+len(part))]...)
		default:
			tokens[from] = []string{
				"0",
				"-1",
				"2147483648",
				"18446744073709551616",
				strings.Repeat("n", 1<<r.IntN(12)),
				`""`,
				"[",
				"{",
			}[r.IntN(8)]
		}
		if len(tokens) == 0 {
			break
		}
	}
	return append(into[:0], strings.Join(tokens, " ")...)
}

func tokensOf(text string) (all []string) {
	t := protoTokens{rest: text}
	for token := t.next(); token != ""; token = t.next() {
		all = append(all, token)
	}
	return all
}

func schemaMutant(name string, mutant []byte) (s *Schema, message []byte) {
	message = framed(1, make([]byte, 64))
	switch name {
	case "avro":
		return NewSchema(Avro, string(mutant)), message
	case "json":
		return NewSchema(JSON, string(mutant)), framed(1, []byte(`{"a": 1}`))
	case "descriptor":
		return NewSchema(Protobuf, base64.StdEncoding.EncodeToString(mutant)), message
	}
	return NewSchema(Protobuf, string(mutant)), message
}

func refusalOf(d *Decoder, message []byte) error {
	recs, err := d.Decode(message)
	release(recs)
	return err
}

// TestDroppedMembersDoNotMatter checks that dropping members of a schema before parsing does not
// change the result.
func TestDroppedMembersDoNotMatter(t *testing.T) {
	text := avroSchema(
		`{"name": "default", "doc": "a name like a member", "type": "int", "default": 7}, {"name": "e", "type": {"type": "enum", "name": "doc", "symbols": ["default", "B"], "default": "B"}}`,
	)
	_, _, cells, err := rows(t, NewDecoder(Options{Format: Avro, Schema: text}), []byte{14, 0})
	if err != nil || fmt.Sprint(cells) != "[[7 default]]" {
		t.Errorf("%q %v", cells, err)
	}
}
