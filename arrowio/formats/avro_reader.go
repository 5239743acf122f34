package formats

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow/decimal128"

	"github.com/eerf-stream/eerf/arrowio"
)

// avroReader reads Avro messages into a table.
type avroReader struct {
	table *table
	rest  []byte
	steps int64 // items that may still be read; items without bytes cost time too

	planner planner
}

// ErrAvro reports bytes that do not match their Avro schema.
var ErrAvro = errors.New("message does not match its Avro schema")

var avroFormat = format{
	name: Avro, fault: ErrAvro, registered: "AVRO",
	check: func(text string) error {
		_, err := compileAvro(&Schema{Format: Avro, Text: text}, nil, maxSchemaNodes)
		return err
	},
	reader: func(o *Options, w *wanted) messageReader {
		return &avroReader{
			planner: newPlanner(Avro, o, w, func(s *Schema, _ string, w *wanted, maxColumns int) (plan, error) {
				return compileAvro(s, w, maxColumns)
			}),
		}
	},
}

// extraSteps is how many items a message may have beyond one for each of its bytes.
const extraSteps = 1 << 20

// read reads the rows of a message. The message is a single value.
func (r *avroReader) read(t *table, m message) error {
	schema, err := r.planner.schemaOf(m)
	if err != nil {
		return err
	}
	found, err := r.planner.of(schema, nil)
	if err != nil {
		return err
	}
	if err := t.bind(found); err != nil {
		return err
	}
	plan := found.(*avroPlan)
	r.table, r.rest, r.steps = t, m.body, int64(len(m.body))+extraSteps
	defer func() { r.table, r.rest = nil, nil }()
	if plan.root.kind == avroRecord {
		err = r.row(plan.root)
	} else {
		err = r.items(func() error { return r.row(plan.root.parts[0]) })
	}
	if err == nil && len(r.rest) > 0 {
		err = arrowio.Wrap(ErrAvro, "%d bytes follow the last value", len(r.rest))
	}
	return err
}

// row reads a record as a row.
func (r *avroReader) row(record *avroNode) error {
	if err := r.value(record, 0); err != nil {
		return err
	}
	return r.table.endRow()
}

// put sets the value of a column; noColumn ignores it.
func (r *avroReader) put(column int, kind cellKind, bits uint64) error {
	if column == noColumn {
		return nil
	}
	_, err := r.table.put(column, kind, bits)
	return err
}

// value reads a value.
func (r *avroReader) value(n *avroNode, depth int) error {
	if depth > 4*MaxDepth { // unions and records take one level each
		return tooLarge("values nested more than %d deep", 4*MaxDepth)
	}
	if n.empty {
		return nil
	}
	switch n.kind {
	case avroBool:
		return r.boolean(n)
	case avroInt, avroLong, avroFloat, avroDouble:
		one, err := r.number(n.kind)
		if err != nil {
			return err
		}
		return r.put(n.column, one.kind, one.bits)
	case avroEnum:
		return r.enum(n)
	case avroBytes, avroFixed:
		return r.bytes(n)
	case avroRecord:
		for _, part := range n.parts {
			if err := r.value(part, depth+1); err != nil {
				return err
			}
		}
		return nil
	case avroUnion:
		branch, err := r.branch(n)
		if err != nil {
			return err
		}
		return r.value(branch, depth+1)
	case avroArray:
		if n.column != noColumn && n.numbers {
			return r.list(n)
		}
		return r.items(func() error { return r.value(n.parts[0], depth+1) })
	default: // a map
		return r.items(func() error {
			if err := r.bytes(&avroNode{kind: avroBytes, column: noColumn}); err != nil {
				return err
			}
			return r.value(n.parts[0], depth+1)
		})
	}
}

func (r *avroReader) boolean(n *avroNode) error {
	b, err := r.take(1)
	if err != nil {
		return err
	}
	if b[0] > 1 {
		return arrowio.Wrap(ErrAvro, "boolean with value %d", b[0])
	}
	return r.put(n.column, cellBool, uint64(b[0]))
}

// take returns the next n bytes.
func (r *avroReader) take(n int64) ([]byte, error) {
	if n < 0 || n > int64(len(r.rest)) {
		return nil, arrowio.Wrap(ErrAvro, "need %d bytes, have %d", n, len(r.rest))
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b, nil
}

// long reads a variable-length integer.
func (r *avroReader) long() (int64, error) {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		return 0, arrowio.Wrap(ErrAvro, "truncated number")
	}
	r.rest = r.rest[n:]
	return v, nil
}

