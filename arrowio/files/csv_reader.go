package files

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// csvReader makes records from the rows of a CSV file whose types are known.
type csvReader struct {
	lines   *csvLines
	types   *arrow.Schema
	builder *array.RecordBuilder
	columns []csvField
	first   []string // a row that opening has already taken from lines
	rows    int      // maximum number of rows in a record
	bare    bool     // quotes may be within fields
}

// csvField is a column being read.
type csvField struct {
	append appender
	bad    BadFields
	copied bool // the fields are text, and none is null
	nulls  nullSet
	words  map[string]int64 // of an inferred column: the rows of each word that is null
	texts  int64            // of an inferred column: the fields that are not null
}

// openCSV finds names and types, and stops before the first row.
func openCSV(src *source, o Options) (rowReader, error) {
	if o.Delimiter == 0 {
		o.Delimiter, o.delimiterIsDefault = defaultDelimiter(src.path), true
	}
	lines, names, first, err := startCSV(src, o)
	if err != nil {
		return nil, err
	}
	types, err := knownTypes(names, o.Schema)
	if err != nil {
		return nil, err
	}
	columns := make([]csvField, len(types))
	nulls := newNullSet(o.NullValues)
	unknown := false
	for i, name := range names {
		columns[i].nulls = nulls.without(o.Words[name])
		columns[i].copied = slices.Contains(o.Verbatim, name)
		if columns[i].copied {
			types[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
		}
		unknown = unknown || types[i].Type == nil
	}
	if unknown {
		if err := src.plain(); err != nil {
			return nil, err
		}
		err := scanCSV(src, o, types, columns)
		if errors.Is(err, csv.ErrBareQuote) {
			o.BareQuotes = true
			err = scanCSV(src, o, types, columns)
		}
		if err != nil {
			return nil, err
		}
		if lines, _, first, err = startCSV(src, o); err != nil {
			return nil, err
		}
	}
	return newCSVReader(lines, types, columns, first, o), nil
}

// textMarks mark a field as text, in which semicolons between fields make commas decimal.
func textMarks(delimiter rune) arrow.Metadata {
	if delimiter == ';' {
		return arrow.NewMetadata([]string{encoder.TextField, encoder.CommaField}, []string{encoder.TextFile, ""})
	}
	return arrow.NewMetadata([]string{encoder.TextField}, []string{encoder.TextFile})
}

// defaultDelimiter is a tab for .tsv files and a comma for all others.
func defaultDelimiter(path string) rune {
	if extension(path) == ".tsv" {
		return '\t'
	}
	return ','
}

// startCSV reads the file up to its first row. Without a header, that row gives the number of
// columns, so it is returned as well.
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

// scanCSV reads the whole file from its start to infer the unknown types, and rewinds the file.
func scanCSV(src *source, o Options, types []arrow.Field, columns []csvField) error {
	if err := src.rewind(); err != nil {
		return err
	}
	text, err := src.content()
	if err != nil {
		return err
	}
	lines, err := newCSVLines(text, o)
	if err != nil {
		return err
	}
	if !o.NoHeader {
		if _, err := lines.next(); err != nil {
			return err
		}
	}
	if err := inferTypes(lines, types, columns, src.ticker(o.Scan)); err != nil {
		return err
	}
	return src.rewind()
}

// knownTypes returns the columns of a file with the type that schema forces on each, nil for the
// columns that it does not name.
func knownTypes(names []string, schema *arrow.Schema) ([]arrow.Field, error) {
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Nullable: true}
		if schema == nil {
			continue
		}
		at := schema.FieldIndices(name)
		if len(at) == 0 {
			continue
		}
		forced := schema.Field(at[0])
		t, err := textType(forced.Type)
		if err != nil {
			return nil, &Error{Column: name, Err: err}
		}
		fields[i].Type, fields[i].Metadata = t, forced.Metadata
	}
	return fields, nil
}

func newCSVReader(lines *csvLines, fields []arrow.Field, columns []csvField, first []string, o Options) *csvReader {
	r := &csvReader{
		lines:   lines,
		types:   arrow.NewSchema(fields, nil),
		columns: columns,
		first:   first,
		rows:    o.rowsPerRecord(8 * len(fields)),
		bare:    o.BareQuotes,
	}
	lines.verbatim = make([]bool, len(columns))
	for i := range columns {
		lines.verbatim[i] = columns[i].copied
	}
	r.builder = array.NewRecordBuilder(o.Allocator, r.types)
	for i, b := range r.builder.Fields() {
		c := &r.columns[i]
		c.append = newAppender(b)
		c.bad.Column = fields[i].Name
		c.bad.Type = fields[i].Type
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
			if err := r.checkForced(); err != nil {
				return nil, err
			}
			break
		}
		if err != nil {
			return nil, err
		}
		for i, s := range fields {
			bytes += len(s)
			if err := r.add(rows, i, s); err != nil {
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

// add appends one field to its column, as null if it is not of the column's type, unless the column
// is text.
func (r *csvReader) add(row, column int, s string) error {
	if !r.columns[column].copied && r.columns[column].nulls.has(s) {
		r.builder.Field(column).AppendNull()
		return nil
	}
	c := &r.columns[column]
	err := c.append(s)
	if err != nil && isText(c.bad.Type) {
		return &Error{Line: r.lines.line, Column: c.bad.Column, Err: fmt.Errorf("%w (%s)", err, c.bad.Type)}
	}
	if b := r.builder.Field(column); err != nil && b.Len() == row { // the library may have appended one
		b.AppendNull()
	}
	c.count(s, r.lines.line, err != nil)
	return nil
}

// count counts a field.
func (c *csvField) count(s string, line int64, bad bool) {
	c.bad.Fields++
	if !bad {
		return
	}
	if c.bad.Bad == 0 {
		c.bad.Line, c.bad.Text = line, shortened(s)
	}
	c.bad.Bad++
}

// checkForced refuses given types that do not match the file, because most fields of a column would
// be null.
func (r *csvReader) checkForced() error {
	for i := range r.columns {
		if c := &r.columns[i]; 2*c.bad.Bad > c.bad.Fields {
			return &Error{Line: c.bad.Line, Column: c.bad.Column, Err: fmt.Errorf("%w (%s), as %d of the %d fields are not",
				notA(c.bad.Text, c.bad.Type), c.bad.Type, c.bad.Bad, c.bad.Fields)}
		}
	}
	return nil
}

func (r *csvReader) nullWords() (all []NullWord) {
	for i := range r.columns {
		c := &r.columns[i]
		if !isText(c.bad.Type) {
			continue
		}
		words := slices.SortedFunc(maps.Keys(c.words), func(a, b string) int {
			return cmp.Or(cmp.Compare(c.words[b], c.words[a]), cmp.Compare(a, b))
		})
		for _, word := range words {
			all = append(all, NullWord{Column: c.bad.Column, Word: word, Rows: c.words[word], Others: c.texts})
		}
	}
	return all
}

func (r *csvReader) bareQuotes() bool { return r.bare }

// badFields returns the columns with fields that are not of their types.
func (r *csvReader) badFields() []BadFields {
	var all []BadFields
	for i := range r.columns {
		if b := r.columns[i].bad; b.Bad > 0 {
			all = append(all, b)
		}
	}
	return all
}
