package sets

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/datasets"
)

// RowReader is [datasets.RowReader].
type RowReader = datasets.RowReader

// rowSource describes the reading of a set.
type rowSource struct {
	train, test func() (RowReader, error) // test is nil if one file has all rows
	firstTest   int                       // for a single file: the number of its first test row, 0 = the seed splits
	masks       func() (RowReader, error) // for a single file: the test rows of published splits, or nil
	options     encoder.Options           // without Standardize and Clip, which come from a split
}

// mapped is a reader that converts records.
type mapped struct {
	RowReader
	change func(arrow.Record) (arrow.Record, error)
}

// Next returns the next converted record.
func (m *mapped) Next() (arrow.Record, error) {
	rec, err := m.RowReader.Next()
	if err != nil {
		return nil, err
	}
	defer rec.Release()
	return m.change(rec)
}

// Close closes the underlying reader.
func (m *mapped) Close() error { return closeReader(m.RowReader) }

func closeReader(r RowReader) error {
	if c, ok := r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// delimited opens a text file of a folder and converts every record with change, which may be nil.
// The published content is known, so a field with the wrong type means that the file is damaged.
func (f folder) delimited(
	path string,
	o files.Options,
	change func(arrow.Record) (arrow.Record, error),
) func() (RowReader, error) {
	return func() (RowReader, error) {
		found, err := f.find(path)
		if err != nil {
			return nil, err
		}
		if o.Format == "" {
			o.Format = files.FormatCSV
		}
		reader, err := files.Open(found, o)
		if err != nil || change == nil {
			return reader, err
		}
		return &mapped{reader, change}, nil
	}
}

// replaceColumn returns the record with one column converted.
func replaceColumn(rec arrow.Record, name string, change func(arrow.Array) (arrow.Array, error)) (arrow.Record, error) {
	at := rec.Schema().FieldIndices(name)
	if len(at) != 1 {
		return nil, fmt.Errorf("column %q occurs %d times", name, len(at))
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
