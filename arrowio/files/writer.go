package files

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// Create returns a writer for the format, or if it is "" for the format of path's extension:
//
//   - arrow: an Arrow IPC file; an IPC stream when the extension is .arrows.
//   - parquet: snappy-compressed pages. Feature vectors take several times as
//     long as in arrow.
//   - csv: a header and one line per row; compressed when path ends in .gz; tabs
//     when it ends in .tsv. A fixed-size list becomes one column per element, named
//     name_0, name_1, ... or as ElementNames names them; null is an empty field, and
//     so is an empty string.
//
// Close replaces an existing file. Anything but a regular file (a pipe, /dev/stdout) is written
// directly.
func Create(path string, schema *arrow.Schema, format string) (*Writer, error) {
	if format == "" {
		format = formatOf(path)
	}
	start, err := encoderOf(path, schema, format)
	if err != nil {
		return nil, located(path, err)
	}
	out, err := createTarget(path)
	if err != nil {
		return nil, &Error{Path: path, Err: err}
	}
	enc, err := start(out)
	if err != nil {
		return nil, &Error{Path: path, Err: errors.Join(err, out.discard())}
	}
	return &Writer{path: path, schema: schema, out: out, enc: enc}, nil
}

// recordEncoder turns records into the bytes of one format.
type recordEncoder interface {
	write(rec arrow.Record) error
	close() error // writes pending data and the end of the format
}

// encoderOf returns a function that starts an encoder on the file, once the file is open.
func encoderOf(path string, schema *arrow.Schema, format string) (func(io.Writer) (recordEncoder, error), error) {
	if format == "" {
		return nil, fmt.Errorf("%w: give one of %s", ErrNoFormat, strings.Join(Formats(), ", "))
	}
	f := lookup(format)
	if f == nil {
		return nil, fmt.Errorf("cannot write format %q: want one of %s", format, strings.Join(Formats(), ", "))
	}
	if namedGzip(path) && format != FormatCSV {
		return nil, fmt.Errorf("%w: only csv is written with .gz", arrowio.ErrUnsupported)
	}
	return f.create(path, schema)
}

// Writer writes records of one schema to a file. The complete file appears under its name when
// Close succeeds; until then the data is in the same folder, under a temporary name.
type Writer struct {
	path   string
	schema *arrow.Schema
	out    *target
	enc    recordEncoder
	failed bool
}

var errWriterDone = errors.New("the writer is closed")

// Write appends a record's rows. It does not keep the record. After an error every later call
// fails, and Close leaves no file.
func (w *Writer) Write(rec arrow.Record) error {
	if w.out.done {
		return &Error{Path: w.path, Err: errWriterDone}
	}
	if w.failed {
		return &Error{Path: w.path, Err: errors.New("an earlier write failed")}
	}
	if err := sameColumns(w.schema, rec.Schema()); err != nil {
		w.failed = true
		return &Error{Path: w.path, Err: err}
	}
	if err := w.enc.write(rec); err != nil {
		w.failed = true
		return located(w.path, err)
	}
	return nil
}

// Close finishes the file and gives it its name.
func (w *Writer) Close() error {
	if w.out.done {
		return nil
	}
	if w.failed {
		return w.Discard()
	}
	if err := w.enc.close(); err != nil {
		return located(w.path, errors.Join(err, w.out.discard()))
	}
	if err := w.out.commit(); err != nil {
		return located(w.path, err)
	}
	return nil
}

// Discard gives up and removes the temporary file. After Close it does nothing, so it can be
// deferred.
func (w *Writer) Discard() error {
	if w.out.done {
		return nil
	}
	if err := w.out.discard(); err != nil {
		return located(w.path, err)
	}
	return nil
}

// sameColumns returns an error unless both schemas have the same fields, ignoring metadata.
func sameColumns(want, got *arrow.Schema) error {
	if want.NumFields() != got.NumFields() {
		return fmt.Errorf("a record has %d columns, the file %d", got.NumFields(), want.NumFields())
	}
	for i, f := range want.Fields() {
		g := got.Field(i)
		if f.Name != g.Name || !arrow.TypeEqual(f.Type, g.Type) {
			return fmt.Errorf(
				"a record's column %d is %q of type %s, the file's is %q of type %s",
				i+1, g.Name, g.Type, f.Name, f.Type,
			)
		}
	}
	return nil
}
