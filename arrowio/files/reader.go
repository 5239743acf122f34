package files

import (
	"errors"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
)

// rowReader is what each format implements; fileReader turns it into a Reader.
type rowReader interface {
	schema() *arrow.Schema
	next() (arrow.Record, error) // io.EOF at the end; not called again after an error
	release()                    // frees what the format holds in addition to the file
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
}

// fileReader is the Reader of every format: it names the file in errors, keeps
// the first error, and closes the file.
type fileReader struct {
	path   string
	source *source
	rows   rowReader
	err    error
}

func (r *fileReader) Schema() *arrow.Schema { return r.rows.schema() }

func (r *fileReader) Next() (arrow.Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	rec, err := r.rows.next()
	if err == nil {
		return rec, nil
	}
	if !errors.Is(err, io.EOF) {
		err = located(r.path, err)
	}
	r.err = err
	return nil, err
}

func (r *fileReader) Progress() (readBytes, totalBytes int64) {
	if p, ok := r.rows.(progressReader); ok {
		return p.progress()
	}
	return r.source.progress()
}

func (r *fileReader) LeftOut() []LeftOut {
	if p, ok := r.rows.(partialReader); ok {
		return p.leftOut()
	}
	return nil
}

func (r *fileReader) BadFields() []BadFields {
	if t, ok := r.rows.(tolerantReader); ok {
		return t.badFields()
	}
	return nil
}

func (r *fileReader) Close() error {
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
