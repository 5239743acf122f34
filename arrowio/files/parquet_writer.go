package files

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// rowGroupBytes is the approximate size of the values in a row group. The library holds all of them
// until the group is complete.
const rowGroupBytes = 64 << 20

// maxRowGroupRows bounds row groups of narrow rows; common readers expect about this number.
const maxRowGroupRows = 1 << 20

// parquetEncoder writes a Parquet file with snappy-compressed pages and the Arrow schema in its
// footer, so that types are read back unchanged.
type parquetEncoder struct {
	schema *arrow.Schema
	out    *bufio.Writer
	pq     *pqarrow.FileWriter

	groupRows int64 // in the row group being filled
}

func createParquet(_ string, schema *arrow.Schema) (func(io.Writer) (recordEncoder, error), error) {
	return func(w io.Writer) (recordEncoder, error) { return newParquetEncoder(w, schema) }, nil
}

func newParquetEncoder(w io.Writer, schema *arrow.Schema) (e recordEncoder, err error) {
	defer guardWrite(&err)
	if schema.NumFields() == 0 {
		return nil, fmt.Errorf("%w: a Parquet file without columns", arrowio.ErrUnsupported)
	}
	schema = nullableLists(schema)
	props, err := parquetProperties(schema)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", arrowio.ErrUnsupported, err)
	}
	out := bufio.NewWriterSize(w, bufferBytes)
	pq, err := pqarrow.NewFileWriter(schema, out, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", arrowio.ErrUnsupported, err)
	}
	return &parquetEncoder{schema: schema, out: out, pq: pq}, nil
}

// parquetProperties returns how pages are written. Fractions in lists, such as features, hardly
// ever repeat, and readers do not filter by their minimum, so they have neither a dictionary nor
// statistics.
func parquetProperties(schema *arrow.Schema) (*parquet.WriterProperties, error) {
	options := []parquet.WriterProperty{
		// In version 1 pages the library copies all its levels whenever it adds some: 40 times
		// slower for lists.
		parquet.WithDataPageVersion(parquet.DataPageV2),
		parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithMaxRowGroupLength(maxRowGroupRows),
	}
	columns, err := pqarrow.ToParquet(schema, nil, pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	for i := range columns.NumColumns() {
		column := columns.Column(i)
		fraction := column.PhysicalType() == parquet.Types.Float || column.PhysicalType() == parquet.Types.Double
		if fraction && column.MaxRepetitionLevel() > 0 {
			options = append(
				options,
				parquet.WithDictionaryPath(column.ColumnPath(), false), parquet.WithStatsPath(column.ColumnPath(), false),
			)
		}
	}
	return parquet.NewWriterProperties(options...), nil
}

// nullableLists returns schema with its fixed-size lists marked nullable. The library writes
// definition levels one short for lists that are not, so every element is read back as null. (It
// refuses lists that really are null, with an error.)
func nullableLists(schema *arrow.Schema) *arrow.Schema {
	fields := slices.Clone(schema.Fields())
	for i := range fields {
		if fields[i].Type.ID() == arrow.FIXED_SIZE_LIST {
			fields[i].Nullable = true
		}
	}
	meta := schema.Metadata()
	return arrow.NewSchema(fields, &meta)
}

// write cuts the record at the ends of row groups itself. The library would cut it too, but it
// cannot write slices (see startLists).
func (e *parquetEncoder) write(rec arrow.Record) (err error) {
	defer guardWrite(&err)
	for at := int64(0); at < rec.NumRows(); {
		end := min(rec.NumRows(), at+maxRowGroupRows-e.groupRows)
		if err := e.writePart(rec, at, end); err != nil {
			return err
		}
		e.groupRows += end - at
		if e.groupRows == maxRowGroupRows || e.pq.RowGroupTotalBytesWritten() >= rowGroupBytes {
			e.pq.NewBufferedRowGroup()
			e.groupRows = 0
		}
		at = end
	}
	return nil
}

// writePart appends rows start..end-1 to the row group.
func (e *parquetEncoder) writePart(rec arrow.Record, start, end int64) error {
	columns := make([]arrow.Array, rec.NumCols())
	for i, c := range rec.Columns() {
		part := array.NewSlice(c, start, end)
		defer part.Release()
		columns[i] = startLists(part)
		defer columns[i].Release()
	}
	rec = array.NewRecord(e.schema, columns, end-start)
	defer rec.Release()
	return e.pq.WriteBuffered(rec)
}

// startLists returns a column of fixed-size lists that starts at the start of its buffers: for a
// slice, the library would write the elements of the first lists again. Other columns are returned
// unchanged. The caller releases the column.
func startLists(column arrow.Array) arrow.Array {
	lists, ok := column.(*array.FixedSizeList)
	if !ok || lists.Data().Offset() == 0 || lists.NullN() > 0 { // nulls are refused anyway
		column.Retain()
		return column
	}
	width := int64(lists.DataType().(*arrow.FixedSizeListType).Len())
	start := int64(lists.Data().Offset()) * width
	values := array.NewSlice(lists.ListValues(), start, start+int64(lists.Len())*width)
	defer values.Release()
	data := array.NewData(lists.DataType(), lists.Len(), []*memory.Buffer{nil}, []arrow.ArrayData{values.Data()}, 0, 0)
	defer data.Release()
	return array.NewFixedSizeListData(data)
}

func (e *parquetEncoder) close() (err error) {
	defer guardWrite(&err)
	if err := e.pq.Close(); err != nil {
		return err
	}
	return e.out.Flush()
}

// guardWrite turns a panic of the Parquet library over an unsupported type or value into an error.
func guardWrite(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: the Parquet writer: %v", arrowio.ErrUnsupported, p)
	}
}
