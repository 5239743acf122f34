package formats

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/twmb/avro"
)

var (
	avroPrimitives = map[avroKind]arrow.DataType{
		avroBool: arrow.FixedWidthTypes.Boolean, avroInt: arrow.PrimitiveTypes.Int32, avroLong: arrow.PrimitiveTypes.Int64,
		avroFloat: arrow.PrimitiveTypes.Float32, avroDouble: arrow.PrimitiveTypes.Float64, avroEnum: arrow.BinaryTypes.String,
		avroFixed: arrow.BinaryTypes.Binary,
	}
	avroLogical = map[string]arrow.DataType{
		"int date":                    arrow.FixedWidthTypes.Date32,
		"int time-millis":             arrow.FixedWidthTypes.Time32ms,
		"long time-micros":            arrow.FixedWidthTypes.Time64us,
		"long timestamp-millis":       arrow.FixedWidthTypes.Timestamp_ms,
		"long timestamp-micros":       arrow.FixedWidthTypes.Timestamp_us,
		"long timestamp-nanos":        arrow.FixedWidthTypes.Timestamp_ns,
		"long local-timestamp-millis": &arrow.TimestampType{Unit: arrow.Millisecond},
		"long local-timestamp-micros": &arrow.TimestampType{Unit: arrow.Microsecond},
		"long local-timestamp-nanos":  &arrow.TimestampType{Unit: arrow.Nanosecond},
	}
)

// maxPrecision is that of 128-bit decimals.
const maxPrecision = 38

// leafType returns the type of a value's column. It returns nil for lists, whose length depends on
// the values, and the null type for values that no column can hold.
func leafType(c *avroCompiler, n *avro.SchemaNode, node *avroNode) arrow.DataType {
	if typ := avroLogical[n.Type+" "+n.LogicalType]; typ != nil {
		return typ
	}
	switch node.kind {
	case avroBytes, avroFixed:
		if n.LogicalType == "decimal" {
			if n.Scale > maxPrecision {
				return arrow.Null
			}
			node.decimal = true // a value beyond maxPrecision digits refuses its message
			return &arrow.Decimal128Type{Precision: int32(min(n.Precision, maxPrecision)), Scale: int32(n.Scale)}
		}
		if node.utf8 {
			return arrow.BinaryTypes.String
		}
		return arrow.BinaryTypes.Binary
	case avroArray:
		if node.numbers = c.isNumber(n.Items); node.numbers {
			return nil
		}
		return arrow.Null
	}
	if typ := avroPrimitives[node.kind]; typ != nil {
		return typ
	}
	return arrow.Null
}

// isNumber reports whether items are numbers, or numbers and nulls.
func (c *avroCompiler) isNumber(n *avro.SchemaNode) bool {
	n = c.resolve(n)
	if avroKinds[n.Type] == avroUnion {
		others := 0
		for i := range n.Branches {
			if branch := c.resolve(&n.Branches[i]); branch.Type != "null" && !c.isNumber(branch) {
				others++
			}
		}
		return others == 0
	}
	switch avroKinds[n.Type] {
	case avroInt, avroLong, avroFloat, avroDouble:
		return true
	}
	return false
}
