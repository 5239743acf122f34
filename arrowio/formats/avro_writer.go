package formats

import (
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// avroWriter writes records whose fields are all nullable, with null as their default.
func avroWriter(schema *arrow.Schema) (*encoding, error) {
	type field struct {
		Name    string `json:"name"`
		Type    any    `json:"type"`
		Default any    `json:"default"`
	}
	var fields []field
	var columns []columnWriter
	for _, f := range schema.Fields() {
		if err := checkName(f.Name, Avro); err != nil {
			return nil, err
		}
		if f.Type.ID() == arrow.NULL {
			fields = append(fields, field{Name: f.Name, Type: "null"})
			columns = append(columns, func(dst []byte, _ arrow.Array, _ int) ([]byte, error) { return dst, nil })
			continue
		}
		typ, write := avroType(f.Type)
		if write == nil {
			return nil, cannotWrite(f, Avro)
		}
		fields = append(fields, field{Name: f.Name, Type: []any{"null", typ}})
		columns = append(columns, func(dst []byte, column arrow.Array, row int) ([]byte, error) {
			if isNull(column, row) {
				return append(dst, 0), nil
			}
			return write(binary.AppendVarint(dst, 1), column, row)
		})
	}
	text, err := json.Marshal(map[string]any{"type": "record", "name": "Event", "fields": fields})
	return &encoding{schema: string(text), row: rowOf(columns)}, err
}

func logical(base, name string) any { return map[string]any{"type": base, "logicalType": name} }

// avroType returns the schema type for an Arrow type, and what writes its values; nil if it has none.
func avroType(t arrow.DataType) (any, columnWriter) {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return "boolean", func(dst []byte, a arrow.Array, row int) ([]byte, error) {
			if a.(*array.Boolean).Value(row) {
				return append(dst, 1), nil
			}
			return append(dst, 0), nil
		}
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Uint8Type, *arrow.Uint16Type:
		return "int", avroWhole
	case *arrow.Int64Type, *arrow.Uint32Type:
		return "long", avroWhole
	case *arrow.Float16Type, *arrow.Float32Type:
		return "float", avroFloat32
	case *arrow.Float64Type:
		return "double", avroFloat64
	case *arrow.Decimal128Type:
		return map[string]any{"type": "bytes", "logicalType": "decimal", "precision": t.Precision, "scale": t.Scale}, avroDecimal
	case *arrow.FixedSizeListType:
		if !arrow.IsInteger(t.Elem().ID()) && !arrow.IsFloating(t.Elem().ID()) {
			return nil, nil
		}
		item, write := avroType(t.Elem())
		if write == nil {
			return nil, nil
		}
		return map[string]any{"type": "array", "items": []any{"null", item}}, avroListOf(write)
	}
	if typ := avroTime(t); typ != nil {
		return typ, avroWhole
	}
	if isText(t) {
		return "string", func(dst []byte, a arrow.Array, row int) ([]byte, error) {
			text, _ := textAt(a, row)
			return append(binary.AppendVarint(dst, int64(len(text))), text...), nil
		}
	}
	return nil, nil
}

// avroTime returns the type for dates and times; nil for others, and for units that Avro does not
// have.
func avroTime(t arrow.DataType) any {
	units := map[arrow.TimeUnit]string{arrow.Millisecond: "millis", arrow.Microsecond: "micros", arrow.Nanosecond: "nanos"}
	switch t := t.(type) {
	case *arrow.Date32Type:
		return logical("int", "date")
	case *arrow.Time32Type:
		if t.Unit == arrow.Millisecond {
			return logical("int", "time-millis")
		}
	case *arrow.Time64Type:
		if t.Unit == arrow.Microsecond {
			return logical("long", "time-micros")
		}
	case *arrow.TimestampType:
		if unit := units[t.Unit]; unit != "" && t.TimeZone == "" {
			return logical("long", "local-timestamp-"+unit)
		} else if unit != "" {
			return logical("long", "timestamp-"+unit)
		}
	}
	return nil
}

func avroWhole(dst []byte, a arrow.Array, row int) ([]byte, error) {
	whole, _ := wholeOf(a)
	return binary.AppendVarint(dst, whole(row)), nil
}

func avroFloat32(dst []byte, a arrow.Array, row int) ([]byte, error) {
	v, _ := floatAt(a, row)
	return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v))), nil
}

func avroFloat64(dst []byte, a arrow.Array, row int) ([]byte, error) {
	v, _ := floatAt(a, row)
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v)), nil
}

// avroDecimal writes two's complement, big-endian.
func avroDecimal(dst []byte, a arrow.Array, row int) ([]byte, error) {
	v := a.(*array.Decimal128).Value(row)
	b := binary.BigEndian.AppendUint64(nil, uint64(v.HighBits()))
	b = binary.BigEndian.AppendUint64(b, v.LowBits())
	return append(binary.AppendVarint(dst, int64(len(b))), b...), nil
}

func avroListOf(write columnWriter) columnWriter {
	return func(dst []byte, a arrow.Array, row int) ([]byte, error) {
		values, from, to, _ := listAt(a, row)
		if to > from {
			dst = binary.AppendVarint(dst, int64(to-from))
		}
		for i := from; i < to; i++ {
			if values.IsNull(i) {
				dst = append(dst, 0)
				continue
			}
			var err error
			if dst, err = write(binary.AppendVarint(dst, 1), values, i); err != nil {
				return nil, err
			}
		}
		return append(dst, 0), nil
	}
}
