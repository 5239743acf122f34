package formats

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// Writer turns records of one schema into messages of a format.
type Writer struct {
	format  Format
	schema  *arrow.Schema
	text    string // of the schema that readers of the messages need
	id      int
	framed  bool
	columns []columnWriter
}

// columnWriter appends the value of a row of a column.
type columnWriter func(dst []byte, column arrow.Array, row int) ([]byte, error)

// NewWriter returns a Writer for records of a schema. It refuses a schema with a column that the format
// cannot represent.
func NewWriter(f Format, schema *arrow.Schema) (*Writer, error) {
	w := &Writer{format: f, schema: schema}
	var err error
	switch f {
	case JSON:
		err = w.prepareJSON()
	case Avro:
		err = w.prepareAvro()
	case Protobuf:
		err = w.prepareProto()
	default:
		return nil, fmt.Errorf("format %q is none that rows are written in", f)
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Schema is the text of the messages' schema; empty for JSON.
func (w *Writer) Schema() string { return w.text }

// Frame makes each message name its schema by the ID that a registry gave it.
func (w *Writer) Frame(id int) { w.id, w.framed = id, true }

// ErrNeedsRegistry says that nobody could read Protobuf messages without a registry.
var ErrNeedsRegistry = errors.New("protobuf needs a schema registry")

// Single reports whether a message holds one row only.
func (w *Writer) Single() bool { return w.framed && w.format != JSON || w.format == Protobuf }

// Messages encodes the rows of a record: as one message, or as one per row if the format requires that.
func (w *Writer) Messages(rec arrow.Record) ([][]byte, error) {
	if !rec.Schema().Equal(w.schema) {
		return nil, fmt.Errorf("rows of other columns than the first ones: %v", rec.Schema())
	}
	rows := int(rec.NumRows())
	if w.Single() {
		messages := make([][]byte, rows)
		for row := range rows {
			var err error
			if messages[row], err = w.single(rec, row); err != nil {
				return nil, fmt.Errorf("row %d: %w", row, err)
			}
		}
		return messages, nil
	}
	all := w.allJSON
	if w.format == Avro {
		all = w.container
	}
	message, err := all(rec)
	if err != nil {
		return nil, err
	}
	return [][]byte{message}, nil
}

// single encodes one row as a message.
func (w *Writer) single(rec arrow.Record, row int) ([]byte, error) {
	var dst []byte
	if w.framed {
		dst = appendFrame(dst, w.id)
		if w.format == Protobuf {
			dst = append(dst, 0) // index of the first message in the schema
		}
	}
	return w.row(dst, rec, row)
}

// row appends the values of a row, one after another, as Avro and Protobuf store them.
func (w *Writer) row(dst []byte, rec arrow.Record, row int) ([]byte, error) {
	var err error
	for i, write := range w.columns {
		if dst, err = write(dst, rec.Column(i), row); err != nil {
			return nil, fmt.Errorf("column %s: %w", quote(w.schema.Field(i).Name), err)
		}
	}
	return dst, nil
}

// identifier matches what Avro and Protobuf accept as a name.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func checkName(name string, f Format) error {
	if !identifier.MatchString(name) {
		return fmt.Errorf("column %s: a name in %s has letters, digits and _ alone", quote(name), f)
	}
	return nil
}

func cannotWrite(field arrow.Field, f Format) error {
	return fmt.Errorf("column %s: %s has nothing for %s", quote(field.Name), f, field.Type)
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
