package files

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
)

// csvColumn is one column of the written file: a column of the records, or one
// element of its fixed-size lists.
type csvColumn struct {
	name    string
	index   int // column index in the record
	element int // of the list; -1 for plain columns
}

// csvColumnsOf maps the columns of a schema to CSV columns.
func csvColumnsOf(schema *arrow.Schema) ([]csvColumn, error) {
	var columns []csvColumn
	for i, field := range schema.Fields() {
		list, ok := field.Type.(*arrow.FixedSizeListType)
		if !ok {
			if !hasText(field.Type) {
				return nil, &Error{
					Column: field.Name,
					Err:    fmt.Errorf("%w: type %s cannot be written as CSV", arrowio.ErrUnsupported, field.Type),
				}
			}
			columns = append(columns, csvColumn{name: field.Name, index: i, element: -1})
			continue
		}
		if !hasText(list.Elem()) {
			return nil, &Error{
				Column: field.Name,
				Err:    fmt.Errorf("%w: type %s cannot be written as CSV", arrowio.ErrUnsupported, list),
			}
		}
		for k, name := range elementNames(field, int(list.Len())) {
			columns = append(columns, csvColumn{name: field.Name + "_" + name, index: i, element: k})
		}
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("%w: a CSV file without columns", arrowio.ErrUnsupported)
	}
	return columns, nil
}

// metadataElements is the metadata key, for a column of fixed-size lists, of a JSON array with the
// names of the elements.
const metadataElements = "eerf.elements"

// ElementNames returns metadata for a column of fixed-size lists that names their elements: a CSV
// file then has a column name_X for element X.
func ElementNames(names []string) arrow.Metadata {
	text, err := json.Marshal(names)
	if err != nil {
		panic(fmt.Sprintf("files: names do not marshal: %v", err))
	}
	return arrow.NewMetadata([]string{metadataElements}, []string{string(text)})
}

// elementNames are the names of the elements in a column's lists: their numbers, unless the
// metadata names them.
func elementNames(field arrow.Field, elements int) []string {
	var names []string
	if text, ok := field.Metadata.GetValue(metadataElements); ok && json.Unmarshal([]byte(text), &names) == nil &&
		len(names) == elements {
		return names
	}
	names = make([]string, elements)
	for k := range names {
		names[k] = strconv.Itoa(k)
	}
	return names
}

// hasText reports whether values of t can be written as text.
func hasText(t arrow.DataType) bool {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return hasText(d.ValueType)
	}
	switch t.ID() {
	case arrow.NULL, arrow.DECIMAL128, arrow.DECIMAL256, arrow.FLOAT16, arrow.DURATION:
		return true
	}
	_, err := textType(t)
	return err == nil
}

// csvEncoder writes a header and one line per row.
type csvEncoder struct {
	columns []csvColumn
	zip     *gzip.Writer // nil unless compressing
	out     *bufio.Writer
	csv     *csv.Writer
	row     []string
}

func createCSV(path string, schema *arrow.Schema) (func(io.Writer) (recordEncoder, error), error) {
	columns, err := csvColumnsOf(schema)
	return func(w io.Writer) (recordEncoder, error) {
		return newCSVEncoder(w, columns, defaultDelimiter(path), namedGzip(path))
	}, err
}

func newCSVEncoder(w io.Writer, columns []csvColumn, delimiter rune, gzipped bool) (recordEncoder, error) {
	e := &csvEncoder{columns: columns, row: make([]string, len(columns))}
	if gzipped {
		e.zip = gzip.NewWriter(w)
		w = e.zip
	}
	e.out = bufio.NewWriterSize(w, bufferBytes)
	e.csv = csv.NewWriter(e.out) // writes through e.out, which is large enough
	e.csv.Comma = delimiter
	for i, c := range columns {
		e.row[i] = c.name
	}
	return e, e.writeRow()
}

func (e *csvEncoder) write(rec arrow.Record) error {
	texts := make([]func(i int) string, len(e.columns))
	for i, c := range e.columns {
		texts[i] = textOf(rec.Column(c.index), c.element)
	}
	for row := range int(rec.NumRows()) {
		for i, text := range texts {
			e.row[i] = text(row)
		}
		if err := e.writeRow(); err != nil {
			return err
		}
	}
	return nil
}

// writeRow writes e.row. A row with one empty field would be an empty line, which readers skip; it
// is quoted.
func (e *csvEncoder) writeRow() error {
	if len(e.row) == 1 && e.row[0] == "" {
		_, err := e.out.WriteString("\"\"\n")
		return err
	}
	return e.csv.Write(e.row)
}

func (e *csvEncoder) close() error {
	e.csv.Flush()
	if err := e.csv.Error(); err != nil {
		return err
	}
	if e.zip != nil {
		return errors.Join(e.out.Flush(), e.zip.Close())
	}
	return e.out.Flush()
}

// textOf returns a function that writes value i of a column, or of one element of its lists; null
// is "". Numbers take the shortest form that reads back as the same number.
func textOf(column arrow.Array, element int) func(i int) string {
	lists, isList := column.(*array.FixedSizeList)
	if element < 0 || !isList {
		return func(i int) string {
			if column.IsNull(i) {
				return ""
			}
			return column.ValueStr(i)
		}
	}
	values := lists.ListValues()
	return func(i int) string {
		start, _ := lists.ValueOffsets(i)
		at := int(start) + element
		if lists.IsNull(i) || values.IsNull(at) {
			return ""
		}
		return values.ValueStr(at)
	}
}
