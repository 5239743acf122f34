package calibrate

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/stages/events"
)

// Calibration keeps this many bytes of rows, divided evenly among the partitions, but never less than the smaller
// number for each. The size of a row does not depend on its message: it is the values of the columns that can be
// features or labels, and rowBytes.
const (
	calibrationBytes    = 64 << 20
	minCalibrationBytes = 1 << 20
	rowBytes            = 8
	textBytes           = 8 // of a string, in addition to its length
)

// calibrationShare is what each of n partitions may keep.
func calibrationShare(n int) int64 {
	return max(calibrationBytes/int64(max(1, n)), minCalibrationBytes)
}

// KeptBytes is the most that calibration keeps of rows, given how many partitions there are.
func KeptBytes(partitions int) int64 {
	return max(calibrationBytes, int64(partitions)*minCalibrationBytes)
}

// keeper copies the columns of events that can be features or labels. A copy has all the columns of the original, so
// that the encoder's report is the same, but columns that no encoder reads have no values.
type keeper struct {
	labels, features map[string]bool
	never            map[string]bool // excluded and passthrough columns
}

func newKeeper(c events.Config) *keeper {
	return &keeper{
		labels: setOf(c.Label), features: setOf(c.Features), never: setOf(slices.Concat(c.Exclude, c.Passthrough)),
	}
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// keeps reports whether the values of a column can matter.
func (k *keeper) keeps(field arrow.Field) bool {
	switch {
	case encoder.TypeName(field.Type) == "":
		return false
	case k.labels[field.Name]:
		return true
	case len(k.features) > 0:
		return k.features[field.Name]
	default:
		return !k.never[field.Name]
	}
}

// key is the same for schemas whose kept columns have the same names and kinds, in any order.
func (k *keeper) key(schema *arrow.Schema) string {
	var columns []string
	for _, field := range schema.Fields() {
		if k.keeps(field) {
			columns = append(columns, fmt.Sprintf("%q %s", field.Name, encoder.TypeName(field.Type)))
		}
	}
	sort.Strings(columns)
	return strings.Join(columns, "\n")
}

// fit returns how many of the first rows fit a budget that the last of them may exceed, and their size. They end before a
// row of more than most bytes.
func (k *keeper) fit(rows arrow.Record, wanted, budget, most int64) (n, bytes int64) {
	fixed := int64(rowBytes)
	var texts []func(int) int64
	for i, field := range rows.Schema().Fields() {
		if !k.keeps(field) {
			continue
		}
		switch column := rows.Column(i).(type) {
		case *array.String:
			texts = append(texts, func(row int) int64 { return int64(column.ValueLen(row)) })
		case *array.LargeString:
			texts = append(texts, func(row int) int64 { return int64(column.ValueLen(row)) })
		case *array.Dictionary:
			texts = append(texts, func(row int) int64 {
				text, _ := textAt(column, row)
				return int64(len(text))
			})
		default:
			fixed += fixedBytes(field.Type)
		}
	}
	fixed += textBytes * int64(len(texts))
	for ; n < min(wanted, rows.NumRows()) && bytes < budget; n++ {
		size := fixed
		for _, length := range texts {
			size += length(int(n))
		}
		if size > most {
			break
		}
		bytes += size
	}
	return n, bytes
}

// absentBytes is what a column without values takes in a record.
const absentBytes = 320

// shapeBytes is what the first record of a shape takes in addition to its values: it has all columns.
func shapeBytes(schema *arrow.Schema) int64 {
	return arrowio.SchemaBytes(schema) + absentBytes*int64(schema.NumFields())
}

// fixedBytes is the size of a value of a type other than strings.
func fixedBytes(t arrow.DataType) int64 {
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		return int64(t.Len()) * fixedBytes(t.Elem())
	case arrow.FixedWidthDataType:
		return int64(max(1, t.BitWidth()/8))
	}
	return 1
}

// textAt returns the string of a row of a dictionary column, and false for null.
func textAt(column *array.Dictionary, row int) (string, bool) {
	if column.IsNull(row) {
		return "", false
	}
	at := column.GetValueIndex(row)
	if column.Dictionary().IsNull(at) {
		return "", false
	}
	switch values := column.Dictionary().(type) {
	case *array.String:
		return values.Value(at), true
	case *array.LargeString:
		return values.Value(at), true
	}
	return "", false
}

// copy returns the first n rows in columns of their own, so that their message can be freed. The caller releases it.
func (k *keeper) copy(rows arrow.Record, n int64) (arrow.Record, error) {
	fields := slices.Clone(rows.Schema().Fields())
	columns := make([]arrow.Array, 0, len(fields))
	defer func() { releaseArrays(columns) }()
	for i := range fields {
		if !k.keeps(fields[i]) {
			columns = append(columns, absent(fields[i].Type, n))
			continue
		}
		column, err := head(rows.Column(i), n)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", fields[i].Name, err)
		}
		fields[i].Type = column.DataType()
		columns = append(columns, column)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, n), nil
}

// only returns the columns that are kept. The caller releases the result.
func (k *keeper) only(rows arrow.Record) arrow.Record {
	var fields []arrow.Field
	var columns []arrow.Array
	for i, field := range rows.Schema().Fields() {
		if k.keeps(field) {
			fields, columns = append(fields, field), append(columns, rows.Column(i))
		}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, rows.NumRows())
}

// join concatenates two copies, or returns false if their columns differ. The caller releases the result.
func (k *keeper) join(a, b arrow.Record) (arrow.Record, bool) {
	if !a.Schema().Equal(b.Schema()) {
		return nil, false
	}
	n := a.NumRows() + b.NumRows()
	columns := make([]arrow.Array, 0, a.NumCols())
	defer func() { releaseArrays(columns) }()
	for i, field := range a.Schema().Fields() {
		if !k.keeps(field) {
			columns = append(columns, absent(field.Type, n))
			continue
		}
		column, err := array.Concatenate([]arrow.Array{a.Column(i), b.Column(i)}, memory.DefaultAllocator)
		if err != nil {
			return nil, false
		}
		columns = append(columns, column)
	}
	return array.NewRecord(a.Schema(), columns, n), true
}

// head copies the first n values of a column. Of a dictionary column it copies the strings, because a few rows need not
// keep a large dictionary alive. Joining copies too, and takes no more memory than the values need.
func head(column arrow.Array, n int64) (arrow.Array, error) {
	var first arrow.Array
	if dictionary, ok := column.(*array.Dictionary); ok {
		first = plain(dictionary, n)
	} else {
		first = array.NewSlice(column, 0, n)
	}
	defer first.Release()
	return array.Concatenate([]arrow.Array{first}, memory.DefaultAllocator)
}

// plain returns the first n strings of a dictionary column.
func plain(column *array.Dictionary, n int64) arrow.Array {
	b := array.NewLargeStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for row := range int(n) {
		if text, ok := textAt(column, row); ok {
			b.Append(text)
		} else {
			b.AppendNull()
		}
	}
	return b.NewArray()
}

// withoutValues stands for a column that nothing reads.
type withoutValues struct {
	*array.Null
	kind arrow.DataType
}

func absent(t arrow.DataType, n int64) arrow.Array { return withoutValues{array.NewNull(int(n)), t} }

// DataType is the type of the column it stands for.
func (c withoutValues) DataType() arrow.DataType { return c.kind }

func releaseArrays(columns []arrow.Array) {
	for _, column := range columns {
		column.Release()
	}
}
