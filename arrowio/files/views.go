package files

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// views replaces the views of strings and of bytes that polars writes by plain strings and bytes:
// nothing behind a Reader reads views.
type views struct {
	mem    memory.Allocator
	schema *arrow.Schema
}

// newViews returns the replacement for records of a schema, or nil if no column has views.
func newViews(schema *arrow.Schema, mem memory.Allocator) *views {
	fields := schema.Fields()
	found := false
	for i := range fields {
		if plain := plainType(fields[i].Type); plain != nil {
			fields[i].Type, found = plain, true
		}
	}
	if !found {
		return nil
	}
	meta := schema.Metadata()
	return &views{mem, arrow.NewSchema(fields, &meta)}
}

// plainType returns the type without views, or nil if a type has none, or has them within others.
func plainType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.StringViewType:
		return arrow.BinaryTypes.LargeString
	case *arrow.BinaryViewType:
		return arrow.BinaryTypes.LargeBinary
	case *arrow.DictionaryType:
		if t.ValueType.ID() == arrow.STRING_VIEW {
			return &arrow.DictionaryType{IndexType: t.IndexType, ValueType: arrow.BinaryTypes.String, Ordered: t.Ordered}
		}
	}
	return nil
}

// convert returns the record without views. The caller releases it.
func (v *views) convert(rec arrow.Record) arrow.Record {
	columns := make([]arrow.Array, rec.NumCols())
	for i, column := range rec.Columns() {
		columns[i] = v.plain(column, v.schema.Field(i).Type)
		defer columns[i].Release()
	}
	return array.NewRecord(v.schema, columns, rec.NumRows())
}

// plain returns an array as an array of a type of [plainType]. The caller releases it.
func (v *views) plain(a arrow.Array, to arrow.DataType) arrow.Array {
	switch a := a.(type) {
	case *array.StringView:
		return v.copy(a, to.(arrow.BinaryDataType), func(b *array.BinaryBuilder, i int) { b.AppendString(a.Value(i)) })
	case *array.BinaryView:
		return v.copy(a, to.(arrow.BinaryDataType), func(b *array.BinaryBuilder, i int) { b.Append(a.Value(i)) })
	case *array.Dictionary:
		if values, ok := a.Dictionary().(*array.StringView); ok {
			plain := v.plain(values, arrow.BinaryTypes.String)
			defer plain.Release()
			return array.NewDictionaryArray(to, a.Indices(), plain)
		}
	}
	a.Retain()
	return a
}

// copy returns the values of a in an array of another type.
func (v *views) copy(a arrow.Array, to arrow.BinaryDataType, add func(b *array.BinaryBuilder, i int)) arrow.Array {
	b := array.NewBinaryBuilder(v.mem, to)
	defer b.Release()
	b.Reserve(a.Len())
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
		} else {
			add(b, i)
		}
	}
	return b.NewArray()
}
