package files

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// arrowMagic starts and ends an Arrow IPC file; a stream has no magic.
var arrowMagic = []byte("ARROW1")

// arrowHeadBytes is the magic, padded, before an IPC file's first message.
const arrowHeadBytes = 8

// arrowReader cuts the record batches of an Arrow file or stream into records. A file is read from
// the start as the stream that it contains; the footer is only for random access.
type arrowReader struct {
	frames *frames
	ipc    *ipc.Reader
	cut    cutter
	valid  validator
}

func openArrow(src *source, o Options) (rowReader, error) {
	content, err := src.content()
	if err != nil {
		return nil, err
	}
	f, err := newFrames(src, content)
	if err != nil {
		return nil, err
	}
	reader, err := ipc.NewReaderFromMessageReader(f, ipc.WithAllocator(boundedAllocator{o.Allocator}))
	if err != nil {
		return nil, f.explain(err)
	}
	if err := checkArrowTypes(reader.Schema()); err != nil {
		reader.Release()
		return nil, err
	}
	return &arrowReader{frames: f, ipc: reader, cut: cutter{rows: int64(o.BatchRows)}}, nil
}

// newFrames returns frames positioned at the first message of a file or stream.
func newFrames(src *source, content *bufio.Reader) (*frames, error) {
	head, _ := content.Peek(arrowHeadBytes)
	f := &frames{r: content, left: -1}
	if src.regular && !src.gzipped {
		f.left = src.size
	}
	switch {
	case len(head) == 0:
		return nil, ErrEmpty
	case bytes.HasPrefix(head, []byte("FEA1")):
		return nil, fmt.Errorf("%w: Feather version 1; write it again as an Arrow file", ErrUnsupported)
	case !bytes.HasPrefix(head, arrowMagic):
		return f, nil
	}
	if f.left >= 0 {
		end, err := arrowFooterStart(src)
		if err != nil {
			return nil, err
		}
		f.left = end - arrowHeadBytes
	}
	_, err := content.Discard(arrowHeadBytes)
	return f, err
}

// arrowFooterStart returns where the footer of an IPC file starts. Messages end there at the
// latest: not every writer marks their end.
func arrowFooterStart(src *source) (int64, error) {
	tail := make([]byte, 4+len(arrowMagic))
	at := src.size - int64(len(tail))
	if at < arrowHeadBytes {
		return 0, fmt.Errorf("%w: %d bytes are too few for an Arrow file", ErrCorrupt, src.size)
	}
	if _, err := src.file.ReadAt(tail, at); err != nil {
		return 0, bare(err)
	}
	if !bytes.Equal(tail[4:], arrowMagic) {
		return 0, fmt.Errorf("%w: an Arrow file without its end: cut off, or its writer did not finish", ErrCorrupt)
	}
	size := int64(binary.LittleEndian.Uint32(tail))
	if size > at-arrowHeadBytes {
		return 0, fmt.Errorf("%w: a footer of %d bytes in a file of %d", ErrCorrupt, size, src.size)
	}
	return at - size, nil
}

// explain prefers the error of the frames to what the library makes of it.
func (f *frames) explain(err error) error {
	switch {
	case errors.Is(f.err, io.EOF):
		return fmt.Errorf("%w: it ends before its schema", ErrCorrupt)
	case f.err != nil:
		return f.err
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

// checkArrowTypes refuses types whose layout the validator does not check.
func checkArrowTypes(schema *arrow.Schema) error {
	if schema.NumFields() == 0 {
		return fmt.Errorf("%w: no columns", ErrUnsupported)
	}
	for _, field := range schema.Fields() {
		if t := unreadType(field.Type); t != nil {
			return &Error{Column: field.Name, Err: fmt.Errorf("%w: type %s", ErrUnsupported, t)}
		}
	}
	return nil
}

// unreadType returns t, or the type inside it, if that is not supported; otherwise nil.
func unreadType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.NullType, *arrow.StringType, *arrow.BinaryType, *arrow.LargeStringType, *arrow.LargeBinaryType:
		return nil
	case arrow.ExtensionType:
		return unreadType(t.StorageType())
	case *arrow.DictionaryType:
		if unreadType(t.ValueType) == nil && isInteger(t.IndexType) {
			return nil
		}
	case *arrow.ListType, *arrow.LargeListType, *arrow.FixedSizeListType, *arrow.MapType:
		return unreadType(t.(arrow.ListLikeType).Elem())
	case *arrow.StructType:
		for _, field := range t.Fields() {
			if inner := unreadType(field.Type); inner != nil {
				return inner
			}
		}
		return nil
	case arrow.FixedWidthDataType:
		return nil
	}
	return t
}

func isInteger(t arrow.DataType) bool { return t != nil && arrow.IsInteger(t.ID()) }

func (r *arrowReader) schema() *arrow.Schema { return r.ipc.Schema() }

func (r *arrowReader) release() {
	r.cut.release()
	r.ipc.Release()
}

func (r *arrowReader) next() (rec arrow.Record, err error) {
	defer guard(&err)
	for !r.cut.ready() {
		if !r.ipc.Next() {
			if err := r.ipc.Err(); err != nil {
				return nil, r.frames.explain(err)
			}
			return nil, io.EOF
		}
		batch := r.ipc.Record()
		if n := batch.NumRows(); n > math.MaxInt32 { // columns of nulls can claim any number
			return nil, fmt.Errorf("%w: a record batch of %d rows", ErrTooLarge, n)
		}
		if err := r.valid.record(batch); err != nil {
			return nil, err
		}
		counted, err := countedFromZero(batch)
		if err != nil {
			return nil, err
		}
		r.cut.put(counted)
		counted.Release()
	}
	return r.cut.next(), nil
}

// cutter cuts batches of any size into records of at most rows rows.
type cutter struct {
	rows  int64
	batch arrow.Record // nil when all of it has been given out
	at    int64
}

// put gives the cutter the next batch, which it retains as long as it needs it.
func (c *cutter) put(batch arrow.Record) {
	c.release()
	if batch.NumRows() > 0 {
		batch.Retain()
		c.batch, c.at = batch, 0
	}
}

// ready reports whether next has a record.
func (c *cutter) ready() bool { return c.batch != nil }

// next returns the next record; the caller releases it.
func (c *cutter) next() arrow.Record {
	end := min(c.at+c.rows, c.batch.NumRows())
	rec := c.batch.NewSlice(c.at, end)
	if c.at = end; end == c.batch.NumRows() {
		c.release()
	}
	return rec
}

func (c *cutter) release() {
	if c.batch != nil {
		c.batch.Release()
		c.batch = nil
	}
}
