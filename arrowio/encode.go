package arrowio

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// EncodeStream returns one Arrow IPC stream: the schema, the dictionaries that
// the records use, the records in order, and the end mark. Without records it
// is a schema alone, which is a valid message of no rows. The body is not
// compressed; equal input gives equal bytes.
//
// Every record must have the schema's columns. The records are only read.
func EncodeStream(schema *arrow.Schema, recs ...arrow.Record) ([]byte, error) {
	out := &growing{buf: make([]byte, 0, sizeHint(schema, recs))}
	w := ipc.NewWriter(out, ipc.WithSchema(schema))
	for i, rec := range recs {
		if err := w.Write(rec); err != nil {
			_ = w.Close() // the first error is the one that says something
			return nil, fmt.Errorf("encode record %d of %d: %w", i, len(recs), err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("encode arrow stream: %w", err)
	}
	return out.buf, nil
}

// sizeHint estimates the encoded size, so that the output usually grows once.
// A slice of a longer array counts with all of the array's buffers; the cap
// keeps that from mattering.
func sizeHint(schema *arrow.Schema, recs []arrow.Record) int {
	const perField, most = 256, 16 << 20
	n := perField * (1 + schema.NumFields()) * (1 + len(recs))
	for _, rec := range recs {
		for _, col := range rec.Columns() {
			for _, b := range col.Data().Buffers() {
				if b != nil {
					n += b.Len()
				}
			}
		}
	}
	return min(n, most)
}

// growing is an append-only io.Writer.
type growing struct{ buf []byte }

func (g *growing) Write(p []byte) (int, error) {
	g.buf = append(g.buf, p...)
	return len(p), nil
}
