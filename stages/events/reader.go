package events

import (
	"context"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
)

// Source says how the messages of a topic are read. The zero value tells formats by their first bytes, within default
// limits, and knows no schema.
type Source struct {
	Limits   arrowio.Limits
	Format   formats.Format
	Schema   string   // of messages that name none
	Registry *Schemas // nil = messages that name a schema cannot be read
}

// SourceOf is what an exploration reads its messages by.
func SourceOf(spec *wire.Spec, registry *Schemas) Source {
	return Source{Limits: spec.Limits, Format: formats.Format(spec.Messages.Format), Schema: spec.Messages.Schema, Registry: registry}
}

// Reader returns a reader that, with an encoder, refuses messages whose columns this cannot encode.
func (s Source) Reader(enc *encoder.Encoder) *Reader { return s.reader(enc, false) }

// Learner returns a reader for learning an encoder from the messages of one partition, in their order: columns of JSON keep
// their types from message to message.
func (s Source) Learner() *Reader { return s.reader(nil, true) }

func (s Source) reader(enc *encoder.Encoder, learning bool) *Reader {
	options := formats.Options{Limits: s.Limits, Format: s.Format, Schema: s.Schema, Encoder: enc, Learning: learning}
	r := &Reader{registry: s.Registry, encoder: enc}
	if s.Registry != nil {
		options.Registry = &r.prepared
	}
	r.decoder = formats.NewDecoder(options)
	return r
}

// Reader decodes the messages of one partition of events. One goroutine.
type Reader struct {
	decoder  *formats.Decoder
	registry *Schemas
	prepared prepared         // for the message at hand
	encoder  *encoder.Encoder // nil while it is being learned
	checked  *arrow.Schema    // that the encoder can encode
	aligned  []byte           // reused: the current message, where it was not aligned
}

// NewReader is [Source.Reader] without schemas.
func NewReader(limits arrowio.Limits, enc *encoder.Encoder) *Reader {
	return Source{Limits: limits}.Reader(enc)
}

// Prepare gets what reading a message needs from elsewhere: the schema that it names. It waits for a registry that is away
// until ctx ends, which is its only error; any other message is ready at once.
func (r *Reader) Prepare(ctx context.Context, value []byte) error {
	if r.registry == nil {
		return nil
	}
	id, ok := r.decoder.FrameID(value)
	if !ok {
		return nil
	}
	found, err := r.registry.ask(ctx, id)
	if err == nil {
		r.prepared.answer = found
	}
	return err
}

// Ready prepares a message for which nobody need be asked, and reports whether it is one.
func (r *Reader) Ready(value []byte) bool {
	if r.registry == nil {
		return true
	}
	id, ok := r.decoder.FrameID(value)
	if !ok {
		return true
	}
	found, ok := r.registry.answered(id)
	if ok {
		r.prepared.answer = found
	}
	return ok
}

// Read returns the record batches of the message that was prepared last, in order; the caller releases them, before it reads
// the next message. An error means that the message is refused whole.
func (r *Reader) Read(value []byte) ([]arrow.Record, error) {
	if r.decoder.IsArrow(value) {
		value = r.align(value)
	}
	batches, err := r.decoder.Decode(value)
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
		r.checked = batch.Schema()
	}
	return batches, nil
}

// align returns the message at an address at which its numbers can be read where they stand: Arrow aligns them within a
// message, but a record lies anywhere in what was fetched. Moving it once, into reused memory, costs less
// than the decoder's copy of every column.
func (r *Reader) align(value []byte) []byte {
	const arrowAlignment = 8
	if uintptr(unsafe.Pointer(unsafe.SliceData(value)))%arrowAlignment == 0 || int64(len(value)) > r.decoder.MaxMessageBytes() {
		return value
	}
	r.aligned = append(r.aligned[:0], value...)
	return r.aligned
}

// ChunkBytes bounds the dense form of the rows that are encoded at a time: a byte of a dictionary column may stand for
// thousands of dimensions.
const ChunkBytes = 16 << 20

// ChunkRows is how many rows of so many dimensions are encoded at a time.
func ChunkRows(dim int) int64 { return max(1, ChunkBytes/(4*int64(dim))) }

// Release releases the batches of a message.
func Release(batches []arrow.Record) {
	for _, batch := range batches {
		batch.Release()
	}
}

// CountRows is the number of rows of a message.
func CountRows(batches []arrow.Record) int64 {
	var rows int64
	for _, batch := range batches {
		rows += batch.NumRows()
	}
	return rows
}
