package files

import (
	"bufio"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// arrowEncoder writes an Arrow IPC file or stream, uncompressed, so that other
// programs can map it into memory.
type arrowEncoder struct {
	schema *arrow.Schema
	out    *countedWriter
	ipc    interface {
		Write(arrow.Record) error
		Close() error
	}
}

func createArrow(path string, schema *arrow.Schema) (func(io.Writer) (recordEncoder, error), error) {
	stream := extension(path) == ".arrows"
	return func(w io.Writer) (recordEncoder, error) { return newArrowEncoder(w, schema, stream) }, nil
}

func newArrowEncoder(w io.Writer, schema *arrow.Schema, stream bool) (recordEncoder, error) {
	e := &arrowEncoder{schema: schema, out: &countedWriter{w: bufio.NewWriterSize(w, bufferBytes)}}
	if stream {
		e.ipc = ipc.NewWriter(e.out, ipc.WithSchema(schema))
		return e, nil
	}
	file, err := ipc.NewFileWriter(e.out, ipc.WithSchema(schema))
	if err != nil {
		return nil, err
	}
	e.ipc = file
	return e, nil
}

func (e *arrowEncoder) write(rec arrow.Record) error {
	rec = withSchema(rec, e.schema)
	defer rec.Release()
	return e.ipc.Write(rec)
}

func (e *arrowEncoder) close() error {
	if err := e.ipc.Close(); err != nil {
		return err
	}
	return e.out.w.Flush()
}

// withSchema returns rec with a schema of the same columns: the libraries compare metadata and
// nullability too. The caller releases it.
func withSchema(rec arrow.Record, schema *arrow.Schema) arrow.Record {
	return array.NewRecord(schema, rec.Columns(), rec.NumRows())
}

// countedWriter is a buffered writer that knows its position. The library's file writer seeks for
// nothing else, so a pipe can be written too.
type countedWriter struct {
	w  *bufio.Writer
	at int64
}

func (c *countedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.at += int64(n)
	return n, err
}

func (c *countedWriter) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errors.New("cannot move in a file being written")
	}
	return c.at, nil
}
