package stages

import (
	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// TakeRows returns the rows of a record, ascending, restricted to the named columns (nil = all); a name that the
// record does not have is left out. The caller releases it.
func TakeRows(rec arrow.Record, rows []int32, columns []string) (arrow.Record, error) {
	if columns != nil {
		rec = wire.SelectColumns(rec, columns)
		defer rec.Release()
	}
	return wire.GatherRows([]arrow.Record{rec}, rows)
}

// eachChunk calls do for slices of a batch whose rows, of so many dimensions, fit encodeBytes in dense form. first is the
// number of the slice's first row in the batch.
func eachChunk(batch arrow.Record, dim int, do func(first int64, chunk arrow.Record) error) error {
	step := chunkRows(dim)
	if n := batch.NumRows(); n > 0 && n <= step {
		return do(0, batch) // a slice is as many objects as there are columns
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
