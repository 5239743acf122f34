package files

import (
	"errors"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
)

// rowReader is the interface of a format's reader.
type rowReader interface {
	schema() *arrow.Schema
	next() (arrow.Record, error) // io.EOF at the end; not called again after an error
	release()                    // frees the format's memory; the file stays open
}

// progressReader is a rowReader that can tell its progress better than by the bytes read.
type progressReader interface {
	progress() (readBytes, totalBytes int64)
}

// partialReader is a rowReader that leaves out columns of the file.
type partialReader interface {
	leftOut() []LeftOut
}

// tolerantReader is a rowReader that reads fields of the wrong type as null.
type tolerantReader interface {
	badFields() []BadFields
	bareQuotes() bool
	nullWords() []NullWord
}

// Reader reads the rows of a file as records, in file order.
type Reader struct {
	path   string
	source *source
	rows   rowReader
	err    error
}

// Schema returns the schema of every record.
func (r *Reader) Schema() *arrow.Schema { return r.rows.schema() }

// Next returns the next record, of one to BatchRows rows, which the caller releases; io.EOF after
// the last. An error is an *Error and stays: later calls return it again.
func (r *Reader) Next() (arrow.Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	rec, err := r.rows.next()
	if err == nil {
		return rec, nil
	}
	if errors.Is(err, io.EOF) {
		r.source.finish()
	} else {
		err = located(r.path, err)
	}
	r.err = err
	return nil, err
}

// Progress returns the bytes of the file read by Next so far and the file's size (compressed bytes
// for gzip; 0 if the size is not known, as for a pipe). It may be called from any goroutine.
func (r *Reader) Progress() (readBytes, totalBytes int64) {
	if p, ok := r.rows.(progressReader); ok {
		return p.progress()
	}
	return r.source.progress()
}

// LeftOut are the columns of the file that are not in the records: Parquet columns of structs and
// maps.
func (r *Reader) LeftOut() []LeftOut {
	if p, ok := r.rows.(partialReader); ok {
		return p.leftOut()
	}
	return nil
}

// BadFields are the columns of a CSV file with a type from Options.Schema and fields of another
// type, which are read as null, among the rows read so far, in file order.
func (r *Reader) BadFields() []BadFields {
	if t, ok := r.rows.(tolerantReader); ok {
		return t.badFields()
	}
	return nil
}

// NullWords returns the words that were read as null in columns of a CSV file that Open inferred to
// be text, the most frequent of a column first.
func (r *Reader) NullWords() []NullWord {
	if t, ok := r.rows.(tolerantReader); ok {
		return t.nullWords()
	}
	return nil
}

// BareQuotes reports whether a CSV file has quotes within fields that are not in quotes.
func (r *Reader) BareQuotes() bool {
	t, ok := r.rows.(tolerantReader)
	return ok && t.bareQuotes()
}

// Close closes the file. It may be called twice. Records stay valid.
func (r *Reader) Close() error {
	if r.source.closed {
		return nil
	}
	r.rows.release()
	r.err = &Error{Path: r.path, Err: os.ErrClosed}
	if err := r.source.Close(); err != nil {
		return located(r.path, err)
	}
	return nil
}
