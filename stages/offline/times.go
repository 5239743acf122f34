package offline

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/stages/events"
)

// SortedTime returns the first column of dates or times by which the rows of a file are sorted,
// ascending or descending, and empty if there is no such column. It reads a file with columns of
// dates or times once. A column that lacks a value in some row, or has only one value, does not
// count.
func SortedTime(ctx context.Context, schema *arrow.Schema, open func() (events.RowReader, error)) (string, error) {
	var columns []*order
	for _, field := range schema.Fields() {
		switch field.Type.ID() {
		case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
			columns = append(columns, &order{name: field.Name, last: math.NaN()})
		}
	}
	if len(columns) == 0 {
		return "", nil
	}
	err := events.EachBatch(ctx, open, func(_ int64, batch arrow.Record) error {
		for _, c := range columns {
			values, err := timesOf(batch, c.name)
			if err != nil {
				return err
			}
			c.add(values)
		}
		return nil
	})
	for _, c := range columns {
		if c.sorted() {
			return c.name, err
		}
	}
	return "", err
}

// order tracks how the values of a column follow one another.
type order struct {
	name              string
	last              float64
	gap, rises, drops bool
}

func (o *order) add(values []float64) {
	for _, v := range values {
		o.gap = o.gap || math.IsNaN(v)
		o.rises, o.drops = o.rises || v > o.last, o.drops || v < o.last
		o.last = v
	}
}

func (o *order) sorted() bool { return !o.gap && o.rises != o.drops }

// InOrder checks that the rows of a file are sorted by a column of dates, times or numbers,
// ascending.
func InOrder(ctx context.Context, column string, open func() (events.RowReader, error)) error {
	o, row := &order{name: column, last: math.NaN()}, int64(0)
	return events.EachBatch(ctx, open, func(_ int64, batch arrow.Record) error {
		values, err := timesOf(batch, column)
		if err != nil {
			return err
		}
		for i := range values {
			o.add(values[i : i+1])
			switch {
			case o.gap:
				return fmt.Errorf("row %d has no value in column %q", row, column)
			case o.drops:
				return fmt.Errorf("row %d is not in the order of column %q: sort the file by this column", row, column)
			}
			row++
		}
		return nil
	})
}

// timesOf returns the values of a column as numbers in the order of time, NaN for missing values.
func timesOf(batch arrow.Record, column string) ([]float64, error) {
	at := batch.Schema().FieldIndices(column)
	if len(at) == 0 {
		return nil, fmt.Errorf("column %q, which should order the rows, does not exist", column)
	}
	switch a := batch.Column(at[0]).(type) {
	case *array.Date32:
		return numbersOf(a)
	case *array.Date64:
		return numbersOf(a)
	case *array.Timestamp:
		return numbersOf(a)
	case *array.Int8:
		return numbersOf(a)
	case *array.Int16:
		return numbersOf(a)
	case *array.Int32:
		return numbersOf(a)
	case *array.Int64:
		return numbersOf(a)
	case *array.Uint8:
		return numbersOf(a)
	case *array.Uint16:
		return numbersOf(a)
	case *array.Uint32:
		return numbersOf(a)
	case *array.Uint64:
		return numbersOf(a)
	case *array.Float32:
		return numbersOf(a)
	case *array.Float64:
		return numbersOf(a)
	default:
		return nil, fmt.Errorf("column %q of type %v cannot order rows: expected dates, times or numbers",
			column, a.DataType())
	}
}

// number are the values of the columns that can order rows.
type number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

func numbersOf[T number](a interface {
	arrow.Array
	Value(i int) T
}) ([]float64, error) {
	values := make([]float64, a.Len())
	for i := range values {
		values[i] = math.NaN()
		if a.IsValid(i) {
			values[i] = float64(a.Value(i))
		}
	}
	return values, nil
}
