package arrowio

import "github.com/apache/arrow/go/v15/arrow"

// typeID is the tag of a type in a schema; the numbers are the format's.
type typeID byte

const (
	typeNull            typeID = 1
	typeInt             typeID = 2
	typeFloat           typeID = 3
	typeBinary          typeID = 4
	typeUtf8            typeID = 5
	typeBool            typeID = 6
	typeDecimal         typeID = 7
	typeDate            typeID = 8
	typeTime            typeID = 9
	typeTimestamp       typeID = 10
	typeInterval        typeID = 11
	typeList            typeID = 12
	typeStruct          typeID = 13
	typeUnion           typeID = 14
	typeFixedSizeBinary typeID = 15
	typeFixedSizeList   typeID = 16
	typeMap             typeID = 17
	typeDuration        typeID = 18
	typeLargeBinary     typeID = 19
	typeLargeUtf8       typeID = 20
	typeLargeList       typeID = 21
	typeRunEndEncoded   typeID = 22
	typeBinaryView      typeID = 23
	typeUtf8View        typeID = 24
	typeListView        typeID = 25
	typeLargeListView   typeID = 26
)

// column returns the plan for a type. The caller checks the flatbuffer's own fault afterwards, so a
// value misread here is never used.
func (p *schemaParser) column(id typeID, t table, fields []arrow.Field, children []*column) (*column, error) {
	switch id {
	case typeList, typeLargeList, typeFixedSizeList, typeStruct, typeMap:
		return nestedColumn(id, t, fields, children)
	case typeUnion:
		return nil, unsupported("union")
	case typeRunEndEncoded:
		return nil, unsupported("run-end encoding")
	case typeListView, typeLargeListView:
		return nil, unsupported("list view")
	}
	if len(children) != 0 {
		return nil, corrupt("a flat type with %d children", len(children))
	}
	return p.flatColumn(id, t)
}

// plainTypes are the types without parameters.
var plainTypes = map[typeID]column{
	typeNull:        {dtype: arrow.Null, layout: layoutNull},
	typeBool:        {dtype: arrow.FixedWidthTypes.Boolean, layout: layoutBool},
	typeBinary:      {dtype: arrow.BinaryTypes.Binary, layout: layoutBinary, width: 4},
	typeLargeBinary: {dtype: arrow.BinaryTypes.LargeBinary, layout: layoutBinary, width: 8},
	typeUtf8:        {dtype: arrow.BinaryTypes.String, layout: layoutBinary, width: 4, utf8: true},
	typeLargeUtf8:   {dtype: arrow.BinaryTypes.LargeString, layout: layoutBinary, width: 8, utf8: true},
	typeBinaryView:  {dtype: arrow.BinaryTypes.Binary, layout: layoutView},
	typeUtf8View:    {dtype: arrow.BinaryTypes.String, layout: layoutView, utf8: true},
}

// flatColumn covers types without children.
func (p *schemaParser) flatColumn(id typeID, t table) (*column, error) {
	switch id {
	case typeInt:
		return intColumn(t)
	case typeFloat:
		return oneOf(
			"float",
			t.int16(0, 0),
			arrow.FixedWidthTypes.Float16,
			arrow.PrimitiveTypes.Float32,
			arrow.PrimitiveTypes.Float64,
		)
	case typeFixedSizeBinary:
		width := t.int32(0, 0)
		if width < 1 {
			return nil, unsupported("fixed-size binary of %d bytes", width)
		}
		return &column{
			dtype:  &arrow.FixedSizeBinaryType{ByteWidth: int(width)},
			layout: layoutFixed,
			width:  int(width),
			align:  1,
		}, nil
	case typeTimestamp:
		return p.timestampColumn(t)
	case typeDecimal, typeDate, typeTime, typeInterval, typeDuration:
		return temporalOrDecimalColumn(id, t)
	}
	if c, ok := plainTypes[id]; ok {
		return &c, nil
	}
	return nil, unsupported("type number %d", id)
}

// fixed is the plan for values of a type that Go reads in place.
func fixed(dtype arrow.DataType) (*column, error) {
	width := dtype.(arrow.FixedWidthDataType).BitWidth() / 8
	return &column{dtype: dtype, layout: layoutFixed, width: width, align: min(width, 8)}, nil
}

func intColumn(t table) (*column, error) {
	at := map[int32]int16{8: 0, 16: 1, 32: 2, 64: 3}
	bits := t.int32(0, 0)
	size, ok := at[bits]
	switch {
	case !ok:
		return nil, unsupported("integers of %d bits", bits)
	case t.bool(1):
		return oneOf(
			"integer",
			size,
			arrow.PrimitiveTypes.Int8,
			arrow.PrimitiveTypes.Int16,
			arrow.PrimitiveTypes.Int32,
			arrow.PrimitiveTypes.Int64,
		)
	}
	return oneOf(
		"integer",
		size,
		arrow.PrimitiveTypes.Uint8,
		arrow.PrimitiveTypes.Uint16,
		arrow.PrimitiveTypes.Uint32,
		arrow.PrimitiveTypes.Uint64,
	)
}

// nestedColumn covers the types with children.
func nestedColumn(id typeID, t table, fields []arrow.Field, children []*column) (*column, error) {
	if id == typeStruct {
		return &column{dtype: arrow.StructOf(fields...), layout: layoutStruct, children: children}, nil
	}
	if len(children) != 1 {
		return nil, corrupt("a list with %d children", len(children))
	}
	switch id {
	case typeList:
		return &column{dtype: arrow.ListOfField(fields[0]), layout: layoutList, width: 4, children: children}, nil
	case typeLargeList:
		return &column{dtype: arrow.LargeListOfField(fields[0]), layout: layoutList, width: 8, children: children}, nil
	case typeMap:
		return mapColumn(t, fields[0], children)
	}
	size := t.int32(0, 0)
	if size < 1 {
		return nil, unsupported("fixed-size list of %d", size)
	}
	return &column{
		dtype:    arrow.FixedSizeListOfField(size, fields[0]),
		layout:   layoutFixedList,
		width:    int(size),
		children: children,
	}, nil
}

// mapColumn plans a map: a list of entries, each a struct of key and item.
func mapColumn(t table, entry arrow.Field, children []*column) (*column, error) {
	pair, ok := entry.Type.(*arrow.StructType)
	if !ok || pair.NumFields() != 2 {
		return nil, corrupt("a map whose entries are %s, not pairs", entry.Type)
	}
	key, item := pair.Field(0), pair.Field(1)
	dtype := arrow.MapOfWithMetadata(key.Type, key.Metadata, item.Type, item.Metadata)
	dtype.SetItemNullable(item.Nullable)
	dtype.KeysSorted = t.bool(0)
	// The arrays have the map's own type of entry, whose fields are always named key and value.
	children[0].dtype = dtype.Elem()
	return &column{dtype: dtype, layout: layoutMap, width: 4, children: children}, nil
}
