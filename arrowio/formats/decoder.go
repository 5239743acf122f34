package formats

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// Options configure how messages are read.
type Options struct {
	Limits arrowio.Limits
	Format Format // empty = Auto
	// Schema is used for messages that do not name a schema: an Avro schema in JSON, or the text of
	// a .proto file, of which the first message is used.
	Schema string
	// Registry resolves the schema IDs in messages; nil = not configured.
	Registry Registry
	// Encoder, if not nil, determines the types of untyped columns, and the columns that must
	// exist.
	Encoder *encoder.Encoder
	// Learning, if not nil, configures how JSON rows are read while an encoder is learned.
	Learning *Learning
	// EncodeOnly promises that records are only encoded with Encoder, and released before the next
	// message is read. Records of formats other than Arrow then hold only the encoder's feature
	// columns, in types that rarely change between messages, and their memory is reused for the
	// next message.
	EncodeOnly bool
	// Known are columns that do not count as strays, in addition to the encoder's; nil = no column
	// is a stray.
	Known []string
	// Schemas is a cache of Arrow schemas to share with other decoders; nil = a private cache.
	Schemas *arrowio.Schemas
	// Plans are compiled schemas to share with other decoders; nil = private plans.
	Plans *Plans
}

// Decoder turns the bytes of messages into records. It belongs to one goroutine.
type Decoder struct {
	options Options
	arrow   *arrowio.Decoder
	wanted  *wanted

	table   table
	schemas schemaCache
	labels  [3]schemaCache // one per kind of label, while learning
	recycle *recycler      // nil without Options.EncodeOnly
	readers map[Format]messageReader
	isArrow bool // whether the last message was Arrow
	looked  *arrow.Schema
	stray   []int // stray columns of looked
}

// NewDecoder returns a Decoder. It panics on a format that [Check] refuses and on a negative limit.
// Decode returns an error for an unusable schema; [CheckSchema] detects it earlier.
func NewDecoder(o Options) *Decoder {
	if err := Check(o.Format); err != nil {
		panic("formats: " + err.Error())
	}
	d := &Decoder{
		options: o,
		arrow:   arrowio.NewDecoderSharing(o.Limits, o.Schemas),
		wanted:  newWanted(o.Encoder),
		readers: make(map[Format]messageReader),
	}
	d.options.Limits = d.arrow.Limits()
	if d.options.Plans == nil {
		d.options.Plans = NewPlans()
	}
	if o.Known != nil {
		d.table.known = make(map[string]bool)
		for _, name := range o.Known {
			d.table.known[name] = true
		}
		if d.wanted != nil {
			for _, name := range d.wanted.names {
				d.table.known[name] = true
			}
		}
	}
	if o.EncodeOnly && d.wanted != nil {
		d.recycle = newRecycler(d.wanted)
	}
	for _, f := range known {
		if f.reader != nil {
			d.readers[f.name] = f.reader(&d.options, d.wanted)
		}
	}
	return d
}

// MaxMessageBytes is the size limit for messages.
func (d *Decoder) MaxMessageBytes() int64 { return d.options.Limits.MaxMessageBytes }

// Left returns the unused budget of the last message given to Decode.
func (d *Decoder) Left() int64 {
	if d.isArrow {
		return d.arrow.Left()
	}
	return d.table.budget.Left
}

// Strays calls found for each stray column of the records that Decode last returned, with the
// number of its values. A stray is neither known nor a column of the encoder.
func (d *Decoder) Strays(records []arrow.Record, found func(name string, values int)) {
	if d.table.known == nil {
		return
	}
	if !d.isArrow {
		d.table.strays(found)
		return
	}
	for _, rec := range records {
		if rec.Schema() != d.looked {
			d.looked, d.stray = rec.Schema(), d.stray[:0]
			for i, field := range rec.Schema().Fields() {
				if !d.table.known[field.Name] {
					d.stray = append(d.stray, i)
				}
			}
		}
		for _, i := range d.stray {
			if values := int(rec.NumRows()) - rec.Column(i).NullN(); values > 0 {
				found(rec.ColumnName(i), values)
			}
		}
	}
}

// Trim releases the memory kept after a large message. Call it between messages.
func (d *Decoder) Trim() {
	d.table.trim()
	d.arrow.Trim()
	if d.schemas.large {
		d.schemas = schemaCache{}
	}
}

// IsArrow reports whether a message is read as Arrow. If so, its records may alias it.
func (d *Decoder) IsArrow(value []byte, e Envelope) bool {
	f, _ := d.format(value, e)
	return f != nil && f.reader == nil
}

// unforeseen starts the text of an error after a panic.
const unforeseen = "internal error while decoding"

// Decode is [Decoder.DecodeIn] for a message without headers.
func (d *Decoder) Decode(value []byte) ([]arrow.Record, error) { return d.DecodeIn(value, Envelope{}) }

// DecodeIn returns the record batches of a message; the caller releases each of them. An error has
// a [Reason], and no batch is returned with it. DecodeIn never panics.
func (d *Decoder) DecodeIn(value []byte, e Envelope) ([]arrow.Record, error) {
	f, named := d.format(value, e)
	if d.isArrow = f != nil && f.reader == nil; d.isArrow {
		recs, err := d.arrow.Decode(value)
		return recs, d.unlike(value, err)
	}
	m := message{body: value}
	if named {
		m = unwrap(value, e)
	}
	return d.decode(value, m, f, named)
}

func (d *Decoder) decode(value []byte, m message, f *format, named bool) (recs []arrow.Record, err error) {
	if n := int64(len(value)); n > d.options.Limits.MaxMessageBytes {
		return nil, tooLarge("message of %d bytes, at most %d", n, d.options.Limits.MaxMessageBytes)
	}
	d.table.reset(d.options.Limits)
	defer func() {
		if p := recover(); p != nil { // last resort for a missing check
			recs, err = nil, fmt.Errorf("%w: %s: %v", ErrBadSchema, unforeseen, p)
			if d.recycle != nil {
				d.recycle.forget()
			}
		}
		if err != nil {
			d.table.abandon()
		}
	}()
	if err := d.read(m, f, named); err != nil {
		return nil, err
	}
	if d.options.Learning != nil && d.table.bound == nil {
		return d.table.labelRecords(d.options.Learning.Labels, d.labels[:])
	}
	var rec arrow.Record
	if d.recycle != nil {
		rec, err = d.recycle.make(&d.table)
	} else {
		rec, err = d.table.record(d.wanted, &d.schemas)
	}
	if err != nil {
		return nil, err
	}
	return []arrow.Record{rec}, nil
}

// read decodes a message into the table.
func (d *Decoder) read(m message, f *format, named bool) error {
	if named && (f == nil || f.check != nil) {
		var err error
		if m.schema, err = d.options.Registry.Schema(m.id); err != nil {
			return err
		}
		registered := lookup(m.schema.Format)
		switch {
		case f != nil && registered != f:
			return arrowio.Wrap(ErrBadSchema, "schema %s has the format %s", m.id, m.schema.Format)
		case registered == nil || registered.reader == nil:
			return arrowio.Wrap(ErrBadSchema, "schema %s has the unknown type %s", m.id, arrowio.Quote(m.schema.Format))
		}
		f = registered
	}
	if err := d.readers[f.name].read(&d.table, m); err != nil {
		return fmt.Errorf("%s message: %w", f.name, err)
	}
	return nil
}
