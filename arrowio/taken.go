package arrowio

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
)

// TakenBytes is the number of bytes of values in a record with the given rows of another,
// ascending; nil = all. Of the dictionaries of columns the entries count that the rows use, nested
// dictionaries count whole.
func TakenBytes(rec arrow.Record, rows []int32) (bytes int64) {
	for _, column := range rec.Columns() {
		if fixed, ok := column.DataType().(arrow.FixedWidthDataType); ok && column.DataType().ID() != arrow.DICTIONARY &&
			rows != nil {
			bytes += bitutil.BytesForBits(int64(len(rows) * (fixed.BitWidth() + 1)))
			continue
		}
		eachRun(rows, column.Len(), func(from, to int) { bytes += rangeBytes(column.Data(), from, to) })
		if dictionary, ok := column.(*array.Dictionary); ok {
			bytes += usedBytes(dictionary, rows)
		} else {
			bytes += nestedDictionaries(column.Data())
		}
	}
	return bytes
}

// eachRun calls do for each run of adjacent rows; nil is the rows up to n.
func eachRun(rows []int32, n int, do func(from, to int)) {
	if rows == nil {
		do(0, n)
	}
	for at := 0; at < len(rows); {
		end := at + 1
		for end < len(rows) && rows[end] == rows[end-1]+1 {
			end++
		}
		do(int(rows[at]), int(rows[end-1])+1)
		at = end
	}
}

// rangeBytes is the size of some values of an array that was checked, without dictionaries.
func rangeBytes(d arrow.ArrayData, from, to int) (bytes int64) {
	if from >= to {
		return 0
	}
	n := int64(to - from)
	bytes = bitutil.BytesForBits(n)
	from, to = from+d.Offset(), to+d.Offset()
	switch t := d.DataType().(type) {
	case *arrow.StringType, *arrow.BinaryType:
		first, last := ends32(d, from, to)
		return bytes + 4*n + int64(last-first)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		ends := arrow.Int64Traits.CastFromBytes(bufferOf(d, 1))
		return bytes + 8*n + ends[to] - ends[from]
	case *arrow.FixedSizeListType:
		w := int(t.Len())
		return bytes + rangeBytes(d.Children()[0], from*w, to*w)
	case *arrow.ListType, *arrow.MapType:
		first, last := ends32(d, from, to)
		return bytes + 4*n + rangeBytes(d.Children()[0], first, last)
	case *arrow.LargeListType:
		ends := arrow.Int64Traits.CastFromBytes(bufferOf(d, 1))
		return bytes + 8*n + rangeBytes(d.Children()[0], int(ends[from]), int(ends[to]))
	case *arrow.StructType:
		for _, child := range d.Children() {
			bytes += rangeBytes(child, from, to)
		}
		return bytes
	case arrow.FixedWidthDataType:
		return bytes + bitutil.BytesForBits(n*int64(t.BitWidth()))
	}
	return bytes
}

func ends32(d arrow.ArrayData, from, to int) (first, last int) {
	ends := arrow.Int32Traits.CastFromBytes(bufferOf(d, 1))
	return int(ends[from]), int(ends[to])
}

// usedBytes is the size of the entries of a dictionary that rows use; nil = all entries.
func usedBytes(d *array.Dictionary, rows []int32) (bytes int64) {
	entries := d.Dictionary().Data()
	if rows == nil {
		return rangeBytes(entries, 0, entries.Len())
	}
	seen := map[int]bool{}
	for _, row := range rows {
		if d.IsNull(int(row)) {
			continue
		}
		if entry := d.GetValueIndex(int(row)); !seen[entry] {
			seen[entry] = true
			bytes += rangeBytes(entries, entry, entry+1)
		}
	}
	return bytes
}

// nestedDictionaries is the size of the dictionaries inside of an array.
func nestedDictionaries(d arrow.ArrayData) (bytes int64) {
	if d.DataType().ID() == arrow.DICTIONARY {
		entries := d.(*array.Data).Dictionary()
		bytes = rangeBytes(entries, 0, entries.Len())
	}
	for _, child := range d.Children() {
		bytes += nestedDictionaries(child)
	}
	return bytes
}

// Repeated is the size of the parts that each message of at most rows rows of a record may repeat:
// names, and entries of dictionaries.
func Repeated(rec arrow.Record, rows int64) (bytes int64) {
	for i, column := range rec.Columns() {
		bytes += fieldBytes(rec.Schema().Field(i))
		dictionary, ok := column.(*array.Dictionary)
		if !ok {
			bytes += nestedDictionaries(column.Data())
			continue
		}
		entries := dictionary.Dictionary().Data()
		var longest int64
		for i := range entries.Len() {
			longest = max(longest, rangeBytes(entries, i, i+1))
		}
		bytes += min(rangeBytes(entries, 0, entries.Len()), rows*longest)
	}
	return bytes
}

// describedBytes is the size of a field in a schema in addition to its texts.
const describedBytes = 128

func fieldBytes(f arrow.Field) int64 {
	bytes := describedBytes + int64(len(f.Name)) + metadataBytes(f.Metadata)
	switch t := f.Type.(type) {
	case arrow.ListLikeType:
		return bytes + fieldBytes(t.ElemField())
	case arrow.NestedType:
		for _, child := range t.Fields() {
			bytes += fieldBytes(child)
		}
	}
	return bytes
}

// restingSchema is the size of the largest schema that is kept from one message to the next: every
// partition has one.
const restingSchema = 64 << 10

// Resting returns a schema, by which readers recognise the next message, or nil if it is too large
// to be kept for that.
func Resting(s *arrow.Schema) *arrow.Schema {
	if SchemaBytes(s) > restingSchema {
		return nil
	}
	return s
}

// SchemaBytes is about the memory of a schema.
func SchemaBytes(s *arrow.Schema) (bytes int64) {
	for i := range s.NumFields() {
		bytes += fieldBytes(s.Field(i))
	}
	return bytes + metadataBytes(s.Metadata())
}

func metadataBytes(m arrow.Metadata) (bytes int64) {
	for i, key := range m.Keys() {
		bytes += int64(len(key) + len(m.Values()[i]))
	}
	return bytes
}
