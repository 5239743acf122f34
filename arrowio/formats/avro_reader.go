package formats

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"
)

func wholeCell(v int64) *cell   { return &cell{cellWhole, uint64(v)} }
func floatCell(v float64) *cell { return &cell{cellFloat, math.Float64bits(v)} }

// avroReader reads Avro messages into a table.
type avroReader struct {
	table *table
	rest  []byte
	steps int64 // items that may still be read: those without bytes cost time too

	given  string // the schema for messages that name none, and the reader's schema for the others
	wanted *wanted

	plans     plans[*avroPlan]
	reader    *avroPlan // for given
	plain     *avroPlan // for given, for messages that name none
	container container
}

// extraSteps is how many items a message may have beyond one for each of its bytes.
const extraSteps = 1 << 20

// readFramed reads a message whose schema is in the registry.
func (r *avroReader) readFramed(t *table, body []byte, id uint32, schema *Schema) error {
	plan, err := r.plans.get(id, schema, func(s *Schema) (*avroPlan, error) {
		return r.compile(&budget{math.MaxInt64, math.MaxInt64}, s)
	})
	if err != nil {
		return err
	}
	return r.message(t, body, plan)
}

// compile makes the plan for a writer's schema.
func (r *avroReader) compile(room *budget, schema *Schema) (*avroPlan, error) {
	if r.reader == nil && r.given != "" {
		reader, err := compileReader(r.given)
		if err != nil {
			return nil, err
		}
		r.reader = reader
	}
	made, err := compileAvroWithin(room, schema)
	if err != nil {
		return nil, err
	}
	return made.forReader(r.reader, r.wanted), nil
}

// readPlain reads a message that does not name a schema: either a container, which includes its schema, or a
// record of the given schema.
func (r *avroReader) readPlain(t *table, value []byte) error {
	if bytes.HasPrefix(value, []byte(containerMagic)) {
		return r.readContainer(t, value)
	}
	if r.given == "" {
		return wrap(ErrUnknownSchema, "the message names none that is known: set events.schema, or registry.url for messages that name one")
	}
	if r.plain == nil {
		made, err := compileReader(r.given)
		if err != nil {
			return err
		}
		r.plain = made.forReader(nil, r.wanted)
	}
	return r.message(t, value, r.plain)
}

// message reads the rows of a message that is a single value.
func (r *avroReader) message(t *table, body []byte, plan *avroPlan) error {
	if err := r.begin(t, body, plan); err != nil {
		return err
	}
	defer r.end()
	if plan.root.kind == avroRecord {
		if err := r.row(plan, plan.root); err != nil {
			return err
		}
	} else if err := r.items(func() error { return r.row(plan, plan.root.parts[0]) }); err != nil {
		return err
	}
	if len(r.rest) > 0 {
		return wrap(ErrAvro, "%d bytes behind the last value", len(r.rest))
	}
	return nil
}

func (r *avroReader) begin(t *table, body []byte, plan *avroPlan) error {
	r.table, r.rest, r.steps = t, body, int64(len(body))+extraSteps
	return t.bind(plan, plan.columns)
}

func (r *avroReader) end() { r.table, r.rest = nil, nil }

// row reads a record as a row.
func (r *avroReader) row(plan *avroPlan, record *avroNode) error {
	if err := r.value(record, 0); err != nil {
		return err
	}
	for _, c := range plan.constants {
		value := c.value
		if value.kind == cellText {
			bits, err := r.table.addText([]byte(c.text))
			if err != nil {
				return err
			}
			value.bits = bits
		}
		if err := r.put(c.column, value.kind, value.bits); err != nil {
			return err
		}
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
	if depth > 4*MaxDepth { // unions and records each take one
		return tooLarge("values in values, more than %d deep", 4*MaxDepth)
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
		return wrap(ErrAvro, "a boolean of %d", b[0])
	}
	return r.put(n.column, cellBool, uint64(b[0]))
}

// take returns the next n bytes.
func (r *avroReader) take(n int64) ([]byte, error) {
	if n < 0 || n > int64(len(r.rest)) {
		return nil, wrap(ErrAvro, "%d bytes wanted, %d left", n, len(r.rest))
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b, nil
}

// long reads a variable-length integer.
func (r *avroReader) long() (int64, error) {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		return 0, wrap(ErrAvro, "a whole number that does not end")
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
		return *floatCell(float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))), nil
	case avroDouble:
		b, err := r.take(8)
		if err != nil {
			return cell{}, err
		}
		return cell{cellFloat, binary.LittleEndian.Uint64(b)}, nil
	}
	v, err := r.long()
	if err == nil && kind == avroInt && int64(int32(v)) != v {
		err = wrap(ErrAvro, "an int of %d", v)
	}
	return *wholeCell(v), err
}

func (r *avroReader) branch(n *avroNode) (*avroNode, error) {
	i, err := r.long()
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= int64(len(n.parts)) {
		return nil, wrap(ErrAvro, "branch %d of a union of %d", i, len(n.parts))
	}
	return n.parts[i], nil
}

func (r *avroReader) enum(n *avroNode) error {
	i, err := r.long()
	if err != nil {
		return err
	}
	if i < 0 || i >= int64(len(n.symbols)) {
		return wrap(ErrAvro, "symbol %d of %d", i, len(n.symbols))
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
		return wrap(ErrAvro, "a string that is not UTF-8")
	}
	if n.decimal {
		var wide [16]byte
		if !widen(&wide, b) {
			return wrap(ErrAvro, "a decimal of %d bytes", len(b))
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
				return wrap(ErrAvro, "a block of %d items", n)
			}
		}
		if r.steps -= n; r.steps < 0 || n > int64(len(r.rest))+extraSteps {
			return tooLarge("a block of %d items in %d bytes", n, len(r.rest))
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
