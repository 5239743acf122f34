package formats

import (
	"encoding/binary"
	"errors"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/eerf-stream/eerf/arrowio"
)

// protoReader reads Protobuf messages into a table. A message is a row.
type protoReader struct {
	table *table
	row   []cell // of the current message
	begun []bool // messages of the plan that occur in the current message
	// chosen are the members of oneofs that the current message has, by index of the oneof.
	chosen []*protoField
	steps  int64 // cells that may still be cleared, because another member of a oneof follows

	planner planner
}

// ErrProtobuf reports bytes that do not match their Protobuf schema.
var ErrProtobuf = errors.New("message does not match its Protobuf schema")

var protobufFormat = format{
	name: Protobuf, fault: ErrProtobuf, registered: "PROTOBUF",
	check: func(text string) error {
		_, err := planProto(&Schema{Format: Protobuf, Text: text}, "", nil, maxSchemaNodes)
		return err
	},
	reader: func(o *Options, w *wanted) messageReader {
		return &protoReader{planner: newPlanner(Protobuf, o, w, planProto)}
	},
}

// read reads a message of the type that it names, or of the first type of the configured schema.
func (r *protoReader) read(t *table, m message) error {
	schema, err := r.planner.schemaOf(m)
	if err != nil {
		return err
	}
	rest, indexes := m.body, m.indexes
	if m.schema != nil && !m.inHeader {
		if rest, err = skipIndexes(m.body); err != nil {
			return err
		}
		indexes = m.body[:len(m.body)-len(rest)]
	}
	found, err := r.planner.of(schema, indexes)
	if err != nil {
		return err
	}
	if err := t.bind(found); err != nil {
		return err
	}
	return r.readRow(t, rest, found.(*protoPlan))
}

// skipIndexes skips the message indexes, see messageIndexes.
func skipIndexes(body []byte) ([]byte, error) {
	if len(body) > 0 && body[0] == 0 { // the first type, the common case
		return body[1:], nil
	}
	_, rest, err := messageIndexes(body)
	return rest, err
}

// messageIndexes reads the message indexes, which select the type of a message within its schema.
func messageIndexes(body []byte) (indexes []int, rest []byte, err error) {
	count, n := binary.Varint(body)
	if n <= 0 || count < 0 || count > MaxDepth {
		return nil, nil, arrowio.Wrap(ErrProtobuf, "message indexes are missing")
	}
	rest = body[n:]
	if count == 0 {
		return []int{0}, rest, nil
	}
	for range count {
		i, n := binary.Varint(rest)
		if n <= 0 || i < 0 || i > math.MaxInt32 {
			return nil, nil, arrowio.Wrap(ErrProtobuf, "message indexes are missing")
		}
		indexes, rest = append(indexes, int(i)), rest[n:]
	}
	return indexes, rest, nil
}

// readRow reads a message as a row.
func (r *protoReader) readRow(t *table, body []byte, plan *protoPlan) error {
	r.table = t
	defer func() { r.table = nil }()
	r.row = append(r.row[:0], make([]cell, len(plan.columns))...)
	r.begun = append(r.begun[:0], make([]bool, plan.messages)...)
	r.chosen = append(r.chosen[:0], make([]*protoField, plan.oneofs)...)
	r.steps = int64(len(body)) + extraSteps
	if err := r.message(plan.root, body); err != nil {
		return err
	}
	for at, one := range r.row {
		if one.kind == cellNull {
			continue
		}
		if _, err := t.put(at, one.kind, one.bits); err != nil {
			return err
		}
	}
	return t.endRow()
}

// message reads the fields of a message. Protobuf allows a message to be split into several pieces.
func (r *protoReader) message(m *protoMessage, body []byte) error {
	if !r.begun[m.number] {
		r.begun[m.number] = true
		for _, f := range m.unset {
			one := *f.unset
			if one.kind == cellText {
				bits, err := r.table.addText([]byte(f.text))
				if err != nil {
					return err
				}
				one.bits = bits
			}
			r.row[f.column] = one
		}
	}
	for len(body) > 0 {
		number, typ, value, rest, err := nextField(body)
		if err != nil {
			return err
		}
		if f := m.fields[number]; f != nil {
			if err := r.field(f, number, typ, value); err != nil {
				return err
			}
		}
		body = rest
	}
	return nil
}

