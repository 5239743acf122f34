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

	"github.com/eerf-stream/eerf/arrowio"
)

// arrowMagic starts and ends an Arrow IPC file; a stream starts with streamMagic.
var (
	arrowMagic  = []byte("ARROW1")
	streamMagic = []byte{0xff, 0xff, 0xff, 0xff}
)

// arrowHeadBytes is the magic, padded, before an IPC file's first message.
const arrowHeadBytes = 8

// arrowReader cuts the record batches of an Arrow file or stream into records. A file is read as the stream that it
// contains; its footer is only for random access.
type arrowReader struct {
	ipc *ipc.Reader
	cut cutter
}

func openArrow(src *source, o Options) (rows rowReader, err error) {
	content, err := src.content()
	if err != nil {
		return nil, err
	}
	stream, err := arrowStream(src, content)
	if err != nil {
		return nil, err
	}
	allocator := ipc.WithAllocator(src.bounded(o.Allocator, 1))
	counted := &countedReader{r: stream}
	reader, err := ipc.NewReaderFromMessageReader(&messages{ipc.NewMessageReader(counted, allocator), counted}, allocator)
	if err != nil {
		return nil, corrupt(err)
	}
	if reader.Schema().NumFields() == 0 {
		reader.Release()
		return nil, fmt.Errorf("%w: no columns", arrowio.ErrUnsupported)
	}
	return &arrowReader{ipc: reader, cut: cutter{rows: int64(o.BatchRows)}}, nil
}

// arrowStream returns the messages of a file or stream. In a file they end at its footer at the latest: not every
// writer marks their end.
func arrowStream(src *source, content *bufio.Reader) (io.Reader, error) {
	head, _ := content.Peek(arrowHeadBytes)
	switch {
	case len(head) == 0:
		return nil, ErrEmpty
	case bytes.HasPrefix(head, []byte("FEA1")):
		return nil, fmt.Errorf("%w: Feather version 1; write it again as an Arrow file", arrowio.ErrUnsupported)
	case !bytes.HasPrefix(head, arrowMagic):
		return content, nil
	}
	if _, err := content.Discard(arrowHeadBytes); err != nil || src.gzipped || !src.regular {
		return content, err
	}
	tail := make([]byte, 4+len(arrowMagic)) // the footer's length, and the magic again
	messages := src.size - arrowHeadBytes - int64(len(tail))
	if _, err := src.file.ReadAt(tail, arrowHeadBytes+max(0, messages)); err == nil && bytes.Equal(tail[4:], arrowMagic) {
		messages -= int64(binary.LittleEndian.Uint32(tail))
	} else {
		messages = -1
	}
	if messages < 0 {
		return nil, fmt.Errorf("%w: an Arrow file without its end: cut off, or its writer did not finish", arrowio.ErrCorrupt)
	}
	return io.LimitReader(content, messages), nil
}

// messages are those of a stream. The library takes a stream that is cut off before a body for one that has ended.
type messages struct {
	ipc.MessageReader
	from *countedReader
}

// Message implements [ipc.MessageReader].
func (m *messages) Message() (*ipc.Message, error) {
	before := m.from.read
	msg, err := m.MessageReader.Message()
	if err != io.EOF && errors.Is(err, io.EOF) && m.from.read > before { //nolint:errorlint // the end mark is io.EOF itself
		return nil, io.ErrUnexpectedEOF
	}
	return msg, err
}

// countedReader counts the bytes read.
type countedReader struct {
	r    io.Reader
	read int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.read += int64(n)
	return n, err
}

func (r *arrowReader) schema() *arrow.Schema { return r.ipc.Schema() }

func (r *arrowReader) release() {
	r.cut.release()
	r.ipc.Release()
}

func (r *arrowReader) next() (rec arrow.Record, err error) {
	defer guard(&err)
	for !r.cut.ready() {
		batch, err := r.ipc.Read()
		if err == io.EOF { //nolint:errorlint // the end is io.EOF itself; a fault may wrap it
			return nil, io.EOF
		}
		if err != nil {
			return nil, corrupt(err)
		}
		if n := batch.NumRows(); n > math.MaxInt32 { // columns of nulls can claim any number
			return nil, fmt.Errorf("%w: a record batch of %d rows", arrowio.ErrTooLarge, n)
		}
		if err := validate(batch); err != nil {
			return nil, err
		}
		r.cut.put(batch)
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
