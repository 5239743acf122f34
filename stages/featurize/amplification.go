package featurize

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
)

// freeOutput is how many bytes of features a message of any size may give: small messages are mostly schema.
const freeOutput = 16 << 20

// BoundOutput sets how many bytes of output each byte of a message may give; 0 = as many as a row takes, so that each row
// has to come with a byte.
func (f *Featurizer) BoundOutput(amplification int64) { f.amplification = amplification }

// checkAmplification refuses a message whose output would be over the bound. Its key and headers go with each output message.
func (f *Featurizer) checkAmplification(source *pipeline.Record, batches []arrow.Record) error {
	bound := f.amplification
	if bound == 0 {
		bound = f.rowBytes
	}
	rows := events.CountRows(batches)
	passedOn := int64(source.Memory()-len(source.Value)) + f.dictionaryBytes(batches) // with each output message
	output := rows*f.rowBytes + (rows/int64(f.partRows)+1)*passedOn
	if output > max(freeOutput, bound*int64(source.Size())) {
		return fmt.Errorf("%w: %d rows in %d bytes would be %d bytes of features, at most %d for each byte (limits.amplification)",
			deadletter.ErrAmplified, rows, source.Size(), output, bound)
	}
	return nil
}

// dictionaryBytes is the size of the dictionaries of output columns. Each output message has the entries that its rows name.
func (f *Featurizer) dictionaryBytes(batches []arrow.Record) (bytes int64) {
	for _, batch := range batches {
		var ofBatch int64
		for _, name := range f.columns {
			if at := batch.Schema().FieldIndices(name); len(at) > 0 {
				ofBatch += dictionaryBytes(batch.Column(at[0]).Data())
			}
		}
		bytes = max(bytes, ofBatch)
	}
	return bytes
}

// dictionaryBytes adds up the dictionaries of a column, nested ones among them.
func dictionaryBytes(data arrow.ArrayData) (bytes int64) {
	if data.DataType().ID() == arrow.DICTIONARY {
		for _, buffer := range data.(*array.Data).Dictionary().Buffers() {
			if buffer != nil {
				bytes += int64(buffer.Len())
			}
		}
	}
	for _, child := range data.Children() {
		bytes += dictionaryBytes(child)
	}
	return bytes
}
