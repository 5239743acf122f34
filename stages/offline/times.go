package offline

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/stages/events"
)

// SortedTime returns the first column of dates or times by which the rows of a file are sorted,
// ascending or descending, and empty if there is no such column. Rows of a day may be in any order.
// It reads a file with columns of dates or times once. A column with only one value does not count,
// and neither does a column that lacks values in more than a few rows.
func SortedTime(ctx context.Context, schema *arrow.Schema, open func() (events.RowReader, error)) (string, error) {
	var columns []*order
	for _, field := range schema.Fields() {
		switch field.Type.ID() {
		case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
			columns = append(columns, newOrder(field))
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
	name       string
	day        float64 // length of a day
	rows, gaps int64
	last       float64 // NaN before the first value
	low, high  float64
	// back and forth are the largest steps down from an earlier value and up from one.
	rises, drops bool
	back, forth  float64
}

func newOrder(field arrow.Field) *order {
	o := &order{name: field.Name, day: 1, last: math.NaN(), low: math.Inf(1), high: math.Inf(-1)}
	switch t := field.Type.(type) {
	case *arrow.Date64Type:
		o.day = 24 * 60 * 60 * 1000
	case *arrow.TimestampType:
		o.day = float64(24 * time.Hour / t.Unit.Multiplier())
	}
	return o
}

func (o *order) add(values []float64) {
	for _, v := range values {
		o.rows++
		if math.IsNaN(v) {
			o.gaps++
			continue
		}
		o.rises, o.drops = o.rises || v > o.last, o.drops || v < o.last
		o.low, o.high = min(o.low, v), max(o.high, v)
		o.back, o.forth = max(o.back, o.high-v), max(o.forth, v-o.low)
		o.last = v
	}
}

const (
	// maxGaps is the largest share of rows without a value in a column by which a file is sorted.
	maxGaps = 0.05
	// sortedDays is the number of days from which on a file may be sorted by day: rows in any order
	// would be more than a day apart.
	sortedDays = 3
)

// sorted reports whether the rows are sorted by value, or else by day.
func (o *order) sorted() bool {
	byDay := o.high-o.low >= sortedDays*o.day && min(o.back, o.forth) <= o.day
	return float64(o.gaps) <= maxGaps*float64(o.rows) && (o.rises != o.drops || byDay)
}

// InOrder checks that the rows of a file are sorted by a column of dates, times or numbers,
// ascending.
func InOrder(ctx context.Context, column string, open func() (events.RowReader, error)) error {
	o, row := newOrder(arrow.Field{Name: column}), int64(0)
	return events.EachBatch(ctx, open, func(_ int64, batch arrow.Record) error {
		values, err := timesOf(batch, column)
		if err != nil {
			return err
		}
		for i := range values {
			o.add(values[i : i+1])
			switch {
			case o.gaps > 0:
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
