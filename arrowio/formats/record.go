package formats

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// record makes the table's record. wanted are the columns of an encoder, by name. Missing ones are
// added as nulls if the message has at least one of the features.
func (t *table) record(w *wanted, schemas *schemaCache) (arrow.Record, error) {
	if err := t.budget.Take(recordCost); err != nil {
		return nil, err
	}
	if w != nil && w.only {
		return t.chosen(w, schemas)
	}
	if t.bound == nil {
		if err := t.complete(w); err != nil {
			return nil, err
		}
	}
	m := maker{table: t}
	columns := make([]arrow.Array, 0, len(t.columns))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i := range t.columns {
		c := &t.columns[i]
		made, err := m.array(c, c.dataType(w.kind(c.name)))
		if err != nil {
			return nil, err
		}
		columns = append(columns, made)
	}
	names := func(i int) string { return t.columns[i].name }
	return array.NewRecord(schemas.schema(names, columns, t.bound == nil), columns, int64(t.rows)), nil
}

// chosen makes a record of the wanted columns only.
func (t *table) chosen(w *wanted, schemas *schemaCache) (arrow.Record, error) {
	m := maker{table: t}
	columns := make([]arrow.Array, 0, len(w.features))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for _, name := range w.features {
		c := &column{name: name}
		if at, ok := t.find(name); ok {
			c = &t.columns[at]
		}
		made, err := m.array(c, c.dataType(w.kind(name)))
		if err != nil {
			return nil, err
		}
		columns = append(columns, made)
	}
	return array.NewRecord(
		schemas.schema(func(i int) string { return w.features[i] }, columns, true),
		columns,
		int64(t.rows),
	), nil
}

// complete adds the wanted columns that are missing.
func (t *table) complete(w *wanted) error {
	if w == nil || !w.any(t) {
		return nil
	}
	for _, name := range w.features {
		if _, ok := t.find(name); !ok {
			if _, err := t.add(name, arrow.Null); err != nil {
				return err
			}
		}
	}
	return nil
}

// dataType returns the type of a column's array.
func (c *column) dataType(want wantedKind) arrow.DataType {
	if c.typ != nil {
		return c.typ
	}
	if found := c.wantedType(want); found != nil {
		return found
	}
	return c.commonType()
}

// wantedType returns the type that an encoder expects; nil means that the cells decide. A column
// without values has the null type.
func (c *column) wantedType(want wantedKind) arrow.DataType {
	if len(c.cells) == c.counts[cellNull] {
		return arrow.Null
	}
	switch want.kind {
	case encoder.Bool:
		return arrow.FixedWidthTypes.Boolean
	case encoder.Numeric:
		return c.numberType()
	case encoder.Category:
		return arrow.BinaryTypes.String
	case encoder.Vector:
		return listOf(want.width)
	case encoder.Time, encoder.Clock:
		return arrow.BinaryTypes.String // a number is never a time, even if all rows of the message have numbers
	}
	return nil
}

// numberType returns int64 if all numbers are whole, else float64.
func (c *column) numberType() arrow.DataType {
	if c.counts[cellWhole] > 0 && c.counts[cellFloat] == 0 {
		return arrow.PrimitiveTypes.Int64
	}
	return arrow.PrimitiveTypes.Float64
}

// commonType returns a type that holds all cells: strings if the cells have several kinds. The
// majority's type would lose values, depending on the other rows of the message. Only lists, which
// no other type can hold, yield to other kinds.
func (c *column) commonType() arrow.DataType {
	texts, bools, numbers := c.counts[cellText], c.counts[cellBool], c.counts[cellWhole]+c.counts[cellFloat]
	switch texts + bools + numbers {
	case 0:
		if c.counts[cellList] == 0 {
			return arrow.Null
		}
		return c.listType()
	case numbers:
		return c.numberType()
	case bools:
		return arrow.FixedWidthTypes.Boolean
	}
	return arrow.BinaryTypes.String
}

// listType returns the type for lists of one length, or the null type if lengths differ.
func (c *column) listType() arrow.DataType {
	width := -1
	for _, one := range c.cells {
		if one.kind != cellList {
			continue
		}
		_, n := one.span()
		if n == 0 || width >= 0 && n != width {
			return arrow.Null
		}
		width = n
	}
	return listOf(width)
}

func listOf(width int) arrow.DataType {
	return arrow.FixedSizeListOf(int32(width), arrow.PrimitiveTypes.Float64)
}

// schemaCache returns the same schema for records with the same columns, because readers compare
// schemas by pointer.
type schemaCache struct {
	last  *arrow.Schema
	text  bool
	large bool // too large to keep between messages
}

// textField marks columns of messages without types.
var textField = arrow.NewMetadata([]string{encoder.TextField}, []string{"json"})

// schema returns the schema of columns with these names. text marks messages without types.
func (s *schemaCache) schema(name func(i int) string, arrays []arrow.Array, text bool) *arrow.Schema {
	if s.last != nil && s.text == text && s.last.NumFields() == len(arrays) {
		same := true
		for i := range arrays {
			field := s.last.Field(i)
			same = same && field.Name == name(i) && sameType(field.Type, arrays[i].DataType())
		}
		if same {
			return s.last
		}
	}
	fields := make([]arrow.Field, len(arrays))
	for i := range arrays {
		fields[i] = arrow.Field{Name: name(i), Type: arrays[i].DataType(), Nullable: true}
		if text {
			fields[i].Metadata = textField
		}
	}
	s.text = text
	s.last = arrow.NewSchema(fields, nil)
	s.large = arrowio.Resting(s.last) == nil
	return s.last
}

func sameType(a, b arrow.DataType) bool {
	return a == b || a.ID() == b.ID() && arrow.TypeEqual(a, b)
}
