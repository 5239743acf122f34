package encoder

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// ErrSchema marks a record whose columns do not fit: one is missing, is duplicated, or has changed
// its kind.
var ErrSchema = errors.New("wrong schema")

// ReasonSchema is the reason word of ErrSchema in dead letters.
const ReasonSchema = "wrong_schema"

// maxListed bounds how many faults or column names an error lists.
const maxListed = 20

// kindAny is the kind of a column with Arrow's null type, which fits every kind.
const kindAny Kind = ""

// columnType describes how the encoder reads an Arrow type.
type columnType struct {
	kind Kind
	// width is the length of a vector, otherwise 1.
	width int
	// text and numbers are set if a column of strings, or of numbers or booleans, may stand for it.
	text, numbers bool
}

// typeOf returns how values of an Arrow type are read, and false for a type that cannot be read.
func typeOf(t arrow.DataType) (columnType, bool) {
	switch t := t.(type) {
	case *arrow.NullType:
		return columnType{kind: kindAny, width: 1}, true
	case *arrow.BooleanType:
		return columnType{kind: Bool, width: 1}, true
	case *arrow.StringType, *arrow.LargeStringType:
		return columnType{kind: Category, width: 1}, true
	case *arrow.DictionaryType:
		id := t.ValueType.ID()
		return columnType{kind: Category, width: 1}, id == arrow.STRING || id == arrow.LARGE_STRING
	case *arrow.FixedSizeListType:
		return columnType{kind: Vector, width: int(t.Len())}, isNumber(t.Elem()) && t.Len() > 0
	case *arrow.Date32Type, *arrow.Date64Type, *arrow.TimestampType:
		return columnType{kind: Time, width: 1}, true
	case *arrow.Time32Type, *arrow.Time64Type:
		return columnType{kind: Clock, width: 1}, true
	case *arrow.DurationType, *arrow.Decimal128Type, *arrow.Decimal256Type:
		return columnType{kind: Numeric, width: 1}, true
	default:
		return columnType{kind: Numeric, width: 1}, isNumber(t)
	}
}

// TypeName names how an encoder reads an Arrow type: "null" for the null type, empty for a type
// that it cannot read. Columns whose types have the same name may stand for each other.
func TypeName(t arrow.DataType) string {
	read, ok := typeOf(t)
	switch {
	case !ok:
		return ""
	case read.kind == kindAny:
		return "null"
	default:
		return read.String()
	}
}

// TextField is the metadata of a field that was read from a text format, where numbers, booleans
// and strings are easily confused. Such a field may stand for a column of any kind except a vector:
// its values are read as the text that they were, and the row of a text that is no value of the
// column's kind is rejected.
const TextField = "eerf.text"

// CommaField is the metadata of a field of strings in which doubtful commas, as in 1,234, are
// decimal ones: in files whose delimiter is a semicolon.
const CommaField = "eerf.comma"

// standsFor reports whether a field read as got may stand for a column of another kind: strings for
// times and columns that were text, numbers for times that are numbers, and in a text format
// anything but vectors for anything else.
func (want columnType) standsFor(got Kind, field arrow.Field) bool {
	if want.kind == Vector || got == Vector || isTime(got) {
		return false
	}
	return got == Category && (want.text || isTime(want.kind)) || got != Category && want.numbers ||
		field.Metadata.FindKey(TextField) >= 0
}

// columnType is the type that a record must have for the column.
func (c *Column) columnType() columnType {
	return columnType{kind: c.Kind, width: c.Width, text: c.Text, numbers: c.Numbers || c.Counts()}
}

// isNumber reports whether a type is an integer or floating type.
func isNumber(t arrow.DataType) bool {
	return arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID())
}

// isNumeric reports whether a column of the kind holds numbers or vectors of numbers.
func isNumeric(k Kind) bool { return k == Numeric || k == Vector }

// fits reports whether a column of type t can be used as want.
func (want columnType) fits(t columnType) bool {
	if t.kind == kindAny || want.kind == kindAny {
		return true
	}
	return t.kind == want.kind && (t.kind != Vector || t.width == want.width)
}

// String returns the type's name in an error.
func (want columnType) String() string {
	if want.kind == Vector {
		return fmt.Sprintf("vector of %d", want.width)
	}
	return string(want.kind)
}

