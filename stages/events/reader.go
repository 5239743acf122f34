package events

import (
	"context"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// Source configures the reading of a topic's messages. The zero value detects formats by their
// first bytes, has default limits, and knows no schema.
type Source struct {
	Limits   arrowio.Limits
	Format   formats.Format
	Schema   string   // for messages that name none
	Registry *Schemas // nil = messages that name a schema are unreadable
	// Admission selects the permitted schemas; nil = all.
	Admission *Admission
	Known     []string // columns that are not reported as new, in addition to the encoder's; nil = none
	Slots     *Slots   // memory for messages in work; nil = each reader has its own for one message
}

// SourceOf returns how an exploration reads its messages: restricted to the schemas of its plan, if
// it was planned with any.
func SourceOf(spec *wire.Spec, registry *Schemas, slots *Slots) Source {
	s := Source{
		Limits: spec.Limits,
		Format: formats.Format(spec.Messages.Format),
		Schema: spec.Messages.Schema,
		Slots:  slots,
	}
	if spec.Schemas != nil {
		s.Registry, s.Admission = registry, admissionOf(spec.Schemas)
	}
	return s
}

// Reader returns a reader. With an encoder, it refuses messages whose columns the encoder cannot
// encode.
func (s Source) Reader(enc *encoder.Encoder) *Reader {
	return s.reader(formats.Options{Encoder: enc})
}

// FeatureReader is Reader for batches that are only encoded and used for nothing else: see
// [formats.Options.EncodeOnly].
func (s Source) FeatureReader(enc *encoder.Encoder) *Reader {
	return s.reader(formats.Options{Encoder: enc, EncodeOnly: true})
}

// Learner returns a reader for learning an encoder.
func (s Source) Learner(l formats.Learning) *Reader { return s.reader(formats.Options{Learning: &l}) }

func (s Source) reader(options formats.Options) *Reader {
	options.Limits, options.Format, options.Schema, options.Known = s.Limits, s.Format, s.Schema, s.Known
	r := &Reader{registry: s.Registry, admission: s.Admission, encoder: options.Encoder, slots: s.Slots}
	r.slot = &r.own
	if s.Slots != nil {
		options.Schemas, options.Plans = s.Slots.schemas, s.Slots.plans
	}
	if s.Registry != nil {
		options.Registry = &r.prepared
	}
	r.decoder = formats.NewDecoder(options)
	return r
}

// Reader decodes the messages of one partition of events. It belongs to one goroutine.
type Reader struct {
	decoder   *formats.Decoder
	registry  *Schemas
	admission *Admission       // nil = every schema is permitted
	prepared  prepared         // for the current message
	encoder   *encoder.Encoder // nil while it is being learned
	checked   *arrow.Schema    // last schema accepted by the encoder
	slots     *Slots           // nil = own is the only one
	slot      *Slot            // of the current message
	own       Slot
	strays    encoder.ClassTally
}

// NewReader is [Source.Reader] without schemas.
func NewReader(limits arrowio.Limits, enc *encoder.Encoder) *Reader {
	return Source{Limits: limits}.Reader(enc)
}

// Prepare fetches the schema that a message names, if any. It waits while the registry is
// unavailable, until ctx ends. Its only other error is [ErrRegistryChanged].
func (r *Reader) Prepare(ctx context.Context, rec *pipeline.Record) error {
	id, ok := r.names(rec)
	if !ok {
		return nil
	}
	if r.admission != nil {
		if refused, ok := r.admission.unplanned(id); ok {
			r.prepared.answer = refused
			return nil
		}
	}
	found, err := r.registry.fetch(ctx, id)
	if err == nil && r.admission != nil {
		found, err = r.admission.admit(found)
	}
	if err == nil {
		r.prepared.answer = found
	}
	return err
}

// names returns the id of the schema that a message needs from the registry, if any.
func (r *Reader) names(rec *pipeline.Record) (id formats.SchemaID, ok bool) {
	if r.registry == nil || rec.Value == nil {
		return formats.SchemaID{}, false
	}
	return r.decoder.SchemaOf(rec.Value, envelope(rec))
}

// envelope returns the information in the headers of a message about its value.
func envelope(rec *pipeline.Record) (e formats.Envelope) {
	for i := range rec.Headers {
		switch h := &rec.Headers[i]; h.Key {
		case formats.SchemaHeader: // of several, the last one counts
			e.Name(h.Value)
		case wire.HeaderReplayedRows:
			e.Arrow = true
		}
	}
	return e
}

// Ready prepares a message that needs nothing from a registry, and reports whether it did.
func (r *Reader) Ready(rec *pipeline.Record) bool {
	id, ok := r.names(rec)
	if !ok {
		return true
	}
	found, ok := r.registry.answered(id)
	if ok {
		r.prepared.answer = found
	}
	return ok
}

// ReadRecord returns the record batches of the most recently prepared message, in order. A
// tombstone has none. The caller releases them before it reads the next message. An error means
// that the whole message is refused.
func (r *Reader) ReadRecord(rec *pipeline.Record) ([]arrow.Record, error) {
	if rec.Value == nil {
		return nil, nil
	}
	batches, err := r.read(rec.Value, envelope(rec))
	if err == nil && r.encoder != nil {
		if err = r.decoder.Unfit(); err != nil {
			Release(batches)
			return nil, err
		}
	}
	return batches, err
}

// Read is [Reader.ReadRecord] for a value without headers, which is no tombstone.
func (r *Reader) Read(value []byte) ([]arrow.Record, error) { return r.read(value, formats.Envelope{}) }

func (r *Reader) read(value []byte, e formats.Envelope) ([]arrow.Record, error) {
	if r.decoder.IsArrow(value, e) {
		value = r.align(value)
	}
	batches, err := r.decoder.DecodeIn(value, e)
	if err != nil {
		return nil, err
	}
	if r.encoder == nil {
		return batches, nil
	}
	for _, batch := range batches {
		if batch.Schema() == r.checked {
			continue
		}
		if err := r.encoder.Check(batch.Schema()); err != nil {
			Release(batches)
			return nil, err
		}
		r.checked = arrowio.Resting(batch.Schema())
	}
	r.decoder.Strays(batches, func(name string, values int) { r.strays.Add(name, int64(values)) })
	return batches, nil
}

// TakeStrays returns the columns that are neither known nor the encoder's, with their row counts
// since the last call.
func (r *Reader) TakeStrays() []encoder.ClassRows {
	found := r.strays.List()
	r.strays.Clear()
	return found
}

// RowFaults returns the faults of the most recently read JSON message; see
// [formats.Decoder.RowFaults].
func (r *Reader) RowFaults(of *formats.RowColumns, allowMissing bool) []formats.RowFault {
	return r.decoder.RowFaults(of, allowMissing)
}

// Left returns the rest of the budget of the most recently read message, for data derived from it.
func (r *Reader) Left() int64 { return r.decoder.Left() }

// align returns the message at an address that permits reading its numbers in place: Arrow aligns
// them within a message, but a record may start anywhere in a fetch. Moving the message once, into
// reused memory, costs less than the decoder's copy of every column.
func (r *Reader) align(value []byte) []byte {
	const arrowAlignment = 8
	if uintptr(unsafe.Pointer(unsafe.SliceData(value)))%arrowAlignment == 0 ||
		int64(len(value)) > r.decoder.MaxMessageBytes() {
		return value
	}
	r.slot.aligned = append(r.slot.aligned[:0], value...)
	return r.slot.aligned
}

// ChunkBytes bounds the dense form of the rows encoded at a time: one byte of a dictionary column
// may expand to thousands of dimensions.
const ChunkBytes = 8 << 20

// maxChunkRows bounds chunks of narrow rows: a row has entries in several lists, a rejected one 80
// bytes in total.
const maxChunkRows = 1 << 16

// ChunkRows returns how many rows of dim dimensions are encoded at a time.
func ChunkRows(dim int) int64 { return max(1, min(maxChunkRows, ChunkBytes/(4*int64(dim)))) }

// Release releases the batches of a message.
func Release(batches []arrow.Record) {
	for _, batch := range batches {
		batch.Release()
	}
}

// CountRows returns the number of rows of a message.
func CountRows(batches []arrow.Record) int64 {
	var rows int64
	for _, batch := range batches {
		rows += batch.NumRows()
	}
	return rows
}