func (r *avroReader) number(kind avroKind) (cell, error) {
	switch kind {
	case avroFloat:
		b, err := r.take(4)
		if err != nil {
			return cell{}, err
		}
		return cell{cellFloat, math.Float64bits(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))}, nil
	case avroDouble:
		b, err := r.take(8)
		if err != nil {
			return cell{}, err
		}
		return cell{cellFloat, binary.LittleEndian.Uint64(b)}, nil
	}
	v, err := r.long()
	if err == nil && kind == avroInt && int64(int32(v)) != v {
		err = arrowio.Wrap(ErrAvro, "int with value %d", v)
	}
	return cell{cellWhole, uint64(v)}, err
}

func (r *avroReader) branch(n *avroNode) (*avroNode, error) {
	i, err := r.long()
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= int64(len(n.parts)) {
		return nil, arrowio.Wrap(ErrAvro, "branch %d of a union with %d branches", i, len(n.parts))
	}
	return n.parts[i], nil
}

func (r *avroReader) enum(n *avroNode) error {
	i, err := r.long()
	if err != nil {
		return err
	}
	if i < 0 || i >= int64(len(n.symbols)) {
		return arrowio.Wrap(ErrAvro, "symbol %d of an enum with %d symbols", i, len(n.symbols))
	}
	if n.column == noColumn {
		return nil
	}
	bits, err := r.table.addText([]byte(n.symbols[i]))
	if err != nil {
		return err
	}
	return r.put(n.column, cellText, bits)
}

// bytes reads a string, bytes, or a decimal stored as bytes.
func (r *avroReader) bytes(n *avroNode) error {
	size := int64(n.size)
	if n.kind == avroBytes {
		var err error
		if size, err = r.long(); err != nil {
			return err
		}
	}
	b, err := r.take(size)
	if err != nil || n.column == noColumn {
		return err
	}
	if n.utf8 && !utf8.Valid(b) {
		return arrowio.Wrap(ErrAvro, "string is not UTF-8")
	}
	if n.decimal {
		var wide [16]byte
		if !widen(&wide, b) || !decimal128.New(
			int64(binary.LittleEndian.Uint64(wide[8:])),
			binary.LittleEndian.Uint64(wide[:8]),
		).FitsInPrecision(maxPrecision) {
			return arrowio.Wrap(ErrAvro, "decimal of %d bytes has more than %d digits", len(b), maxPrecision)
		}
		b = wide[:]
	}
	bits, err := r.table.addText(b)
	if err != nil {
		return err
	}
	return r.put(n.column, cellText, bits)
}

// widen converts a big-endian two's complement number to 16 bytes, little-endian.
func widen(dst *[16]byte, b []byte) bool {
	sign := byte(0)
	if len(b) > 0 && b[0] >= 0x80 {
		sign = 0xff
	}
	for len(b) > len(dst) && b[0] == sign {
		b = b[1:]
	}
	if len(b) > len(dst) || len(b) == len(dst) && (b[0] >= 0x80) != (sign != 0) {
		return false
	}
	for i := range dst {
		dst[i] = sign
	}
	for i, v := range b {
		dst[len(b)-1-i] = v
	}
	return true
}

// items reads the blocks of an array or map.
func (r *avroReader) items(one func() error) error {
	for {
		n, err := r.long()
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		if n < 0 {
			if _, err := r.long(); err != nil { // the block's size, for readers that skip it
				return err
			}
			if n = -n; n < 0 {
				return arrowio.Wrap(ErrAvro, "block of %d items", n)
			}
		}
		if r.steps -= n; r.steps < 0 || n > int64(len(r.rest))+extraSteps {
			return tooLarge("block of %d items in %d bytes", n, len(r.rest))
		}
		for range n {
			if err := one(); err != nil {
				return err
			}
		}
	}
}

// list reads an array of numbers.
func (r *avroReader) list(n *avroNode) error {
	at := len(r.table.numbers)
	item := n.parts[0]
	err := r.items(func() error {
		node := item
		for node.kind == avroUnion {
			var err error
			if node, err = r.branch(node); err != nil {
				return err
			}
		}
		v := math.Float64frombits(nullNumber)
		if node.kind != avroNull {
			one, err := r.number(node.kind)
			if err != nil {
				return err
			}
			v = one.float()
		}
		return r.table.addNumber(v)
	})
	if err != nil {
		return err
	}
	return r.put(n.column, cellList, span(at, len(r.table.numbers)-at))
}
