package formats

import (
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"google.golang.org/protobuf/encoding/protowire"
)

// protoColumn is the schema type for an Arrow type, and the function that writes a value without its tag.
type protoColumn struct {
	name  string
	wire  protowire.Type
	write columnWriter
}

// protoWriter writes messages whose fields are all optional.
func protoWriter(schema *arrow.Schema) (*encoding, error) {
	var fields strings.Builder
	var columns []columnWriter
	imports := ""
	for i, f := range schema.Fields() {
		if err := checkName(f.Name, Protobuf); err != nil {
			return nil, err
		}
		label, number := "optional", protoNumber(i)
		made, ok := protoColumnOf(f.Type)
		if list, isList := f.Type.(*arrow.FixedSizeListType); isList {
			made, ok = protoColumnOf(list.Elem())
			ok = ok && made.wire != protowire.BytesType
			label, made = "repeated", packedOf(made)
		}
		if !ok {
			return nil, cannotWrite(f, Protobuf)
		}
		if made.name == "google.protobuf.Timestamp" {
			imports = "import \"google/protobuf/timestamp.proto\";\n"
		}
		fmt.Fprintf(&fields, "  %s %s %s = %d;\n", label, made.name, f.Name, number)
		columns = append(columns, func(dst []byte, column arrow.Array, row int) ([]byte, error) {
			if isNull(column, row) {
				return dst, nil
			}
			return made.write(protowire.AppendTag(dst, number, made.wire), column, row)
		})
	}
	row := rowOf(columns)
	return &encoding{
		schema: "syntax = \"proto3\";\n" + imports + "message Event {\n" + fields.String() + "}\n",
		row: func(dst []byte, rec arrow.Record, i int) ([]byte, error) {
			if len(dst) > 0 {
				dst = append(dst, 0) // a framed message names its type: the first one in the schema
			}
			return row(dst, rec, i)
		},
	}, nil
}

// protoNumber is the field number of a column; numbers reserved by Protobuf are skipped.
func protoNumber(column int) protowire.Number {
	number := protowire.Number(column + 1)
	if number >= protowire.FirstReservedNumber {
		number += protowire.LastReservedNumber - protowire.FirstReservedNumber + 1
	}
	return number
}

func protoColumnOf(t arrow.DataType) (protoColumn, bool) {
	varint := func(name string) (protoColumn, bool) {
		return protoColumn{name, protowire.VarintType, func(dst []byte, a arrow.Array, row int) ([]byte, error) {
			whole, _ := wholeOf(a)
			return protowire.AppendVarint(dst, uint64(whole(row))), nil
		}}, true
	}
	switch t := t.(type) {
	case *arrow.NullType:
		return protoColumn{name: "string", wire: protowire.BytesType}, true
	case *arrow.BooleanType:
		return protoColumn{"bool", protowire.VarintType, func(dst []byte, a arrow.Array, row int) ([]byte, error) {
			return protowire.AppendVarint(dst, protowire.EncodeBool(a.(*array.Boolean).Value(row))), nil
		}}, true
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type:
		return varint("int32")
	case *arrow.Int64Type:
		return varint("int64")
	case *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type:
		return varint("uint32")
	case *arrow.Uint64Type:
		return protoColumn{"uint64", protowire.VarintType, func(dst []byte, a arrow.Array, row int) ([]byte, error) {
			return protowire.AppendVarint(dst, a.(*array.Uint64).Value(row)), nil
		}}, true
	case *arrow.Float16Type, *arrow.Float32Type:
		return protoColumn{"float", protowire.Fixed32Type, func(dst []byte, a arrow.Array, row int) ([]byte, error) {
			v, _ := floatAt(a, row)
			return protowire.AppendFixed32(dst, math.Float32bits(float32(v))), nil
		}}, true
	case *arrow.Float64Type:
		return protoColumn{"double", protowire.Fixed64Type, func(dst []byte, a arrow.Array, row int) ([]byte, error) {
			v, _ := floatAt(a, row)
			return protowire.AppendFixed64(dst, math.Float64bits(v)), nil
		}}, true
	case *arrow.TimestampType:
		return protoColumn{"google.protobuf.Timestamp", protowire.BytesType, func(dst []byte, a arrow.Array, row int) ([]byte, error) {
			at := a.(*array.Timestamp).Value(row).ToTime(t.Unit)
			body := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(at.Unix()))
			body = protowire.AppendVarint(protowire.AppendTag(body, 2, protowire.VarintType), uint64(at.Nanosecond()))
			return protowire.AppendBytes(dst, body), nil
		}}, true
	}
	if isText(t) {
		return protoColumn{"string", protowire.BytesType, func(dst []byte, a arrow.Array, row int) ([]byte, error) {
			text, _ := textAt(a, row)
			return protowire.AppendString(dst, text), nil
		}}, true
	}
	return protoColumn{}, false
}

// packedOf writes packed lists of numbers. A null among them is an error.
func packedOf(item protoColumn) protoColumn {
	return protoColumn{item.name, protowire.BytesType, func(dst []byte, a arrow.Array, row int) ([]byte, error) {
		values, from, to, _ := listAt(a, row)
		var body []byte
		for i := from; i < to; i++ {
			if values.IsNull(i) {
				return nil, fmt.Errorf("a null among the numbers of row %d, which protobuf cannot hold", row)
			}
			var err error
			if body, err = item.write(body, values, i); err != nil {
				return nil, err
			}
		}
		return protowire.AppendBytes(dst, body), nil
	}}
}
