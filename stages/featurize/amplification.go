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
	// freeOutput is how many bytes a message may give whatever its size: small messages are mostly schema.
	freeOutput = 16 << 20
	// letterGrowth is how many bytes of its dead letters each byte of a message may give at worst, if it repeats itself in
	// them. Features are what is asked for, many letters are not.
	letterGrowth = 64
	// compressedRows is how many rows may come with each byte that the broker holds, unless that is configured: as many as
	// zstd makes of a few constant columns.
	compressedRows = 1024
)

// checkAmplification refuses a message that would give more than the bounds, if each part were an output and a dead
// letter.
func (f *Featurizer) checkAmplification(source *pipeline.Record, batches []arrow.Record) error {
	rows := events.CountRows(batches)
	passedOn := int64(source.Size() - len(source.Value)) // goes into each message
	inOutput, inLetter := passedOn, passedOn
	if rows > 1 {
		for _, batch := range batches {
			inLetter = max(inLetter, passedOn+arrowio.Repeated(batch, int64(f.partRows)))
			columns := wire.SelectColumns(batch, f.columns)
			inOutput = max(inOutput, passedOn+arrowio.Repeated(columns, int64(f.partRows)))
			columns.Release()
		}
	}
	parts := rows/int64(f.partRows) + int64(len(batches))
	if inOutput > f.maxBytes/2 {
		parts = rows // they are halved until they fit
	}
	size, stored := int64(source.Size()), int64(source.Stored)
	letters := parts * inLetter
	all := rows*f.rowBytes + parts*inOutput + letters
	for _, b := range []struct {
		made, of, bound int64
		key             string
	}{
		{all, size, cmp.Or(f.amplification, f.rowBytes), "limits.amplification"},
		{letters, size, letterGrowth, "of dead letters"},
		{all, stored, cmp.Or(f.compressed, compressedRows*f.rowBytes), "limits.compressed_amplification"},
	} {
		if b.of > 0 && b.made > max(freeOutput, b.bound*b.of) {
			return fmt.Errorf("%w: %d rows in %s could be %s of features and dead letters, at most %d bytes for each byte (%s)",
				deadletter.ErrAmplified, rows, bytesize.Text(b.of), bytesize.Text(b.made), b.bound, b.key)
		}
	}
	return nil
}
