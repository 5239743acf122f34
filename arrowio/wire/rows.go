package wire

import (
	"context"
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/compute"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// SelectColumns returns a record with the named columns of rec, in the order of names. Names that
// rec does not have are skipped; of duplicate columns the first is used. The caller releases the
// result.
func SelectColumns(rec arrow.Record, names []string) arrow.Record {
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, name := range names {
		if at := rec.Schema().FieldIndices(name); len(at) > 0 {
			fields = append(fields, rec.Schema().Field(at[0]))
			arrays = append(arrays, rec.Column(at[0]))
		}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), arrays, rec.NumRows())
}

// GatherRows returns one record with the given rows of a message. recs are the message's record
// batches, all with one schema. rows are numbers within the whole message, strictly ascending: the
// numbers of the second batch continue after those of the first. Dictionaries are cut down to the
// entries that the rows use, so that a part of a message is not as big as the whole. The caller
// releases the result; recs stay the caller's. An error means a type whose rows cannot be gathered.
func GatherRows(recs []arrow.Record, rows []int32) (gathered arrow.Record, err error) {
	if len(recs) == 0 {
		panic("wire: rows gathered from no record")
	}
	if err := checkAscending(rows); err != nil {
		return nil, fmt.Errorf("gather rows: %w", err)
	}
	// The arrays come from outside and go through library code that trusts them.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("gather rows: %w: %v", ErrMalformed, p)
		}
	}()
	schema := recs[0].Schema()
	columns := make([]arrow.Array, 0, schema.NumFields())
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	parts := splitRows(recs, rows)
	for i := range schema.NumFields() {
		c, err := gatherColumn(recs, i, parts)
		if err != nil {
			return nil, fmt.Errorf("gather rows of column %q: %w", schema.Field(i).Name, err)
		}
		columns = append(columns, c)
	}
	return array.NewRecord(schema, columns, int64(len(rows))), nil
}

// part is the rows wanted from one record, numbered within it.
type part struct {
	record int
	rows   []int32
}

// splitRows distributes rows of a message to its records. It panics on a row beyond the last.
func splitRows(recs []arrow.Record, rows []int32) []part {
	parts := make([]part, 0, len(recs))
	first := int64(0)
	for i, rec := range recs {
		next := first + rec.NumRows()
		n := sort.Search(len(rows), func(k int) bool { return int64(rows[k]) >= next })
		if n > 0 {
			parts = append(parts, part{i, numberedFrom(first, rows[:n])})
		}
		first, rows = next, rows[n:]
	}
	if len(rows) > 0 {
		panic(fmt.Sprintf("wire: row %d of a message of %d rows", rows[0], first))
	}
	return parts
}

// numberedFrom subtracts first from rows; it returns the same list if that is 0.
func numberedFrom(first int64, rows []int32) []int32 {
	if first == 0 {
		return rows
	}
	local := make([]int32, len(rows))
	for i, row := range rows {
		local[i] = int32(int64(row) - first)
	}
	return local
}

// gatherColumn gathers column i of every part.
func gatherColumn(recs []arrow.Record, i int, parts []part) (arrow.Array, error) {
	if len(parts) == 0 {
		return takeRows(recs[0].Column(i), nil)
	}
	pieces := make([]arrow.Array, 0, len(parts))
	defer func() {
		for _, p := range pieces {
			p.Release()
		}
	}()
	for _, p := range parts {
		piece, err := takeRows(recs[p.record].Column(i), p.rows)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, piece)
	}
	if len(pieces) == 1 {
		pieces[0].Retain()
		return pieces[0], nil
	}
	return array.Concatenate(pieces, memory.DefaultAllocator)
}

// takeRows returns the given rows of one array.
func takeRows(arr arrow.Array, rows []int32) (arrow.Array, error) {
	if dict, ok := arr.(*array.Dictionary); ok {
		return takeDictionary(dict, rows)
	}
	if len(rows) == 0 {
		return takeRuns(arr, nil)
	}
	if first, last := rows[0], rows[len(rows)-1]; int(last-first)+1 == len(rows) && !arrow.IsNested(arr.DataType().ID()) {
		return array.NewSlice(arr, int64(first), int64(last)+1), nil
	}
	return takeAny(arr, rows)
}

// takeAny takes rows in any order.
func takeAny(arr arrow.Array, rows []int32) (arrow.Array, error) {
	index := numbers("", rows).arr
	defer index.Release()
	if taken, err := compute.TakeArray(context.Background(), arr, index); err == nil {
		return taken, nil
	}
	return takeRuns(arr, rows)
}

// takeRuns takes rows of a type that compute cannot: it slices runs of adjacent rows and joins
// them. Joining copies, so that an array without values does not refer to other values: the IPC
// writer fails on an empty slice of binary values.
func takeRuns(arr arrow.Array, rows []int32) (arrow.Array, error) {
	var runs []arrow.Array
	defer func() {
		for _, r := range runs {
			r.Release()
		}
	}()
	for at := 0; at < len(rows); {
		end := at + 1
		for end < len(rows) && rows[end] == rows[end-1]+1 {
			end++
		}
		runs = append(runs, array.NewSlice(arr, int64(rows[at]), int64(rows[end-1])+1))
		at = end
	}
	if len(runs) == 0 {
		runs = append(runs, array.NewSlice(arr, 0, 0))
	}
	return array.Concatenate(runs, memory.DefaultAllocator)
}

// takeDictionary takes rows of a dictionary array and renumbers the entries that they use, in order
// of first use.
func takeDictionary(arr *array.Dictionary, rows []int32) (arrow.Array, error) {
	t := arr.DataType().(*arrow.DictionaryType)
	var used []int32
	renumbered := make(map[int]int)
	number := func(old int) int {
		n, known := renumbered[old]
		if !known {
			n = len(used)
			renumbered[old], used = n, append(used, int32(old))
		}
		return n
	}
	width := t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
	valid, nulls, indexes := make([]byte, bitutil.BytesForBits(int64(len(rows)))), 0, make([]byte, 0, len(rows)*width)
	for i, r := range rows {
		n := 0
		if arr.IsNull(int(r)) {
			nulls++
		} else {
			bitutil.SetBit(valid, i)
			n = number(arr.GetValueIndex(int(r)))
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], uint64(n))
		indexes = append(indexes, word[:width]...)
	}
	values, err := takeAny(arr.Dictionary(), used)
	if err != nil {
		return nil, err
	}
	defer values.Release()
	buffers := []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(indexes)}
	data := array.NewDataWithDictionary(t, len(rows), buffers, nulls, 0, values.Data().(*array.Data))
	defer data.Release()
	return array.MakeFromData(data), nil
}
