package sets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Columns of the rows from a LIBSVM file.
const (
	libsvmLabel    = "label"    // int64
	libsvmFeatures = "features" // fixed-size list of float32
)

// once is a reader of one record.
type once struct{ rec arrow.Record }

func (o *once) Next() (arrow.Record, error) {
	if o.rec == nil {
		return nil, io.EOF
	}
	rec := o.rec
	o.rec = nil
	return rec, nil
}

// libsvm opens a LIBSVM file of the folder. Each line has an integer label, then index:value with
// indices from 1. The dense rows have dim columns.
func (f folder) libsvm(path string, dim int) func() (RowReader, error) {
	return func() (RowReader, error) {
		found, err := f.find(path)
		if err != nil {
			return nil, err
		}
		content, err := readContent(found)
		if err != nil {
			return nil, err
		}
		rec, err := parseLIBSVM(content, dim)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", found, err)
		}
		return &once{rec}, nil
	}
}

func parseLIBSVM(content []byte, dim int) (arrow.Record, error) {
	labels := array.NewInt64Builder(memory.DefaultAllocator)
	defer labels.Release()
	rows := array.NewFixedSizeListBuilder(memory.DefaultAllocator, int32(dim), arrow.PrimitiveTypes.Float32)
	defer rows.Release()
	values := rows.ValueBuilder().(*array.Float32Builder)
	lines := bufio.NewScanner(bytes.NewReader(content))
	for number := 1; lines.Scan(); number++ {
		row := make([]float32, dim)
		label, err := parseRow(lines.Text(), row)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		labels.Append(label)
		rows.Append(true)
		values.AppendValues(row, nil)
	}
	label, x := labels.NewArray(), rows.NewArray()
	defer label.Release()
	defer x.Release()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: libsvmLabel, Type: label.DataType()}, {Name: libsvmFeatures, Type: x.DataType()},
	}, nil)
	return array.NewRecord(schema, []arrow.Array{label, x}, int64(label.Len())), lines.Err()
}

// parseRow fills row with the values of a line.
func parseRow(line string, row []float32) (label int64, err error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return 0, errors.New("the line is empty")
	}
	if label, err = strconv.ParseInt(strings.TrimPrefix(words[0], "+"), 10, 64); err != nil {
		return 0, fmt.Errorf("label: %w", err)
	}
	for _, word := range words[1:] {
		at, value, _ := strings.Cut(word, ":")
		index, err := strconv.Atoi(at)
		if err != nil || index < 1 || index > len(row) {
			return 0, fmt.Errorf("%q: want index:value, the index from 1 to %d", word, len(row))
		}
		v, err := strconv.ParseFloat(value, 32)
		if err != nil {
			return 0, fmt.Errorf("%q: %w", word, err)
		}
		row[index-1] = float32(v)
	}
	return label, nil
}
