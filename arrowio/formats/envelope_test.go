package formats

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// byGUID is a registry of one schema under a GUID.
type byGUID struct {
	id     SchemaID
	schema *Schema
}

func (r byGUID) Schema(id SchemaID) (*Schema, error) {
	if id != r.id {
		return nil, arrowio.Wrap(ErrUnknownSchema, "schema %s", id)
	}
	return r.schema, nil
}

const optionalLong = `{"type": "record", "name": "E", "fields": [{"name": "k", "type": ["null", "long"]},
	{"name": "b", "type": ["null", "boolean"]}, {"name": "x", "type": "double"}]}`

// TestConfiguredSchemaMeansBareMessages reads records whose first bytes look like a frame or like
// an Arrow stream, with and without a registry.
func TestConfiguredSchemaMeansBareMessages(t *testing.T) {
	frame := concat([]byte{0, 0}, avroDoubleBytes(0x1p-1000)) // null, null and a small number
	for name, o := range map[string]Options{
		"without a registry": {Format: Avro, Schema: optionalLong},
		"with a registry":    {Format: Avro, Schema: optionalLong, Registry: schemas{}},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDecoder(o)
			if id, ok := d.SchemaOf(frame, Envelope{}); ok {
				t.Errorf("asks for schema %s", id)
			}
			if _, _, cells, err := rows(t, d, frame); err != nil || strings.Join(cells[0][:2], " ") != "(null) (null)" {
				t.Errorf("%v %v", cells, err)
			}
		})
	}
	ones := NewDecoder(Options{Format: Avro, Registry: schemas{}, Schema: `{"type": "record", "name": "E", "fields": [
		{"name": "f", "type": {"type": "fixed", "name": "F", "size": 4}}, {"name": "x", "type": "double"}]}`})
	if _, _, cells, err := rows(t, ones, concat([]byte("\xff\xff\xff\xff"), avroDoubleBytes(2))); err != nil ||
		cells[0][1] != "2" {
		t.Errorf("a record that begins like Arrow: %v %v", cells, err)
	}
}

// TestReplayedRowsAreArrow reads an Arrow stream among records of a configured schema, because its
// header marks it.
func TestReplayedRowsAreArrow(t *testing.T) {
	rec := sampleRecord(t, 3)
	defer rec.Release()
	stream, err := arrowio.EncodeStream(rec.Schema(), rec)
	if err != nil {
		t.Fatal(err)
	}
	d := NewDecoder(Options{Format: Avro, Schema: optionalLong})
	recs, err := d.DecodeIn(stream, Envelope{Arrow: true})
	if err != nil || len(recs) != 1 || recs[0].NumRows() != 3 {
		t.Fatalf("%v %v", recs, err)
	}
	recs[0].Release()
	if _, err := d.Decode(stream); Reason(err) != "bad_avro" {
		t.Errorf("without the mark: %v", err)
	}
}

// TestSchemasInHeaders reads bare values whose schema a header names by GUID or by number, as
// Confluent's HeaderSchemaIdSerializer writes them.
func TestSchemasInHeaders(t *testing.T) {
	const guid = "01020304-0506-0708-090a-0b0c0d0e0f10"
	bytesOf, err := hex.DecodeString(strings.ReplaceAll(guid, "-", ""))
	if err != nil {
		t.Fatal(err)
	}
	id := SchemaID{GUID: [16]byte(bytesOf)}
	if id.String() != guid {
		t.Fatalf("%s, want %s", id, guid)
	}
	avro := &Schema{Format: Avro, Text: optionalLong}
	proto := &Schema{Format: Protobuf, Text: `syntax = "proto3"; message A { int32 a = 1; }
		message B { message C { double x = 1; string y = 2; } }`}
	named := append([]byte{1}, bytesOf...)
	for name, c := range map[string]struct {
		schema *Schema
		id     SchemaID
		header []byte
		body   []byte
		want   string
	}{
		"Avro": {avro, id, named, concat([]byte{0, 2, 1}, avroDoubleBytes(2)), "k=(null) b=true x=2"},
		"Avro that begins like JSON": {
			&Schema{Format: Avro, Text: `{"type": "record", "name": "E", "fields": [{"name": "s", "type": "string"}]}`},
			id, named, avroText(strings.Repeat("a", 61)), "s=" + strings.Repeat("a", 61),
		},
		"Avro by number": {
			avro, SchemaID{Number: 7}, []byte{0, 0, 0, 0, 7},
			concat([]byte{0, 2, 1}, avroDoubleBytes(2)), "k=(null) b=true x=2",
		},
		"Protobuf, first type":  {proto, id, concat(named, []byte{0}), []byte{8, 5}, "a=5"},
		"Protobuf, nested type": {proto, id, concat(named, []byte{4, 2, 0}), []byte("\x12\x03yes"), "x=0 y=yes"},
		"JSON":                  {&Schema{Format: JSON}, id, named, []byte(`{"a": 1.5}`), "a=1.5"},
	} {
		t.Run(name, func(t *testing.T) {
			var e Envelope
			e.Name(c.header)
			formats := []Format{Auto, c.schema.Format}
			for _, f := range formats {
				d := NewDecoder(Options{Format: f, Registry: byGUID{c.id, c.schema}})
				recs, err := d.DecodeIn(c.body, e)
				if err != nil {
					t.Fatalf("%s: %v", f, err)
				}
				if got := line(recs[0]); got != c.want {
					t.Errorf("%s: %s, want %s", f, got, c.want)
				}
				recs[0].Release()
			}
		})
	}
	for _, header := range [][]byte{nil, {}, {0, 0, 0, 7}, {1, 2, 3}, append([]byte{2}, bytesOf...)} {
		var e Envelope
		if e.Name(header); e.Named {
			t.Errorf("header %x names schema %s", header, e.Schema)
		}
	}
}

// line renders the first row of a record.
func line(rec arrow.Record) string {
	var cells []string
	for i, f := range rec.Schema().Fields() {
		cells = append(cells, f.Name+"="+rec.Column(i).ValueStr(0))
	}
	return strings.Join(cells, " ")
}
