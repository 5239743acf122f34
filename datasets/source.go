package datasets

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/files"
)

// RowReader returns rows record by record, and io.EOF at the end. The caller releases the records, and closes the
// reader if it is an [io.Closer].
type RowReader interface {
	Next() (arrow.Record, error)
}

// rowSource says how the rows of a set are read.
type rowSource struct {
	train, test func() (RowReader, error) // test is nil if one file has all rows
	firstTest   int                       // for a single file: the number of its first test row, 0 = the seed splits
	masks       func() (RowReader, error) // for a single file: the test rows of published splits; nil = there are none
	options     encoder.Options           // without Standardize and Clip, which come from a split
}

// mapped is a reader that changes its records.
type mapped struct {
	RowReader
	change func(arrow.Record) (arrow.Record, error)
}

// Next returns the next record, changed.
func (m *mapped) Next() (arrow.Record, error) {
	rec, err := m.RowReader.Next()
	if err != nil {
		return nil, err
	}
	defer rec.Release()
	return m.change(rec)
}

// Close closes the reader below.
func (m *mapped) Close() error { return closeReader(m.RowReader) }

func closeReader(r RowReader) error {
	if c, ok := r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// progress is implemented by readers that report their progress.
type progress interface {
	Progress() (readBytes, totalBytes int64)
}

// Progress is that of the reader below, if it knows.
func (m *mapped) Progress() (readBytes, totalBytes int64) {
	if p, ok := m.RowReader.(progress); ok {
		return p.Progress()
	}
	return 0, 0
}

// delimited opens a text file of a folder and changes every record; change may be nil. The published content is known,
// so a field that is not of its column's type is damage.
func (f folder) delimited(path string, o files.Options, change func(arrow.Record) (arrow.Record, error)) func() (RowReader, error) {
	return func() (RowReader, error) {
		found, err := f.find(path)
		if err != nil {
			return nil, err
		}
		if o.Format == "" {
			o.Format = files.FormatCSV
		}
		o.Strict = true
		reader, err := files.Open(found, o)
		if err != nil || change == nil {
			return reader, err
		}
		return &mapped{reader, change}, nil
	}
}

// replaceColumn returns the record with one column made from the old one.
func replaceColumn(rec arrow.Record, name string, change func(arrow.Array) (arrow.Array, error)) (arrow.Record, error) {
	at := rec.Schema().FieldIndices(name)
	if len(at) != 1 {
		return nil, fmt.Errorf("column %q is there %d times", name, len(at))
	}
	column, err := change(rec.Column(at[0]))
	if err != nil {
		return nil, fmt.Errorf("column %q: %w", name, err)
	}
	defer column.Release()
	fields := rec.Schema().Fields()
	fields[at[0]] = arrow.Field{Name: name, Type: column.DataType(), Nullable: true}
	columns := append([]arrow.Array(nil), rec.Columns()...)
	columns[at[0]] = column
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, rec.NumRows()), nil
}
