package formats

import (
	"math"
	"slices"
	"strconv"

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
		made, err := m.array(c, t.dataType(c, w.kind(c.name)))
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
		made, err := m.array(c, t.chosenType(c, w.kind(name)))
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
func (t *table) dataType(c *column, want wantedKind) arrow.DataType {
	if c.typ != nil {
		return c.typ
	}
	if want.kind == encoder.Numeric {
		t.narrow(c)
	}
	if found := c.wantedType(want); found != nil {
		return found
	}
	return t.commonType(c)
}

// narrow turns whole numbers beyond int64 into the floats that an encoder reads.
func (t *table) narrow(c *column) {
	if c.counts[cellWide] == 0 {
		return
	}
	for i, one := range c.cells {
		if one.kind == cellWide {
			at, n := one.span()
			v, _ := strconv.ParseFloat(string(t.text[at:at+n]), 64) // parsed before
			c.cells[i] = cell{cellFloat, math.Float64bits(v)}
		}
	}
	c.counts[cellFloat] += c.counts[cellWide]
	c.counts[cellWide] = 0
}

// chosenType is dataType for columns that are being learned: cells of another kind become null.
func (t *table) chosenType(c *column, want wantedKind) arrow.DataType {
	switch {
	case len(c.cells) == c.counts[cellNull]:
		return arrow.Null
	case want.kind == encoder.Bool:
		return arrow.FixedWidthTypes.Boolean
	case want.kind == encoder.Numeric:
		t.narrow(c)
		return c.numberType()
	}
	return t.dataType(c, want)
}

// wantedType returns the type that an encoder expects; nil means that the cells decide. A column
// without values has the null type.
func (c *column) wantedType(want wantedKind) arrow.DataType {
	if len(c.cells) == c.counts[cellNull] {
		return arrow.Null
	}
	switch want.kind {
	case encoder.Bool:
		if c.others(cellBool, cellBool) {
			return arrow.BinaryTypes.String
		}
		return arrow.FixedWidthTypes.Boolean
	case encoder.Numeric:
		if c.others(cellWhole, cellFloat) {
			return arrow.BinaryTypes.String
		}
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

// others reports whether some cells can only be kept as text in a column of two kinds of cells: an
// encoder parses them, or rejects their rows.
func (c *column) others(one, other cellKind) bool {
	all := c.counts[cellText] + c.counts[cellWide] + c.counts[cellBool] + c.counts[cellWhole] + c.counts[cellFloat]
	if one != other {
		all -= c.counts[other]
	}
	return all > c.counts[one]
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
func (t *table) commonType(c *column) arrow.DataType {
	texts, bools, numbers := c.counts[cellText], c.counts[cellBool], c.counts[cellWhole]+c.counts[cellFloat]
	if wide := c.counts[cellWide]; wide > 0 && texts+bools+c.counts[cellFloat] == 0 && t.unsigned(c) {
		return arrow.PrimitiveTypes.Uint64
	} else if wide > 0 {
		return arrow.BinaryTypes.String
	}
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

// unsigned reports whether all whole numbers of a column fit an uint64.
func (t *table) unsigned(c *column) bool {
	return !slices.ContainsFunc(c.cells, func(one cell) bool {
		_, ok := t.unsignedOf(one)
		return !ok && one.kind != cellNull
	})
}

func (t *table) unsignedOf(one cell) (v uint64, ok bool) {
	switch one.kind {
	case cellWhole:
		return one.bits, int64(one.bits) >= 0
	case cellWide:
		at, n := one.span()
		v, err := strconv.ParseUint(string(t.text[at:at+n]), 10, 64)
		return v, err == nil
	}
	return 0, false
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
