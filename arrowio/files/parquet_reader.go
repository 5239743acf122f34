package files

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// parquetMagic starts and ends a Parquet file.
var parquetMagic = []byte("PAR1")

// parquetReader reads records from a Parquet file, row group by row group, and page by page in each
// column. A record does not cross row groups.
//
// The columns are opened one by one on the caller's goroutine. The library's own record reader
// opens them on goroutines, where the panics that damaged files cause cannot be recovered. It does
// the same for the columns of a struct, which are therefore left out.
type parquetReader struct {
	src     *source
	file    *pqarrow.FileReader
	fields  []int // the fields of the file that are read
	leaves  map[int]bool
	types   *arrow.Schema
	omitted []LeftOut
	group   int // the next row group
	columns []parquetColumn
	mem     memory.Allocator
	batch   int64
	rows    int64 // claimed by the footer
	read    atomic.Int64
}

// bufferShare is the divisor for the process's memory that a buffer may take: a growing one exists
// twice, and values are copied from it. A long text in a dictionary takes only some bits for each
// of its rows.
const bufferShare = 4

func openParquet(src *source, o Options) (rows rowReader, err error) {
	defer guard(&err)
	content, err := src.content()
	if err != nil {
		return nil, err
	}
	head, _ := content.Peek(len(parquetMagic))
	switch {
	case src.gzipped:
		return nil, fmt.Errorf("%w: a Parquet file inside gzip: decompress it first", arrowio.ErrUnsupported)
	case !src.regular:
		return nil, fmt.Errorf("%w: Parquet is read from plain files only", arrowio.ErrUnsupported)
	case src.size == 0:
		return nil, ErrEmpty
	case bytes.Equal(head, []byte("PARE")):
		return nil, fmt.Errorf("%w: an encrypted Parquet file", arrowio.ErrUnsupported)
	case !bytes.Equal(head, parquetMagic):
		return nil, fmt.Errorf("%w: it does not begin like a Parquet file", arrowio.ErrCorrupt)
	}
	r := &parquetReader{src: src, mem: src.bounded(o.Allocator, bufferShare), batch: int64(o.BatchRows)}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, r.chooseFields()
}

// open reads the file's metadata.
func (r *parquetReader) open() error {
	props := parquet.NewReaderProperties(r.mem)
	props.BufferedStreamEnabled = true // otherwise a whole column chunk is held, of the length that the file claims
	pf, err := file.NewParquetReader(r.src.file, file.WithReadProps(props))
	if err != nil {
		return corrupt(err)
	}
	for i := range pf.NumRowGroups() {
		if err := checkRowGroup(pf.MetaData().RowGroup(i)); err != nil {
			return err
		}
	}
	if err := checkArrowSchema(pf.MetaData().KeyValueMetadata(), r.mem); err != nil {
		return err
	}
	r.rows = pf.NumRows()
	if r.file, err = pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: r.batch}, r.mem); err != nil {
		return corrupt(err)
	}
	return nil
}

// checkArrowSchema checks the Arrow schema in a file's metadata, which the library would trust.
func checkArrowSchema(meta metadata.KeyValueMetadata, mem memory.Allocator) error {
	text := meta.FindValue("ARROW:schema")
	if text == nil {
		return nil
	}
	stream, err := base64.StdEncoding.DecodeString(*text)
	if err != nil {
		return corrupt(fmt.Errorf("the Arrow schema: %w", err))
	}
	one := messages{from: bytes.NewReader(stream), mem: mem}
	defer one.Release()
	if _, err := one.Message(); err != nil {
		return corrupt(fmt.Errorf("the Arrow schema: %w", err))
	}
	return nil
}

// chooseFields selects every field that can be read safely.
func (r *parquetReader) chooseFields() error {
	r.leaves = make(map[int]bool)
	for i := range r.file.ParquetReader().MetaData().Schema.NumColumns() {
		r.leaves[i] = true
	}
	var fields []arrow.Field
	for i := range r.file.Manifest.Fields {
		field := *r.file.Manifest.Fields[i].Field
		if hasStruct(field.Type) {
			r.omitted = append(r.omitted, LeftOut{field.Name, field.Type.String()})
			continue
		}
		if t := r.int96Type(&r.file.Manifest.Fields[i]); t != nil {
			field.Type = t
		}
		r.fields = append(r.fields, i)
		fields = append(fields, field)
	}
	whole, err := r.file.Schema()
	if err != nil {
		return corrupt(err)
	}
	meta := whole.Metadata()
	r.types = arrow.NewSchema(fields, &meta)
	if len(fields) == 0 {
		return fmt.Errorf("%w: no columns", arrowio.ErrUnsupported)
	}
	return nil
}

