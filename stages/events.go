package stages

import (
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// eventReader decodes the messages of one partition of events. One goroutine.
type eventReader struct {
	decoder *arrowio.Decoder
	encoder *encoder.Encoder // nil while it is being learned
	aligned []byte           // reused: the message in hand, where it came at an odd address
}

func newEventReader(limits arrowio.Limits, enc *encoder.Encoder) *eventReader {
	return &eventReader{decoder: arrowio.NewDecoder(limits), encoder: enc}
}

// read returns the record batches of a message, in order; the caller releases them, before it reads the next message.
// An error means that the message is refused whole.
func (r *eventReader) read(value []byte) ([]arrow.Record, error) {
	batches, err := r.decoder.Decode(r.align(value))
	if err != nil {
		return nil, err
	}
	if r.encoder == nil {
		return batches, nil
	}
	for _, batch := range batches {
		if err := r.encoder.Check(batch.Schema()); err != nil {
			releaseAll(batches)
			return nil, err
		}
	}
	return batches, nil
}

// align returns the message at an address at which its numbers can be read where they stand: Arrow aligns them within a
// message, but a record lies anywhere in what was fetched. Moving it once, into the same memory again and again, is less
// than what the decoder would do for every column.
func (r *eventReader) align(value []byte) []byte {
	const arrowAlignment = 8
	if uintptr(unsafe.Pointer(unsafe.SliceData(value)))%arrowAlignment == 0 || int64(len(value)) > r.decoder.MaxMessageBytes() {
		return value
	}
	r.aligned = append(r.aligned[:0], value...)
	return r.aligned
}

// encodeBytes bounds the dense form of the rows that are encoded at a time: a byte of a dictionary column may stand for
// thousands of dimensions.
const encodeBytes = 16 << 20

// chunkRows is how many rows of so many dimensions are encoded at a time.
func chunkRows(dim int) int64 { return max(1, encodeBytes/(4*int64(dim))) }

func releaseAll(batches []arrow.Record) {
	for _, batch := range batches {
		batch.Release()
	}
}

func totalRows(batches []arrow.Record) int64 {
	var rows int64
	for _, batch := range batches {
		rows += batch.NumRows()
	}
	return rows
}

func (c LimitsConfig) decoder() arrowio.Limits {
	limits := arrowio.DefaultLimits()
	limits.MaxMessageBytes = c.MaxMessageBytes
	limits.BudgetBytes = c.BudgetBytes
	limits.MaxRows = c.MaxRows
	limits.MaxColumns = c.MaxColumns
	return limits
}
