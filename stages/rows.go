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
