package events

import (
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// Reader decodes the messages of one partition of events. One goroutine.
type Reader struct {
	decoder *arrowio.Decoder
	encoder *encoder.Encoder // nil while it is being learned
	aligned []byte           // reused: the current message, where it was not aligned
}

// NewReader returns a reader that, with an encoder, refuses messages whose columns this cannot encode.
func NewReader(limits arrowio.Limits, enc *encoder.Encoder) *Reader {
	return &Reader{decoder: arrowio.NewDecoder(limits), encoder: enc}
}

// Read returns the record batches of a message, in order; the caller releases them, before it reads the next message.
// An error means that the message is refused whole.
func (r *Reader) Read(value []byte) ([]arrow.Record, error) {
	batches, err := r.decoder.Decode(r.align(value))
	if err != nil {
		return nil, err
	}
	if r.encoder == nil {
		return batches, nil
	}
	for _, batch := range batches {
		if err := r.encoder.Check(batch.Schema()); err != nil {
			Release(batches)
			return nil, err
		}
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
