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
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

// arrowMagic starts and ends an Arrow IPC file; a stream starts with streamMagic.
var (
	arrowMagic  = []byte("ARROW1")
	streamMagic = []byte{0xff, 0xff, 0xff, 0xff}
)

// arrowHeadBytes is the magic, padded, before an IPC file's first message.
const arrowHeadBytes = 8

// arrowReader cuts the record batches of an Arrow file or stream into records. A file is read by
// its footer, unless it is compressed or a pipe: then it is read as the stream that most writers
// put into it.
type arrowReader struct {
	ipc   *ipc.Reader
	cut   cutter
	views *views // nil if no column has views
}

func openArrow(src *source, o Options) (rows rowReader, err error) {
	content, err := src.content()
	if err != nil {
		return nil, err
	}
	from := &messages{mem: src.bounded(o.Allocator, 1)}
	if err := from.start(src, content); err != nil {
		return nil, err
	}
	reader, err := ipc.NewReaderFromMessageReader(from, ipc.WithAllocator(from.mem))
	if err != nil {
		return nil, corrupt(err)
	}
	if reader.Schema().NumFields() == 0 {
		reader.Release()
		return nil, fmt.Errorf("%w: no columns", arrowio.ErrUnsupported)
	}
	return &arrowReader{
		ipc:   reader,
		cut:   cutter{rows: int64(o.BatchRows)},
		views: newViews(reader.Schema(), from.mem),
	}, nil
}

// start finds the messages of a file or stream.
func (m *messages) start(src *source, content *bufio.Reader) error {
	head, _ := content.Peek(arrowHeadBytes)
	m.from = content
	switch {
	case len(head) == 0:
		return ErrEmpty
	case bytes.HasPrefix(head, []byte("FEA1")):
		return fmt.Errorf("%w: Feather version 1; write it again as an Arrow file", arrowio.ErrUnsupported)
	case !bytes.HasPrefix(head, arrowMagic):
		return nil
	case src.gzipped || !src.regular:
		m.footer = true
		_, err := content.Discard(arrowHeadBytes)
		return err
	}
	footer, before, err := readFooter(src)
	if err != nil {
		return err
	}
	m.source, m.blocks = src, footer.Blocks
	m.from = bytes.NewReader(footer.Schema)
	src.read.Store(src.size - before) // the rest is read message by message
	return nil
}

// readFooter reads the footer of a file, and returns the number of bytes before it.
func readFooter(src *source) (f arrowio.Footer, before int64, err error) {
	const truncated = "%w: an Arrow file without its end: truncated, or its writer did not finish"
	tail := make([]byte, 4+len(arrowMagic)) // the footer's length, and the magic again
	end := src.size - int64(len(tail))
	if _, err := src.file.ReadAt(tail, max(0, end)); err != nil || !bytes.Equal(tail[4:], arrowMagic) {
		return f, 0, fmt.Errorf(truncated, arrowio.ErrCorrupt)
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if before = end - length; before < arrowHeadBytes || length > maxFooterBytes {
		return f, 0, fmt.Errorf(truncated, arrowio.ErrCorrupt)
	}
	footer := make([]byte, length)
	if _, err := src.file.ReadAt(footer, before); err != nil {
		return f, 0, bare(err)
	}
	f, err = arrowio.ReadFooter(footer, before)
	return f, before, err
}

// messages reads the messages of a stream. The library's own reader takes a stream that is cut off
// before a body for one that has ended, and allocates what a damaged length claims.
type messages struct {
	from   io.Reader
	mem    memory.Allocator
	footer bool    // a file's footer may follow the messages
	source *source // of the blocks; nil for a stream
	blocks []arrowio.Block
	last   *ipc.Message // returned by the last call, nil before
}

// Message implements [ipc.MessageReader]. The end of the stream is io.EOF.
func (m *messages) Message() (*ipc.Message, error) {
	if err := m.nextBlock(); err != nil {
		return nil, err
	}
	length, err := m.length()
	if err != nil {
		return nil, err
	}
	var metadata bytes.Buffer // grows with the bytes read, not with the claimed length
	if _, err := io.CopyN(&metadata, m.from, length); err != nil {
		return nil, unexpectedEOF(err)
	}
	size, err := arrowio.CheckMessage(metadata.Bytes())
	if err != nil {
		return nil, err
	}
	body := memory.NewResizableBuffer(m.mem)
	defer body.Release()
	body.Resize(int(size))
	if _, err := io.ReadFull(m.from, body.Bytes()); err != nil {
		return nil, unexpectedEOF(err)
	}
	m.Release()
	m.last = ipc.NewMessage(memory.NewBufferBytes(metadata.Bytes()), body)
	return m.last, nil
}

// nextBlock moves to the next message of a file; the first is the schema, from the footer.
func (m *messages) nextBlock() error {
	if m.source == nil || m.last == nil {
		return nil
	}
	if len(m.blocks) == 0 {
		return io.EOF
	}
	b := m.blocks[0]
	m.blocks = m.blocks[1:]
	m.from = io.NewSectionReader(m.source.file, b.Offset, b.Bytes())
	m.source.read.Add(b.Bytes())
	return nil
}

// length reads the length of a message's metadata, and the mark that precedes it since Arrow 0.15.
func (m *messages) length() (int64, error) {
	var word [4]byte
	if _, err := io.ReadFull(m.from, word[:]); err != nil {
		return 0, err // io.EOF at the end of a stream without an end mark
	}
	switch {
	case bytes.Equal(word[:], streamMagic):
		if _, err := io.ReadFull(m.from, word[:]); err != nil {
			return 0, unexpectedEOF(err)
		}
	case m.footer:
		return 0, m.end()
	}
	length := int64(int32(binary.LittleEndian.Uint32(word[:])))
	if length == 0 { // the end mark
		return 0, io.EOF
	}
	if length < 0 {
		return 0, fmt.Errorf("%w: a message of %d bytes", arrowio.ErrCorrupt, length)
	}
	return length, nil
}

// end returns io.EOF if a footer follows, of which the first bytes have been read.
func (m *messages) end() error {
	footer, err := io.ReadAll(io.LimitReader(m.from, maxFooterBytes))
	if err != nil {
		return err
	}
	if !bytes.HasSuffix(footer, arrowMagic) {
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}

// maxFooterBytes bounds the footer of an Arrow file, which lists its record batches in 24 bytes
// each.
const maxFooterBytes = 64 << 20

// unexpectedEOF is the error for a message that ends early.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Retain implements [ipc.MessageReader]. One reader holds the messages.
func (m *messages) Retain() {}

// Release implements [ipc.MessageReader].
func (m *messages) Release() {
	if m.last != nil {
		m.last.Release()
		m.last = nil
	}
}

func (r *arrowReader) schema() *arrow.Schema {
	if r.views != nil {
		return r.views.schema
	}
	return r.ipc.Schema()
}

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
		if r.views != nil {
			batch = r.views.convert(batch)
		}
		r.cut.put(batch)
		if r.views != nil {
			batch.Release()
		}
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
	c.at = end
	if end == c.batch.NumRows() {
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
