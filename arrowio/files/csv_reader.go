package files

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// csvReader makes records of the rows of a CSV file whose types are known.
type csvReader struct {
	lines   *csvLines
	nulls   nullSet
	types   *arrow.Schema
	builder *array.RecordBuilder
	append  []appender
	first   []string // a row that opening has already taken from lines
	rows    int      // the most rows of a record
}

// openCSV finds names and types, and stands before the first row.
func openCSV(src *source, o Options) (rowReader, error) {
	if o.Delimiter == 0 {
		o.Delimiter = defaultDelimiter(src.path)
	}
	lines, names, first, err := startCSV(src, o)
	if err != nil {
		return nil, err
	}
	types, err := knownTypes(names, o.Schema)
	if err != nil {
		return nil, err
	}
	if !complete(types) {
		if err := src.plain(); err != nil {
			return nil, err
		}
		if types, err = scanCSV(src, o, types); err != nil {
			return nil, err
		}
		if lines, _, first, err = startCSV(src, o); err != nil {
			return nil, err
		}
	}
	return newCSVReader(lines, names, types, first, o), nil
}

// defaultDelimiter is a tab for .tsv files and a comma for all others.
func defaultDelimiter(path string) rune {
	if extension(path) == ".tsv" {
		return '\t'
	}
	return ','
}

// startCSV reads the file up to its first row. Without a header that row gives
// the number of columns, so it is returned as well.
func startCSV(src *source, o Options) (lines *csvLines, names, first []string, err error) {
	text, err := src.content()
	if err != nil {
		return nil, nil, nil, err
	}
	if lines, err = newCSVLines(text, o); err != nil {
		return nil, nil, nil, err
	}
	fields, err := lines.next()
	if errors.Is(err, io.EOF) {
		return nil, nil, nil, ErrEmpty
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if o.NoHeader {
		return lines, numberedNames(len(fields)), append([]string(nil), fields...), nil
	}
	if names, err = columnNames(fields); err != nil {
		return nil, nil, nil, &Error{Line: lines.line, Err: err}
	}
	return lines, names, nil, nil
}

// scanCSV reads the whole file from its start for the types that are not known,
// and leaves it to be read again.
func scanCSV(src *source, o Options, known []arrow.DataType) ([]arrow.DataType, error) {
	if err := src.rewind(); err != nil {
		return nil, err
	}
	text, err := src.content()
	if err != nil {
		return nil, err
	}
	lines, err := newCSVLines(text, o)
	if err != nil {
		return nil, err
	}
	if !o.NoHeader {
		if _, err := lines.next(); err != nil {
			return nil, err
		}
	}
	types, err := inferTypes(lines, known, newNullSet(o.NullValues), src.ticker(o.Scan))
	if err != nil {
		return nil, err
	}
	return types, src.rewind()
}

// knownTypes returns the type that schema forces on each named column, nil for
// the columns that it does not name.
func knownTypes(names []string, schema *arrow.Schema) ([]arrow.DataType, error) {
	types := make([]arrow.DataType, len(names))
	if schema == nil {
		return types, nil
	}
	for i, name := range names {
		at := schema.FieldIndices(name)
		if len(at) == 0 {
			continue
		}
		t, err := textType(schema.Field(at[0]).Type)
		if err != nil {
			return nil, &Error{Column: name, Err: err}
		}
		types[i] = t
	}
	return types, nil
}

func complete(types []arrow.DataType) bool {
	for _, t := range types {
		if t == nil {
			return false
		}
	}
	return true
}

func newCSVReader(lines *csvLines, names []string, types []arrow.DataType, first []string, o Options) *csvReader {
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: types[i], Nullable: true}
	}
	r := &csvReader{
		lines: lines,
		nulls: newNullSet(o.NullValues),
		types: arrow.NewSchema(fields, nil),
		first: first,
		rows:  o.rowsPerRecord(8 * len(names)),
	}
	r.builder = array.NewRecordBuilder(o.Allocator, r.types)
	for _, b := range r.builder.Fields() {
		r.append = append(r.append, newAppender(b))
	}
	return r
}

func (r *csvReader) schema() *arrow.Schema { return r.types }

func (r *csvReader) release() { r.builder.Release() }

func (r *csvReader) next() (arrow.Record, error) {
	r.builder.Reserve(r.rows)
	rows, bytes := 0, 0
	for rows < r.rows && bytes < targetRecordBytes {
		fields, err := r.row()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for i, s := range fields {
			bytes += len(s)
			if err := r.add(i, s); err != nil {
				return nil, err
			}
		}
		rows++
	}
	if rows == 0 {
		return nil, io.EOF
	}
	return r.builder.NewRecord(), nil
}

// row returns the next row's fields.
func (r *csvReader) row() ([]string, error) {
	if r.first != nil {
		fields := r.first
		r.first = nil
		return fields, nil
	}
	return r.lines.next()
}

// add appends one field to its column.
func (r *csvReader) add(column int, s string) error {
	if r.nulls.has(s) {
		r.builder.Field(column).AppendNull()
		return nil
	}
	if err := r.append[column](s); err != nil {
		field := r.types.Field(column)
		return &Error{Line: r.lines.line, Column: field.Name, Err: fmt.Errorf("%w (%s)", err, field.Type)}
	}
	return nil
}
