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
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
)

// Calibration keeps up to calibrationBytes of rows, divided evenly among the partitions, but each
// gets at least minCalibrationBytes. The size of a row does not depend on its message: it is the
// size of the values in possible feature and label columns, plus rowBytes. Between two trims, rows
// may take a quarter more.
const (
	calibrationBytes    = 64 << 20
	minCalibrationBytes = 1 << 20
	rowBytes            = 8
	textBytes           = 8 // per string, in addition to its length
)

// calibrationShare returns the bytes that each of n partitions may keep.
func calibrationShare(n int) int64 {
	return max(calibrationBytes/int64(max(1, n)), minCalibrationBytes)
}

// KeptBytes returns the maximum bytes of rows that calibration keeps, given the number of
// partitions.
func KeptBytes(partitions int) int64 {
	return max(calibrationBytes, int64(partitions)*minCalibrationBytes)
}

// keeper copies the columns of events that can be features or labels.
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

// keeps reports whether a column can be a feature or label.
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

// key returns the same key for schemas whose kept columns have the same names and kinds, in any
// order.
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

// columns returns the indexes of the kept columns.
func (k *keeper) columns(schema *arrow.Schema) (columns []int) {
	for i, field := range schema.Fields() {
		if k.keeps(field) {
			columns = append(columns, i)
		}
	}
	return columns
}

// sizes returns a function for the size of a row in these columns. It does not depend on the row's
// message.
func sizes(rows arrow.Record, columns []int) func(row int) int64 {
	fixed := int64(rowBytes)
	var texts []func(int) int64
	for _, i := range columns {
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
			fixed += fixedBytes(column.DataType())
		}
	}
	fixed += textBytes * int64(len(texts))
	return func(row int) int64 {
		size := fixed
		for _, length := range texts {
			size += length(row)
		}
		return size
	}
}

// absentBytes is the memory of a column without values in a record.
const absentBytes = 320

// shapeBytes returns the memory of a shape's first record in addition to its values: that record
// has all columns.
func shapeBytes(schema *arrow.Schema) int64 {
	return arrowio.SchemaBytes(schema) + absentBytes*int64(schema.NumFields())
}

// fixedBytes returns the size of a value of a type other than string.
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

// fewRuns is the maximum number of runs of adjacent rows to copy run by run, which is faster for a
// few runs.
const fewRuns = 16

// copyRows returns copies of ascending rows of some columns, so that their message can be freed.
// The caller releases the record. Dictionary columns are copied as strings, because a few rows must
// not keep a large dictionary alive.
func copyRows(batch arrow.Record, columns []int, taken []int32) (arrow.Record, error) {
	runs := 1
	for i := 1; i < len(taken); i++ {
		if taken[i] != taken[i-1]+1 {
			runs++
		}
	}
	fields := make([]arrow.Field, len(columns))
	arrays := make([]arrow.Array, len(columns))
	for k, i := range columns {
		fields[k], arrays[k] = batch.Schema().Field(i), batch.Column(i)
	}
	if runs > fewRuns {
		only := array.NewRecord(arrow.NewSchema(fields, nil), arrays, batch.NumRows())
		defer only.Release()
		return gather([]arrow.Record{only}, taken)
	}
	var copies []arrow.Array
	defer func() { releaseArrays(copies) }()
	for k := range arrays {
		column, err := copyRuns(arrays[k], taken)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", fields[k].Name, err)
		}
		copies = append(copies, column)
		fields[k].Type = column.DataType()
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), copies, int64(len(taken))), nil
}

// copyRuns copies ascending rows of a column, run by run.
func copyRuns(column arrow.Array, taken []int32) (arrow.Array, error) {
	var runs []arrow.Array
	defer func() { releaseArrays(runs) }()
	for at := 0; at < len(taken); {
		end := at + 1
		for end < len(taken) && taken[end] == taken[end-1]+1 {
			end++
		}
		run := array.NewSlice(column, int64(taken[at]), int64(taken[end-1])+1)
		if dictionary, ok := run.(*array.Dictionary); ok {
			runs = append(runs, plain(dictionary))
			run.Release()
		} else {
			runs = append(runs, run)
		}
		at = end
	}
	return array.Concatenate(runs, memory.DefaultAllocator)
}

