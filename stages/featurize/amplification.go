package featurize

import (
	"cmp"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/bytesize"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
)

const (
	// freeOutput is the output, in bytes, that any message may give: small messages are mostly
	// schema.
	freeOutput = 16 << 20
	// letterGrowth bounds the bytes of dead letters for each byte of a message that repeats itself
	// in them. It is lower than the bound for features, because features are wanted.
	letterGrowth = 64
	// compressedRows is the default bound of rows for each byte stored by the broker: as many as
	// zstd makes of a few constant columns.
	compressedRows = 1024
)

// checkAmplification refuses a message that could exceed the bounds if each of its parts gave an
// output and a dead letter.
func (f *Featurizer) checkAmplification(source *pipeline.Record, batches []arrow.Record) error {
	rows := events.CountRows(batches)
	passedOn := int64(source.Size() - len(source.Value)) // copied to each message
	inOutput, inLetter := passedOn, passedOn
	if rows > 1 {
		for _, batch := range batches {
			inLetter = max(inLetter, passedOn+arrowio.Repeated(batch, int64(f.set.partRows)))
			columns := wire.SelectColumns(batch, f.set.columns)
			inOutput = max(inOutput, passedOn+arrowio.Repeated(columns, int64(f.set.partRows)))
			columns.Release()
		}
	}
	parts := rows/int64(f.set.partRows) + int64(len(batches))
	if inOutput > f.set.MaxOutputBytes/2 {
		parts = rows // they are halved until they fit
	}
	size, stored := int64(source.Size()), int64(source.Stored)
	letters := parts * inLetter
	all := rows*f.set.rowBytes + parts*inOutput + letters
	for _, b := range []struct {
		made, of, bound int64
		key             string
	}{
		{all, size, cmp.Or(f.set.Amplification, f.set.rowBytes), "limits.amplification"},
		{letters, size, letterGrowth, "of dead letters"},
		{
			all,
			stored,
			cmp.Or(f.set.CompressedAmplification, compressedRows*f.set.rowBytes),
			"limits.compressed_amplification",
		},
	} {
		if b.of > 0 && b.made > max(freeOutput, b.bound*b.of) {
			return fmt.Errorf("%w: %d rows in %s could become %s of features and dead letters, more than %d bytes per byte (%s)",
				deadletter.ErrAmplified, rows, bytesize.Text(b.of), bytesize.Text(b.made), b.bound, b.key)
		}
	}
	return nil
}
