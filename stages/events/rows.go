package events

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
)

// TakeRows returns the given rows of a record, in ascending order, with only the named columns (nil
// = all). It ignores names of missing columns. The caller releases the result.
func TakeRows(rec arrow.Record, rows []int32, columns []string) (arrow.Record, error) {
	if columns != nil {
		rec = wire.SelectColumns(rec, columns)
		defer rec.Release()
	}
	return wire.GatherRows([]arrow.Record{rec}, rows)
}

// EachChunk calls do for slices of a batch whose rows, of dim dimensions, fit ChunkBytes in dense
// form. first is the number of the slice's first row in the batch.
func EachChunk(batch arrow.Record, dim int, do func(first int64, chunk arrow.Record) error) error {
	step := ChunkRows(dim)
	if n := batch.NumRows(); n > 0 && n <= step {
		return do(0, batch) // a slice allocates an object for every column
	}
	for first := int64(0); first < batch.NumRows(); first += step {
		chunk := batch.NewSlice(first, min(first+step, batch.NumRows()))
		err := do(first, chunk)
		chunk.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// WithoutColumns returns the record without the named columns. The caller releases it.
func WithoutColumns(rec arrow.Record, names ...string) arrow.Record {
	var fields []arrow.Field
	var columns []arrow.Array
	for i, field := range rec.Schema().Fields() {
		if !slices.Contains(names, field.Name) {
			fields, columns = append(fields, field), append(columns, rec.Column(i))
		}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, rec.NumRows())
}

// OutputColumns lists the columns of an event that are copied to its features.
func OutputColumns(enc *encoder.Encoder) []string {
	columns := append([]string(nil), enc.Passthrough...)
	if enc.Label != nil {
		columns = append(columns, enc.Label.Columns...)
	}
	return columns
}