// gather returns copies of ascending rows of records, with dictionaries as strings. The caller
// releases the record.
func gather(recs []arrow.Record, taken []int32) (arrow.Record, error) {
	rows, err := wire.GatherRows(recs, taken)
	if err != nil {
		return nil, err
	}
	defer rows.Release()
	fields := slices.Clone(rows.Schema().Fields())
	columns := make([]arrow.Array, 0, len(fields))
	defer func() { releaseArrays(columns) }()
	for i := range fields {
		column, err := ownedColumn(rows.Column(i))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", fields[i].Name, err)
		}
		columns = append(columns, column)
		fields[i].Type = column.DataType()
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, rows.NumRows()), nil
}

func ownedColumn(column arrow.Array) (arrow.Array, error) {
	if dictionary, ok := column.(*array.Dictionary); ok {
		return plain(dictionary), nil
	}
	return array.Concatenate([]arrow.Array{column}, memory.DefaultAllocator) // copies, with no spare capacity
}

// stored returns the schema of copies: the kept columns, with dictionaries as strings.
func (k *keeper) stored(schema *arrow.Schema) *arrow.Schema {
	var fields []arrow.Field
	for _, field := range schema.Fields() {
		if !k.keeps(field) {
			continue
		}
		if field.Type.ID() == arrow.DICTIONARY {
			field.Type = arrow.BinaryTypes.LargeString
		}
		fields = append(fields, field)
	}
	return arrow.NewSchema(fields, nil)
}

// headed returns kept rows with all columns of the first row of their shape, so that the encoder's
// report names them all. Columns that are not kept have no values. The caller releases the record.
func (k *keeper) headed(rows arrow.Record, head *arrow.Schema) arrow.Record {
	fields := slices.Clone(head.Fields())
	columns := make([]arrow.Array, len(fields))
	for i := range fields {
		at := rows.Schema().FieldIndices(fields[i].Name)
		if k.keeps(fields[i]) && len(at) == 1 {
			columns[i] = rows.Column(at[0])
			columns[i].Retain()
			fields[i].Type = columns[i].DataType()
		} else {
			columns[i] = absent(fields[i].Type, rows.NumRows())
		}
	}
	defer releaseArrays(columns)
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, rows.NumRows())
}

// join concatenates copies with the same columns. The caller releases the result.
func join(copies []arrow.Record) (arrow.Record, error) {
	var columns []arrow.Array
	defer func() { releaseArrays(columns) }()
	parts := make([]arrow.Array, len(copies))
	rows := int64(0)
	for _, one := range copies {
		rows += one.NumRows()
	}
	for i := range int(copies[0].NumCols()) {
		for k, one := range copies {
			parts[k] = one.Column(i)
		}
		column, err := array.Concatenate(parts, memory.DefaultAllocator)
		if err != nil {
			return nil, err
		}
		columns = append(columns, column)
	}
	return array.NewRecord(copies[0].Schema(), columns, rows), nil
}

// plain returns the strings of a dictionary column.
func plain(column *array.Dictionary) arrow.Array {
	b := array.NewLargeStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for row := range column.Len() {
		if text, ok := textAt(column, row); ok {
			b.Append(text)
		} else {
			b.AppendNull()
		}
	}
	return b.NewArray()
}

// withoutValues stands in for a column that nothing reads.
type withoutValues struct {
	*array.Null
	kind arrow.DataType
}

func absent(t arrow.DataType, n int64) arrow.Array { return withoutValues{array.NewNull(int(n)), t} }

// DataType returns the type of the replaced column.
func (c withoutValues) DataType() arrow.DataType { return c.kind }

func releaseArrays(columns []arrow.Array) {
	for _, column := range columns {
		column.Release()
	}
}
