package formats

import (
	"fmt"
	"regexp"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
)

// Writer turns records of one schema into messages of a format.
type Writer struct {
	format   Format
	schema   *arrow.Schema
	encoding *encoding
	id       int // of the schema, if framed
	framed   bool
}

// encoding is how a format writes the rows of one schema.
type encoding struct {
	schema string // text of the schema that readers of the messages need; "" = none
	// row appends one row, as a message that holds no more; nil if all is given.
	row func(dst []byte, rec arrow.Record, row int) ([]byte, error)
	// all appends all rows as one message.
	all func(dst []byte, rec arrow.Record) ([]byte, error)
}

// columnWriter appends the value of a row of a column.
type columnWriter func(dst []byte, column arrow.Array, row int) ([]byte, error)

var arrowFormat = format{
	name: Arrow, begins: arrowBegins,
	writer: func(schema *arrow.Schema) (*encoding, error) {
		return &encoding{all: func(_ []byte, rec arrow.Record) ([]byte, error) { return arrowio.EncodeStream(schema, rec) }}, nil
	},
}

// NewWriter returns a Writer for records of a schema. It refuses a schema with a column that the format
// cannot represent.
func NewWriter(f Format, schema *arrow.Schema) (*Writer, error) {
	known := lookup(f)
	if known == nil {
		return nil, fmt.Errorf("format %q is not one of %s", f, Join(Written()))
	}
	made, err := known.writer(schema)
	if err != nil {
		return nil, err
	}
	return &Writer{format: f, schema: schema, encoding: made}, nil
}

// Schema is the text of the messages' schema; empty if readers need none.
func (w *Writer) Schema() string { return w.encoding.schema }

// Frame makes each message name its schema by the ID that a registry gave it.
func (w *Writer) Frame(id int) { w.id, w.framed = id, true }

// Messages encodes the rows of a record: as one message, or as one per row if the format requires that.
func (w *Writer) Messages(rec arrow.Record) ([][]byte, error) {
	if !rec.Schema().Equal(w.schema) {
		return nil, fmt.Errorf("the rows have other columns than the first ones: %v", rec.Schema())
	}
	if w.encoding.all != nil {
		message, err := w.encoding.all(w.begin(), rec)
		return [][]byte{message}, err
	}
	messages := make([][]byte, rec.NumRows())
	for row := range messages {
		var err error
		if messages[row], err = w.encoding.row(w.begin(), rec, row); err != nil {
			return nil, fmt.Errorf("row %d: %w", row, err)
		}
	}
	return messages, nil
}

// begin starts a message.
func (w *Writer) begin() []byte {
	if !w.framed {
		return nil
	}
	return appendFrame(nil, w.id)
}

// rowOf appends the values of a row, one after another, as Avro and Protobuf store them.
func rowOf(columns []columnWriter) func(dst []byte, rec arrow.Record, row int) ([]byte, error) {
	return func(dst []byte, rec arrow.Record, row int) ([]byte, error) {
		var err error
		for i, write := range columns {
			if dst, err = write(dst, rec.Column(i), row); err != nil {
				return nil, fmt.Errorf("column %s: %w", arrowio.Quote(rec.ColumnName(i)), err)
			}
		}
		return dst, nil
	}
}

// identifier matches what Avro and Protobuf accept as a name.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func checkName(name string, f Format) error {
	if !identifier.MatchString(name) {
		return fmt.Errorf("column %s: %s names consist of letters, digits and _", arrowio.Quote(name), f)
	}
	return nil
}

func cannotWrite(field arrow.Field, f Format) error {
	return fmt.Errorf("column %s: %s cannot hold %s", arrowio.Quote(field.Name), f, field.Type)
}

// wholeOf reads integers of any width; false for other arrays.
func wholeOf(a arrow.Array) (func(row int) int64, bool) {
	switch a := a.(type) {
	case *array.Int8:
		return func(i int) int64 { return int64(a.Value(i)) }, true
	case *array.Int16:
		return func(i int) int64 { return int64(a.Value(i)) }, true
	case *array.Int32:
		return func(i int) int64 { return int64(a.Value(i)) }, true
	case *array.Int64:
		return a.Value, true
	case *array.Uint8:
		return func(i int) int64 { return int64(a.Value(i)) }, true
	case *array.Uint16:
		return func(i int) int64 { return int64(a.Value(i)) }, true
	case *array.Uint32:
		return func(i int) int64 { return int64(a.Value(i)) }, true
	case *array.Date32:
		return func(i int) int64 { return int64(a.Value(i)) }, true
	case *array.Time32:
		return func(i int) int64 { return int64(a.Value(i)) }, true
	case *array.Time64:
		return func(i int) int64 { return int64(a.Value(i)) }, true
	case *array.Timestamp:
		return func(i int) int64 { return int64(a.Value(i)) }, true
	}
	return nil, false
}

// floatAt reads a floating-point number.
func floatAt(a arrow.Array, row int) (float64, bool) {
	switch a := a.(type) {
	case *array.Float16:
		return float64(a.Value(row).Float32()), true
	case *array.Float32:
		return float64(a.Value(row)), true
	case *array.Float64:
		return a.Value(row), true
	}
	return 0, false
}

// textAt reads a string, also from a dictionary.
func textAt(a arrow.Array, row int) (string, bool) {
	switch a := a.(type) {
	case *array.String:
		return a.Value(row), true
	case *array.LargeString:
		return a.Value(row), true
	case *array.Dictionary:
		return textAt(a.Dictionary(), a.GetValueIndex(row))
	}
	return "", false
}

// isNull reports whether a value is null, including by its entry in a dictionary.
func isNull(a arrow.Array, row int) bool {
	if a.IsNull(row) {
		return true
	}
	d, ok := a.(*array.Dictionary)
	return ok && d.Dictionary().IsNull(d.GetValueIndex(row))
}

// listAt returns the values of a list array and the bounds of one row in them.
func listAt(a arrow.Array, row int) (values arrow.Array, from, to int, ok bool) {
	list, ok := a.(*array.FixedSizeList)
	if !ok {
		return nil, 0, 0, false
	}
	first, end := list.ValueOffsets(row)
	return list.ListValues(), int(first), int(end), true
}

// isText reports whether values of a type are strings.
func isText(t arrow.DataType) bool {
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING
}
