package formats

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// Options say how messages are read.
type Options struct {
	Limits arrowio.Limits
	Format Format // empty = Auto
	// Schema is that of messages which name none: of Avro in JSON, or the text of a .proto file, whose first message is meant.
	Schema string
	// Registry has the schemas that messages name; nil = there is none.
	Registry Registry
	// Encoder, if not nil, says how columns are read whose type a message leaves open, and which ones are to be there.
	Encoder *encoder.Encoder
	// Learning has columns of JSON keep their places and types from message to message, so that those without a value here and
	// there are of one shape. What comes of a message then depends on those before it.
	Learning bool
}

// Decoder turns the bytes of messages into records. It belongs to one goroutine.
type Decoder struct {
	options Options
	arrow   *arrowio.Decoder
	wanted  *wanted

	table   table
	schemas schemaCache
	json    jsonReader
	avro    avroReader
	proto   protoReader
}

// NewDecoder returns a Decoder. It panics on a format that [Check] refuses and on a negative limit. A schema that cannot be
// used comes out of Decode; [CheckSchema] says so before.
func NewDecoder(o Options) *Decoder {
	if err := Check(o.Format); err != nil {
		panic("formats: " + err.Error())
	}
	d := &Decoder{options: o, arrow: arrowio.NewDecoder(o.Limits), wanted: newWanted(o.Encoder)}
	d.options.Limits = d.arrow.Limits()
	d.avro.given, d.avro.wanted = o.Schema, d.wanted
	d.proto.given, d.proto.wanted = o.Schema, d.wanted
	return d
}

// MaxMessageBytes is the limit that messages are held to.
func (d *Decoder) MaxMessageBytes() int64 { return d.options.Limits.MaxMessageBytes }

// IsArrow reports whether a message is read as Arrow. Its records then may point into it.
func (d *Decoder) IsArrow(value []byte) bool {
	f, _ := d.format(value)
	return f == Arrow
}

// format tells the format of a message, as far as its own bytes say it.
func (d *Decoder) format(value []byte) (f Format, framed bool) {
	switch d.options.Format {
	case "", Auto:
		return detect(value, d.options.Registry != nil)
	case Arrow:
		return Arrow, false
	case JSON:
		_, _, framed = frame(value)
		return JSON, framed
	}
	_, _, framed = frame(value)
	return d.options.Format, framed && d.options.Registry != nil
}

// unforeseen begins the text of an error that no check was there for.
const unforeseen = "unforeseen fault while decoding"

// Decode returns the record batches of a message; the caller releases each of them. On error there are none, and the error
// has a [Reason]. It never panics.
func (d *Decoder) Decode(value []byte) ([]arrow.Record, error) {
	f, framed := d.format(value)
	if f == Arrow {
		return d.arrow.Decode(value)
	}
	rec, err := d.decode(value, f, framed)
	if err != nil {
		return nil, err
	}
	return []arrow.Record{rec}, nil
}

func (d *Decoder) decode(value []byte, f Format, framed bool) (rec arrow.Record, err error) {
	if n := int64(len(value)); n > d.options.Limits.MaxMessageBytes {
		return nil, tooLarge("message of %d bytes, at most %d", n, d.options.Limits.MaxMessageBytes)
	}
	d.table.reset(d.options.Limits)
	defer func() {
		if p := recover(); p != nil { // the belt to the braces of all checks
			rec, err = nil, fmt.Errorf("%w: %s: %v", ErrBadSchema, unforeseen, p)
		}
		if err != nil {
			d.table.abandon()
		}
	}()
	if err := d.read(value, f, framed); err != nil {
		return nil, fmt.Errorf("%s message: %w", f, err)
	}
	return d.table.record(d.wanted, &d.schemas)
}

// read fills the table.
func (d *Decoder) read(value []byte, f Format, framed bool) error {
	if !framed {
		switch f {
		case JSON:
			return d.readJSON(value)
		case Avro:
			return d.avro.readPlain(&d.table, value)
		default:
			return d.proto.readPlain(&d.table, value)
		}
	}
	id, body, _ := frame(value)
	if f == JSON {
		return d.readJSON(body)
	}
	schema, err := d.options.Registry.Schema(id)
	if err != nil {
		return err
	}
	if f != Auto && schema.Format != f {
		return wrap(ErrBadSchema, "schema %d is of %s", id, schema.Format)
	}
	switch schema.Format {
	case JSON:
		return d.readJSON(body)
	case Avro:
		return d.avro.readFramed(&d.table, body, id, schema)
	case Protobuf:
		return d.proto.readFramed(&d.table, body, id, schema)
	}
	return wrap(ErrBadSchema, "schema %d is of the unknown type %s", id, quote(schema.Format))
}

func (d *Decoder) readJSON(text []byte) error {
	d.table.own(d.options.Learning)
	return d.json.read(&d.table, text)
}