func badProto(n int) error { return arrowio.Wrap(ErrProtobuf, "%v", protowire.ParseError(n)) }

// field reads a field of a message. A field whose wire type does not match its kind is unknown, as
// in the official implementations.
func (r *protoReader) field(f *protoField, number protowire.Number, typ protowire.Type, raw []byte) error {
	packed := f.list && typ == protowire.BytesType
	if typ != f.wireType() && !packed {
		return nil
	}
	if err := r.choose(f); err != nil {
		return err
	}
	n := 0
	switch typ {
	case protowire.BytesType:
		raw, n = protowire.ConsumeBytes(raw)
	case protowire.StartGroupType:
		raw, n = protowire.ConsumeGroup(number, raw)
	}
	switch {
	case n < 0:
		return badProto(n)
	case f.message != nil:
		return r.message(f.message, raw)
	case f.column == noColumn:
		return nil
	case packed:
		return r.packed(f, raw)
	case f.list:
		return r.element(f, raw)
	case f.special != plainMessage:
		return r.specialValue(f, raw)
	}
	one, err := r.scalar(f, raw)
	if err == nil {
		r.row[f.column] = one
	}
	return err
}

// choose clears another member of the field's oneof: the last one counts.
func (r *protoReader) choose(f *protoField) error {
	if f.oneof == 0 || r.chosen[f.oneof] == f {
		return nil
	}
	before := r.chosen[f.oneof]
	r.chosen[f.oneof] = f
	switch {
	case before == nil:
	case before.message != nil:
		m := before.message
		r.steps -= int64(m.columns.end - m.columns.first + m.messages.end - m.messages.first + m.oneofs.end - m.oneofs.first)
		if r.steps < 0 {
			return tooLarge("members of oneofs that replace each other clear more than %d values", extraSteps)
		}
		clear(r.row[m.columns.first:m.columns.end])
		clear(r.begun[m.messages.first:m.messages.end])
		clear(r.chosen[m.oneofs.first:m.oneofs.end])
	case before.column != noColumn:
		r.row[before.column] = cell{}
	}
	return nil
}

// packed adds the elements of a packed list.
func (r *protoReader) packed(f *protoField, body []byte) error {
	for len(body) > 0 {
		one, n := number(f.kind, body)
		if n < 0 {
			return badProto(n)
		}
		if err := r.append(f, one); err != nil {
			return err
		}
		body = body[n:]
	}
	return nil
}

// element adds a single element of a list.
func (r *protoReader) element(f *protoField, raw []byte) error {
	one, n := number(f.kind, raw)
	if n < 0 {
		return badProto(n)
	}
	return r.append(f, one)
}

// append adds a number to a list. The numbers of a list must be contiguous, so a list that
// continues after another one is moved.
func (r *protoReader) append(f *protoField, one cell) error {
	t := r.table
	at, n := r.row[f.column].span()
	if r.row[f.column].kind == cellNull {
		at = len(t.numbers)
	}
	if at+n != len(t.numbers) {
		moved, err := arrowio.Grow(&t.budget, &t.numberRoom, t.numbers, n)
		if err != nil {
			return err
		}
		t.numbers = append(moved, moved[at:at+n]...)
		at = len(t.numbers) - n
	}
	v := one.float()
	if unsigned(f.kind) {
		v = float64(one.bits)
	}
	if err := t.addNumber(v); err != nil {
		return err
	}
	r.row[f.column] = cell{cellList, span(at, n+1)}
	return nil
}

func unsigned(k protoreflect.Kind) bool {
	return k == protoreflect.Uint64Kind || k == protoreflect.Fixed64Kind
}

// nextField splits the first field off a message: its number, its wire type and its encoded value.
func nextField(body []byte) (number protowire.Number, typ protowire.Type, value, rest []byte, err error) {
	number, typ, n := protowire.ConsumeTag(body)
	if n < 0 {
		return 0, 0, nil, nil, badProto(n)
	}
	body = body[n:]
	if n = protowire.ConsumeFieldValue(number, typ, body); n < 0 {
		return 0, 0, nil, nil, badProto(n)
	}
	return number, typ, body[:n], body[n:], nil
}
