package formats

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/eerf-stream/eerf/arrowio"
)

// wireType returns the wire type of a kind.
func wireType(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	case protoreflect.FloatKind, protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		return protowire.Fixed32Type
	case protoreflect.DoubleKind, protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		return protowire.Fixed64Type
	default:
		return protowire.VarintType
	}
}

// wireType is the wire type of a field's values.
func (f *protoField) wireType() protowire.Type {
	if f.special != plainMessage { // kind is that of the value
		return protowire.BytesType
	}
	return wireType(f.kind)
}

// scalar makes a cell of a value; strings and bytes come without their length.
func (r *protoReader) scalar(f *protoField, raw []byte) (cell, error) {
	switch f.kind {
	case protoreflect.StringKind, protoreflect.BytesKind:
		if f.kind == protoreflect.StringKind && !utf8.Valid(raw) {
			return cell{}, arrowio.Wrap(ErrProtobuf, "string is not UTF-8")
		}
		bits, err := r.table.addText(raw)
		return cell{cellText, bits}, err
	case protoreflect.EnumKind:
		v, n := protowire.ConsumeVarint(raw)
		if n < 0 {
			return cell{}, badProto(n)
		}
		return r.enum(f, int32(v))
	default:
		one, n := number(f.kind, raw)
		if n < 0 {
			return cell{}, badProto(n)
		}
		return one, nil
	}
}

// enum returns the name of a value, or its number if the value has no name.
func (r *protoReader) enum(f *protoField, v int32) (cell, error) {
	text, known := f.enum[protoreflect.EnumNumber(v)]
	if !known {
		text = strconv.Itoa(int(v))
	}
	bits, err := r.table.addText([]byte(text))
	return cell{cellText, bits}, err
}

// number reads a number or a boolean; n < 0 if raw is malformed.
func number(kind protoreflect.Kind, raw []byte) (one cell, n int) {
	switch wireType(kind) {
	case protowire.Fixed32Type:
		v, n := protowire.ConsumeFixed32(raw)
		if kind == protoreflect.FloatKind {
			return cell{cellFloat, math.Float64bits(float64(math.Float32frombits(v)))}, n
		}
		if kind == protoreflect.Sfixed32Kind {
			return cell{cellWhole, uint64(int64(int32(v)))}, n
		}
		return cell{cellWhole, uint64(v)}, n
	case protowire.Fixed64Type:
		v, n := protowire.ConsumeFixed64(raw)
		if kind == protoreflect.DoubleKind {
			return cell{cellFloat, v}, n
		}
		return cell{cellWhole, v}, n
	default:
		v, n := protowire.ConsumeVarint(raw)
		return varint(kind, v), n
	}
}

// varint makes a cell of a variable-length number.
func varint(kind protoreflect.Kind, v uint64) cell {
	switch kind {
	case protoreflect.BoolKind:
		return cell{cellBool, min(v, 1)}
	case protoreflect.Int32Kind:
		v = uint64(int64(int32(v)))
	case protoreflect.Uint32Kind:
		v = uint64(uint32(v))
	case protoreflect.Sint32Kind:
		v = uint64(int64(int32(protowire.DecodeZigZag(v & math.MaxUint32))))
	case protoreflect.Sint64Kind:
		v = uint64(protowire.DecodeZigZag(v))
	default: // 64 bits as they are
	}
	return cell{cellWhole, v}
}

// specialValue reads a message that represents a value.
func (r *protoReader) specialValue(f *protoField, body []byte) error {
	switch f.special {
	case wrapperMessage:
		return r.wrapped(f, body)
	case confluentDecimal, googleDecimal:
		v, err := decimalOf(f.special, body)
		r.row[f.column] = cell{cellFloat, math.Float64bits(v)}
		return err
	}
	const seconds, nanos = 1, 2
	var whole, fraction int64
	for len(body) > 0 {
		number, typ, value, rest, err := nextField(body)
		if err != nil {
			return err
		}
		if typ == protowire.VarintType {
			v, _ := protowire.ConsumeVarint(value)
			if number == seconds {
				whole = int64(v)
			} else if number == nanos {
				fraction = int64(int32(v))
			}
		}
		body = rest
	}
	const most = 315576000000 // seconds in ten thousand years, the bound of Protobuf
	if whole < -most || whole > most || fraction <= -1e9 || fraction >= 1e9 {
		return arrowio.Wrap(ErrProtobuf, "time of %d seconds and %d ns is out of range", whole, fraction)
	}
	if f.special == durationMessage {
		r.row[f.column] = cell{cellFloat, math.Float64bits(float64(whole) + float64(fraction)/1e9)}
	} else {
		r.row[f.column] = cell{cellWhole, uint64(whole*1e6 + fraction/1e3)}
	}
	return nil
}

// wrapped reads the value in a wrapper. An empty wrapper has the default of its kind.
func (r *protoReader) wrapped(f *protoField, body []byte) error {
	found := cell{kind: zeroKind(f.kind)}
	for len(body) > 0 {
		number, typ, raw, rest, err := nextField(body)
		if err != nil {
			return err
		}
		if number == 1 && typ == wireType(f.kind) {
			if typ == protowire.BytesType {
				raw, _ = protowire.ConsumeBytes(raw)
			}
			one, err := r.scalar(f, raw)
			if err != nil {
				return err
			}
			found = one
		}
		body = rest
	}
	r.row[f.column] = found
	return nil
}

// Bounds on decimals in messages.
const (
	maxDecimalBytes = 64
	maxDecimalScale = 1 << 10
)

// decimalOf returns the number in a message that represents a decimal, rounded to float64.
func decimalOf(form special, body []byte) (float64, error) {
	const valueField, scaleField = 1, 3
	var value []byte
	var scale int64
	for len(body) > 0 {
		number, typ, raw, rest, err := nextField(body)
		if err != nil {
			return 0, err
		}
		switch {
		case number == valueField && typ == protowire.BytesType:
			value, _ = protowire.ConsumeBytes(raw)
		case number == scaleField && typ == protowire.VarintType && form == confluentDecimal:
			v, _ := protowire.ConsumeVarint(raw)
			scale = int64(int32(v))
		}
		body = rest
	}
	if len(value) > maxDecimalBytes || scale < -maxDecimalScale || scale > maxDecimalScale {
		return 0, tooLarge("decimal of %d bytes and scale %d", len(value), scale)
	}
	text := string(value)
	if form == confluentDecimal {
		text = fmt.Sprintf("%de%d", signedInteger(value), -scale)
	}
	if len(value) == 0 { // the default of both messages
		return 0, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "+-.0123456789eE") != "" {
		return 0, arrowio.Wrap(ErrProtobuf, "decimal %s is not a number", arrowio.Quote(text))
	}
	return v, nil
}

// signedInteger returns a big-endian two's complement integer.
func signedInteger(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}
