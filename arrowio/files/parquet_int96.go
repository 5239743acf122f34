package files

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// parquetColumn reads one column of a row group.
type parquetColumn interface {
	// next returns the next values as one array; none at the end.
	next(n int64) (arrow.Array, error)
	release()
}

// arrowColumn is a column that the library converts.
type arrowColumn struct {
	column *pqarrow.ColumnReader
	mem    memory.Allocator
}

func (c arrowColumn) release() { c.column.Release() }

func (c arrowColumn) next(n int64) (arrow.Array, error) {
	chunks, err := c.column.NextBatch(n)
	if err != nil {
		return nil, err
	}
	defer chunks.Release()
	switch parts := chunks.Chunks(); len(parts) {
	case 0:
		return array.MakeArrayOfNull(c.mem, chunks.DataType(), 0), nil
	case 1:
		parts[0].Retain()
		return parts[0], nil
	default:
		return array.Concatenate(parts, c.mem)
	}
}

// int96Column is a column of timestamps of Spark, Impala and Hive: nanoseconds of a Julian day. The
// library converts them to nanoseconds since 1970, which overflow before 1677 and after 2262, so
// that 9999-12-31 becomes 1816. Microseconds have room for every year.
type int96Column struct {
	column *file.Int96ColumnChunkReader
	most   int16 // definition level of values, 0 if none is null
	mem    memory.Allocator
	values []parquet.Int96
	levels []int16
	valid  []bool
	at     []arrow.Timestamp
	as     *arrow.TimestampType
}

func (c *int96Column) release() {}

func (c *int96Column) next(n int64) (arrow.Array, error) {
	if c.values == nil {
		c.values, c.levels = make([]parquet.Int96, n), make([]int16, n)
	}
	c.valid, c.at = c.valid[:0], c.at[:0]
	for int64(len(c.at)) < n && c.column.HasNext() {
		rows, found, err := c.column.ReadBatch(n-int64(len(c.at)), c.values, c.levels, nil)
		if err != nil {
			return nil, err
		}
		if rows == 0 {
			break
		}
		used := 0
		for _, level := range c.levels[:rows] {
			valid := c.most == 0 || level == c.most
			if valid && used == found {
				return nil, fmt.Errorf("%w: %d values, more are claimed", arrowio.ErrCorrupt, found)
			}
			at := arrow.Timestamp(0)
			if valid {
				at = microseconds(c.values[used])
				used++
			}
			c.valid, c.at = append(c.valid, valid), append(c.at, at)
		}
	}
	if err := c.column.Err(); err != nil {
		return nil, err
	}
	build := array.NewTimestampBuilder(c.mem, c.as)
	defer build.Release()
	build.AppendValues(c.at, c.valid)
	return build.NewArray(), nil
}

// julianEpoch is the Julian day of 1 January 1970.
const julianEpoch = 2440588

// lastDay is a day whose microseconds, and those of any time of day, fit into 64 bits.
const lastDay = 100_000_000

// microseconds returns the microseconds since 1970 of a timestamp, at most those of lastDay.
func microseconds(v parquet.Int96) arrow.Timestamp {
	const perDay = 86_400_000_000
	nanos, day := int64(binary.LittleEndian.Uint64(v[:8])), int64(binary.LittleEndian.Uint32(v[8:]))
	return arrow.Timestamp(min(day-julianEpoch, lastDay)*perDay + nanos/1000)
}

// int96Type returns the type of a field of timestamps that are INT96, nil for other fields.
func (r *parquetReader) int96Type(field *pqarrow.SchemaField) *arrow.TimestampType {
	t, isTime := field.Field.Type.(*arrow.TimestampType)
	if !isTime || !field.IsLeaf() {
		return nil
	}
	column := r.file.ParquetReader().MetaData().Schema.Column(field.ColIndex)
	if column.PhysicalType() != parquet.Types.Int96 || column.MaxRepetitionLevel() > 0 {
		return nil
	}
	return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: t.TimeZone}
}

// openInt96 opens a column of INT96 in the next row group.
func (r *parquetReader) openInt96(leaf int, as *arrow.TimestampType) (parquetColumn, error) {
	chunk, err := r.file.ParquetReader().RowGroup(r.group).Column(leaf)
	if err != nil {
		return nil, err
	}
	column, ok := chunk.(*file.Int96ColumnChunkReader)
	if !ok {
		return nil, fmt.Errorf("%w: its values are %v, not INT96", arrowio.ErrCorrupt, chunk.Type())
	}
	return &int96Column{column: column, most: chunk.Descriptor().MaxDefinitionLevel(), mem: r.mem, as: as}, nil
}
