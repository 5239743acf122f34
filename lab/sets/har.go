package sets

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// harLabel is the name of the column of activities.
const harLabel = "activity"

// openHAR reads the measures of each part from one file and the activities from another.
func openHAR(f folder) *rowSource {
	return &rowSource{
		train: f.harPart("train"), test: f.harPart("test"),
		options: encoder.Options{Label: []string{harLabel}, Task: encoder.TaskClassification},
	}
}

func (f folder) harPart(part string) func() (RowReader, error) {
	measures := make([]arrow.Field, 561)
	for i := range measures {
		measures[i] = decimal(fmt.Sprintf("f%d", i))
	}
	x := headless(measures)
	x.Delimiter = ' '
	y := headless([]arrow.Field{whole(harLabel)})
	return func() (RowReader, error) {
		labels, err := readWhole(f.delimited("uci_har/y_"+part+".txt", y, nil))
		if err != nil {
			return nil, err
		}
		rows, err := f.delimited("uci_har/X_"+part+".txt", x, nil)()
		if err != nil {
			return nil, err
		}
		return &labelled{RowReader: rows, name: harLabel, labels: labels}, nil
	}
}

// readWhole reads the only column of a file of whole numbers.
func readWhole(open func() (RowReader, error)) (all []int64, err error) {
	reader, err := open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeReader(reader)) }()
	for {
		rec, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		column := rec.Column(0).(*array.Int64)
		if column.NullN() > 0 || rec.NumCols() != 1 {
			rec.Release()
			return nil, fmt.Errorf("labels: %d columns and %d empty fields by row %d, want one number a row", rec.NumCols(),
				column.NullN(), len(all)+column.Len())
		}
		all = append(all, column.Int64Values()...)
		rec.Release()
	}
}

// labelled is a reader that inserts a column of labels before the other columns.
type labelled struct {
	RowReader
	name   string
	labels []int64 // labels of the remaining rows
}

// Next returns the next rows with their labels. A file with more or fewer rows than labels is
// refused.
func (l *labelled) Next() (arrow.Record, error) {
	rec, err := l.RowReader.Next()
	if errors.Is(err, io.EOF) && len(l.labels) > 0 {
		return nil, fmt.Errorf("%d more labels than rows", len(l.labels))
	}
	if err != nil {
		return nil, err
	}
	defer rec.Release()
	n := int(rec.NumRows())
	if n > len(l.labels) {
		return nil, fmt.Errorf("at least %d more rows than labels", n-len(l.labels))
	}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(l.labels[:n], nil)
	l.labels = l.labels[n:]
	column := b.NewArray()
	defer column.Release()
	fields := append([]arrow.Field{{Name: l.name, Type: column.DataType()}}, rec.Schema().Fields()...)
	return array.NewRecord(arrow.NewSchema(fields, nil), append([]arrow.Array{column}, rec.Columns()...),
		rec.NumRows()), nil
}

// Close closes the underlying reader.
func (l *labelled) Close() error { return closeReader(l.RowReader) }
