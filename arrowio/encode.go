package arrowio

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// EncodeStream returns one Arrow IPC stream: the schema, the dictionaries that the records use, the
// records in order, and the end mark. Without records it is only a schema, which is a valid message
// of no rows. The body is not compressed; equal input gives equal bytes.
//
// Every record must have the schema's columns. The records are only read.
func EncodeStream(schema *arrow.Schema, recs ...arrow.Record) ([]byte, error) {
	out := &growing{buf: make([]byte, 0, sizeHint(schema, recs))}
	err := writeStream(out, schema, recs)
	return out.buf, err
}

// ReserveStream is [EncodeStream] for one record with buffers that are filled in later, so that
// values computed elsewhere can be written in place. Each of gaps must be a whole buffer of rec, of
// which only the length counts; at returns where in the stream the bytes of each belong.
//
// The stream uses the memory of into from its start, or new memory if that is too small. gaps may
// be in the same memory, at other places. The stream belongs to the caller.
func ReserveStream(into []byte, rec arrow.Record, gaps ...[]byte) (stream []byte, at []int, err error) {
	out := &growing{buf: into[:0], gaps: gaps, at: make([]int, len(gaps))}
	for i, gap := range gaps {
		if len(gap) > 0 { // the writer omits buffers without bytes
			out.at[i] = -1
		}
	}
	if err := writeStream(out, rec.Schema(), []arrow.Record{rec}); err != nil {
		return nil, nil, err
	}
	if i := slices.Index(out.at, -1); i >= 0 {
		return nil, nil, fmt.Errorf("encode arrow stream: no record buffer matches gap %d", i)
	}
	return out.buf, out.at, nil
}

func writeStream(out *growing, schema *arrow.Schema, recs []arrow.Record) error {
	w := ipc.NewWriter(out, ipc.WithSchema(schema))
	for i, rec := range recs {
		if err := w.Write(rec); err != nil {
			_ = w.Close() // the first error is the informative one
			return fmt.Errorf("encode record %d of %d: %w", i, len(recs), err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("encode arrow stream: %w", err)
	}
	return nil
}

// sizeHint estimates the encoded size, so that the output is usually allocated once and little
// larger than it has to be.
func sizeHint(schema *arrow.Schema, recs []arrow.Record) int64 {
	const perField = 256
	n := int64(perField * (1 + schema.NumFields()) * (1 + len(recs)))
	for _, rec := range recs {
		n += TakenBytes(rec, nil)
	}
	return n
}

// growing is an append-only io.Writer. It recognises gaps by their addresses: it records their
// places and does not write their bytes.
type growing struct {
	buf  []byte
	gaps [][]byte
	at   []int // by gap
}

func (g *growing) Write(p []byte) (int, error) {
	for i, gap := range g.gaps {
		if len(gap) > 0 && len(p) == len(gap) && unsafe.SliceData(p) == unsafe.SliceData(gap) {
			g.at[i] = len(g.buf)
			g.buf = slices.Grow(g.buf, len(p)+gapMargin)[:len(g.buf)+len(p)]
			return len(p), nil
		}
	}
	g.buf = append(g.buf, p...)
	return len(p), nil
}

// gapMargin is room for the usual bytes after a gap: its padding and the end mark.
const gapMargin = 128
