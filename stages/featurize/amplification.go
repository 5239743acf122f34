package featurize

import (
	"cmp"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/internal/bytesize"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
)

// freeOutput is how many bytes of features a message may give whatever its size: small messages are mostly schema.
const freeOutput = 16 << 20

// checkAmplification refuses a message whose output would exceed the bound. Its key and headers go into each output
// message.
func (f *Featurizer) checkAmplification(source *pipeline.Record, batches []arrow.Record) error {
	bound := cmp.Or(f.amplification, f.rowBytes)
	rows := events.CountRows(batches)
	passedOn := int64(source.Memory()-len(source.Value)) + f.dictionaryBytes(batches) // goes into each output message
	output := rows*f.rowBytes + (rows/int64(f.partRows)+1)*passedOn
	if output > max(freeOutput, bound*int64(source.Size())) {
		return fmt.Errorf("%w: %d rows in %s would be %s of features, at most %d bytes for each byte (limits.amplification)",
			deadletter.ErrAmplified, rows, bytesize.Text(int64(source.Size())), bytesize.Text(output), bound)
	}
	return nil
}

// dictionaryBytes is the size of the dictionaries of output columns. Each output message has the entries that its rows
// use.
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

// dictionaryBytes adds up the dictionaries of a column, including nested ones.
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