// find returns the index of the named column and whether it can be read as want. A missing column
// has index -1 and is not a fault.
func find(schema *arrow.Schema, name string, want columnType) (int, string) {
	at := schema.FieldIndices(name)
	if len(at) == 0 {
		return -1, ""
	}
	if len(at) > 1 {
		return -1, fmt.Sprintf("column %q occurs %d times", name, len(at))
	}
	field := schema.Field(at[0])
	got, ok := typeOf(field.Type)
	switch {
	case !ok && want.kind == kindAny:
		return -1, fmt.Sprintf("column %q is %s, which is not read", name, field.Type)
	case !ok || !want.fits(got) && !want.standsFor(got.kind, field):
		return -1, fmt.Sprintf("column %q is %s, want %s", name, field.Type, want)
	}
	return at[0], ""
}

// findAll finds the columns of several names, all of which must exist.
func findAll(dst []int, schema *arrow.Schema, columns int, at func(i int) (string, columnType)) ([]int, []string) {
	var faults []string
	dst = dst[:0]
	for i := range columns {
		name, want := at(i)
		index, fault := find(schema, name, want)
		if index < 0 && fault == "" {
			fault = fmt.Sprintf("column %q is missing", name)
		}
		if fault != "" {
			faults = append(faults, fault)
		}
		dst = append(dst, index)
	}
	return dst, faults
}

// findLabel finds label columns. A record with none or only some of them has no labels: the result
// is empty, and that is not a fault.
func findLabel(dst []int, schema *arrow.Schema, names []string, want columnType) ([]int, []string) {
	var faults []string
	dst = dst[:0]
	missing := false
	for _, name := range names {
		index, fault := find(schema, name, want)
		if at := schema.FieldIndices(name); len(at) == 1 {
			if why := labelTypeFault(schema.Field(at[0]).Type); why != "" {
				index, fault = -1, fmt.Sprintf("column %q %s", name, why)
			}
		}
		if fault != "" {
			faults = append(faults, "label "+fault)
		}
		missing = missing || index < 0
		dst = append(dst, index)
	}
	if missing {
		dst = dst[:0]
	}
	return dst, faults
}

// schemaError returns ErrSchema with its faults, or nil when there are none.
func schemaError(faults []string) error {
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrSchema, listed(faults, "; "))
}

// listed joins names or faults, shortened to a readable number of them.
func listed(items []string, separator string) string {
	if len(items) > maxListed {
		return fmt.Sprintf("%s%sand %d more", strings.Join(items[:maxListed], separator), separator, len(items)-maxListed)
	}
	return strings.Join(items, separator)
}

// columnNames lists the columns of a schema for an error.
func columnNames(schema *arrow.Schema) string {
	names := make([]string, schema.NumFields())
	for i := range names {
		names[i] = schema.Field(i).Name
	}
	if len(names) == 0 {
		return "none"
	}
	return listed(names, ", ")
}

// Check returns nil if records with that schema can be encoded. The error wraps [ErrSchema] and
// lists each feature column that is missing or duplicated, and each feature or label column of
// another kind. Label columns may be missing: such rows are unlabelled.
func (e *Encoder) Check(schema *arrow.Schema) error {
	_, _, err := e.resolve(schema, nil, nil)
	return err
}

// Faults lists what [Encoder.Check] reports.
func (e *Encoder) Faults(schema *arrow.Schema) []string {
	_, _, faults := e.find(schema, nil, nil)
	return faults
}

// resolve finds the feature and label columns in a schema, reusing the given lists.
func (e *Encoder) resolve(schema *arrow.Schema, features, label []int) ([]int, []int, error) {
	features, label, faults := e.find(schema, features, label)
	return features, label, schemaError(faults)
}

// find is resolve with separate faults.
func (e *Encoder) find(schema *arrow.Schema, features, label []int) ([]int, []int, []string) {
	features, faults := findAll(features, schema, len(e.Columns), func(i int) (string, columnType) {
		c := &e.Columns[i]
		return c.Name, c.columnType()
	})
	label = label[:0]
	if e.Label != nil {
		var more []string
		label, more = findLabel(label, schema, e.Label.Columns, columnType{kind: e.Label.Kind, width: 1, text: e.Label.Text})
		faults = append(faults, more...)
	}
	return features, label, faults
}