// openGroup opens the columns of the next row group; io.EOF after the last.
func (r *parquetReader) openGroup() error {
	r.closeGroup()
	meta := r.file.ParquetReader().MetaData()
	if r.group == len(meta.RowGroups) {
		return r.end()
	}
	for i, field := range r.fields {
		column, err := r.openColumn(field)
		if err != nil {
			return r.columnError(i, err)
		}
		r.columns = append(r.columns, column)
	}
	r.group++
	return nil
}

// openColumn opens a field in the next row group.
func (r *parquetReader) openColumn(field int) (parquetColumn, error) {
	if t := r.int96Type(&r.file.Manifest.Fields[field]); t != nil {
		return r.openInt96(r.file.Manifest.Fields[field].ColIndex, t)
	}
	column, err := r.file.GetFieldReader(context.Background(), field, r.leaves, []int{r.group})
	if err != nil {
		return nil, err
	}
	return arrowColumn{column, r.mem}, nil
}

func (r *parquetReader) columnError(column int, err error) error {
	return &Error{Column: r.types.Field(column).Name, Err: corrupt(err)}
}

// checkRowGroup names the compression or encoding of a row group that the library lacks: the
// library would only say that there are too few values.
func checkRowGroup(group *metadata.RowGroupMetaData) error {
	for i := range group.NumColumns() {
		chunk, err := group.ColumnChunk(i)
		if err != nil {
			return corrupt(err)
		}
		name := chunk.PathInSchema().String()
		if chunk.CryptoMetadata() != nil || chunk.FilePath() != "" {
			return &Error{
				Column: name,
				Err:    fmt.Errorf("%w: a column that is encrypted or in another file", arrowio.ErrUnsupported),
			}
		}
		if _, err := compress.GetCodec(chunk.Compression()); err != nil {
			return &Error{
				Column: name,
				Err: fmt.Errorf(
					"%w: %s compression; write the file with snappy, zstd or gzip",
					arrowio.ErrUnsupported, chunk.Compression(),
				),
			}
		}
		for _, encoding := range chunk.Encodings() {
			if encoding > parquet.Encodings.RLEDict { // BYTE_STREAM_SPLIT and newer
				return &Error{
					Column: name,
					Err: fmt.Errorf(
						"%w: %s encoding; write the file with plain or dictionary encoding",
						arrowio.ErrUnsupported, encoding,
					),
				}
			}
		}
	}
	return nil
}

// hasStruct reports whether t is a struct or a map, or has one inside.
func hasStruct(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.StructType, *arrow.MapType:
		return true
	case arrow.ListLikeType:
		return hasStruct(t.Elem())
	}
	return false
}

func (r *parquetReader) schema() *arrow.Schema { return r.types }

func (r *parquetReader) leftOut() []LeftOut { return r.omitted }

// progress counts rows, because the columns are read from all over the file.
func (r *parquetReader) progress() (readBytes, totalBytes int64) {
	size := r.src.size
	if r.rows <= 0 {
		return size, size
	}
	return int64(float64(size) * min(1, float64(r.read.Load())/float64(r.rows))), size
}

func (r *parquetReader) release() { r.closeGroup() }

// closeGroup frees the columns' buffers. Its guard is for columns left half-built by a panic; that
// panic has been reported.
func (r *parquetReader) closeGroup() {
	for _, column := range r.columns {
		func() {
			var ignored error
			defer guard(&ignored)
			column.release()
		}()
	}
	r.columns = nil
}

func (r *parquetReader) next() (rec arrow.Record, err error) {
	defer guard(&err)
	for {
		if r.columns == nil {
			if err := r.openGroup(); err != nil {
				return nil, err
			}
		}
		rec, err := r.nextOfGroup()
		if rec != nil || err != nil {
			return rec, err
		}
		r.closeGroup()
	}
}

// nextOfGroup returns the next record of the open row group, nil at its end.
func (r *parquetReader) nextOfGroup() (arrow.Record, error) {
	columns := make([]arrow.Array, 0, len(r.columns))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, column := range r.columns {
		values, err := column.next(r.batch)
		if err != nil {
			return nil, r.columnError(i, err)
		}
		columns = append(columns, values)
		if n := columns[0].Len(); values.Len() != n {
			return nil, r.columnError(i, fmt.Errorf("%d values where another column has %d", values.Len(), n))
		}
	}
	n := int64(columns[0].Len())
	if n == 0 {
		return nil, nil
	}
	r.read.Add(n)
	rec := array.NewRecord(r.types, columns, n)
	if err := validate(rec); err != nil {
		rec.Release()
		return nil, err
	}
	return rec, nil
}

// end is io.EOF once every row has been read.
func (r *parquetReader) end() error {
	if read := r.read.Load(); read != r.rows {
		return fmt.Errorf("%w: it holds %d rows where its footer claims %d", arrowio.ErrCorrupt, read, r.rows)
	}
	return io.EOF
}
