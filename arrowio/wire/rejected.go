package wire

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// RejectedRowNumbers returns the numbers in their source message of the rows of a record made by
// [EncodeRejectedRows]. Another tool may have rewritten the record, which tends to widen the
// numbers. The error wraps [ErrMalformed].
func RejectedRowNumbers(rec arrow.Record) ([]int32, error) {
	at := rec.Schema().FieldIndices(ColumnRejectedRow)
	if len(at) != 1 {
		return nil, fmt.Errorf("%w: %d columns %q", ErrMalformed, len(at), ColumnRejectedRow)
	}
	column := rec.Column(at[0])
	if column.NullN() > 0 {
		return nil, fmt.Errorf("%w: column %q has nulls", ErrMalformed, ColumnRejectedRow)
	}
	var rows []int32
	switch numbers := column.(type) {
	case *array.Int32:
		rows = slices.Clone(numbers.Int32Values())
	case *array.Int64:
		rows = make([]int32, numbers.Len())
		for i, n := range numbers.Int64Values() {
			if rows[i] = int32(n); int64(rows[i]) != n {
				return nil, fmt.Errorf("%w: row %d", ErrMalformed, n)
			}
		}
	default:
		return nil, fmt.Errorf("%w: column %q is %v, want int32", ErrMalformed, ColumnRejectedRow, column.DataType())
	}
	return rows, checkAscending(rows)
}
