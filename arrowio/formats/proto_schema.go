package formats

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/eerf-stream/eerf/arrowio"
)

// protoField is one step in reading a message.
type protoField struct {
	kind    protoreflect.Kind
	special special
	column  int // noColumn = skipped
	list    bool
	unset   *cell  // the value of a missing field; nil = null
	text    string // text of unset
	enum    map[protoreflect.EnumNumber]string
	message *protoMessage // for flattened messages
	oneof   int           // index of its oneof, counted from 1; 0 = in no oneof
}

// special marks message types that represent a value.
type special uint8

const (
	plainMessage special = iota
	timestampMessage
	durationMessage
	wrapperMessage
	confluentDecimal // confluent.type.Decimal: unscaled bytes with a scale
	googleDecimal    // google.type.Decimal: a text
)

// protoMessage is a message to be flattened.
type protoMessage struct {
	number int // index among the messages of the plan
	fields map[protoreflect.FieldNumber]*protoField
	unset  []*protoField // fields that have a default when missing

	// The parts of the message, messages within it included, are contiguous.
	columns, messages, oneofs span32
}

// span32 is a range of indexes.
type span32 struct{ first, end int }

// protoPlan is a compiled message type.
type protoPlan struct {
	root     *protoMessage
	messages int
	oneofs   int // one more than there are, because indexes count from 1
	columns  []planned
	held     int64
}

func (p *protoPlan) columnsOf() []planned { return p.columns }

func (p *protoPlan) heldBytes() int64 { return p.held }

// schemaFile names the file of the schema itself.
const schemaFile = "schema.proto"

// compileProto parses a schema.
func compileProto(schema *Schema) (protoreflect.FileDescriptor, error) {
	if err := schema.Check(); err != nil {
		return nil, err
	}
	files, err := newProtoFiles(schema)
	if err != nil {
		return nil, err
	}
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(files), MaxParallelism: 1}
	found, err := compiler.Compile(context.Background(), schemaFile)
	if err != nil {
		return nil, badSchema(err)
	}
	return found[0], nil
}

// messageAt returns the type at a path of message indexes: the first is an index into the types of
// the file, the next into the types nested in it, and so on.
func messageAt(file protoreflect.FileDescriptor, indexes []int) (protoreflect.MessageDescriptor, error) {
	messages := file.Messages()
	var found protoreflect.MessageDescriptor
	for _, i := range indexes {
		if i < 0 || i >= messages.Len() {
			return nil, arrowio.Wrap(ErrBadSchema, "schema has no message %d; it has %d messages", i, messages.Len())
		}
		found = messages.Get(i)
		messages = found.Messages()
	}
	if found == nil {
		return nil, arrowio.Wrap(ErrBadSchema, "schema has no message")
	}
	return found, nil
}

// planProto makes the plan for the message type at the encoded message indexes. Empty indexes
// select the first type.
func planProto(schema *Schema, name string, w *wanted, maxColumns int) (plan, error) {
	indexes := []int{0}
	if name != "" {
		var err error
		if indexes, _, err = messageIndexes([]byte(name)); err != nil {
			return nil, err
		}
	}
	file, err := compileProto(schema)
	if err != nil {
		return nil, err
	}
	message, err := messageAt(file, indexes)
	if err != nil {
		return nil, err
	}
	c := protoCompiler{
		plan:       &protoPlan{oneofs: 1},
		maxColumns: maxColumns,
		enums:      make(map[protoreflect.FullName]map[protoreflect.EnumNumber]string),
	}
	if c.plan.root, err = c.message(message, "", 1); err != nil {
		return nil, err
	}
	if c.plan.columns, err = w.complete(c.plan.columns, maxColumns); err != nil {
		return nil, err
	}
	c.plan.held = int64(c.fields)*nodeCost + int64(len(c.plan.columns))*columnHeld + int64(c.nameBytes) + c.textBytes
	return c.plan, nil
}

type protoCompiler struct {
	plan       *protoPlan
	open       []protoreflect.FullName // the messages that enclose the current one
	maxColumns int
	enums      map[protoreflect.FullName]map[protoreflect.EnumNumber]string
	fields     int   // fields of all messages, plus one per message
	nameBytes  int   // bytes of the names of all fields
	textBytes  int64 // bytes of the names of enum values
}

// enum returns the names of an enum's values. They are copies, because the library's strings keep
// the whole schema alive.
func (c *protoCompiler) enum(e protoreflect.EnumDescriptor) map[protoreflect.EnumNumber]string {
	if known := c.enums[e.FullName()]; known != nil {
		return known
	}
	names := make(map[protoreflect.EnumNumber]string, e.Values().Len())
	for i := range e.Values().Len() {
		v := e.Values().Get(i)
		if _, aliased := names[v.Number()]; !aliased {
			names[v.Number()] = strings.Clone(string(v.Name()))
			c.textBytes += 2*symbolCost + int64(len(v.Name()))
		}
	}
	c.enums[e.FullName()] = names
	return names
}

// message flattens a message type. The names of its columns start with the prefix.
func (c *protoCompiler) message(d protoreflect.MessageDescriptor, prefix string, depth int) (*protoMessage, error) {
	if depth > MaxDepth {
		return nil, arrowio.Wrap(ErrBadSchema, "messages nested more than %d deep", MaxDepth)
	}
	if err := c.visit(prefix); err != nil {
		return nil, err
	}
	c.open = append(c.open, d.FullName())
	defer func() { c.open = c.open[:len(c.open)-1] }()
	m := &protoMessage{number: c.plan.messages, fields: make(map[protoreflect.FieldNumber]*protoField)}
	m.columns.first, m.messages.first, m.oneofs.first = len(c.plan.columns), c.plan.messages, c.plan.oneofs
	c.plan.messages++
	firstOneof := c.plan.oneofs
	c.plan.oneofs += d.Oneofs().Len()
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if err := c.visit(prefix, string(f.Name())); err != nil {
			return nil, err
		}
		made, err := c.field(f, prefix+string(f.Name()), depth)
		if err != nil {
			return nil, err
		}
		m.fields[f.Number()] = made
		if made.unset != nil {
			m.unset = append(m.unset, made)
		}
		if of := f.ContainingOneof(); of != nil && !of.IsSynthetic() {
			made.oneof = firstOneof + of.Index()
		}
	}
	m.columns.end, m.messages.end, m.oneofs.end = len(c.plan.columns), c.plan.messages, c.plan.oneofs
	return m, nil
}

// visit counts a message or a field, and its name, before its allocation.
func (c *protoCompiler) visit(name ...string) error {
	size := 0
	for _, part := range name {
		size += len(part)
	}
	c.nameBytes += size
	c.fields++
	switch {
	case size > maxName:
		return arrowio.Wrap(
			ErrBadSchema,
			"field %s has a path of %d bytes, at most %d",
			arrowio.Quote(name[len(name)-1]),
			size,
			maxName,
		)
	case c.nameBytes > maxPathBytes:
		return arrowio.Wrap(ErrBadSchema, "names of more than %d bytes", maxPathBytes)
	case c.fields > maxSchemaNodes:
		return arrowio.Wrap(ErrBadSchema, "schema expands to more than %d fields", maxSchemaNodes)
	}
	return nil
}

func (c *protoCompiler) field(f protoreflect.FieldDescriptor, name string, depth int) (*protoField, error) {
	made := &protoField{kind: f.Kind(), column: noColumn, list: f.IsList()}
	if f.Message() != nil && !f.IsList() && !f.IsMap() {
		made.special = specialOf(f.Message().FullName())
		flat := made.special == plainMessage && !isOpaque(f.Message().FullName())
		if flat && !slices.Contains(c.open, f.Message().FullName()) {
			var err error
			made.message, err = c.message(f.Message(), name+".", depth+1)
			return made, err
		}
	}
	if len(c.plan.columns) >= c.maxColumns {
		return nil, tooManyColumns(c.maxColumns)
	}
	typ, ok := c.protoType(f, made)
	if ok {
		made.column = len(c.plan.columns)
		made.setDefault(f)
	} else {
		typ = arrow.Null
	}
	c.plan.columns = append(c.plan.columns, planned{strings.Clone(name), typ})
	return made, nil
}

// specialOf recognises messages that represent a value.
func specialOf(name protoreflect.FullName) special {
	switch name {
	case "confluent.type.Decimal":
		return confluentDecimal
	case "google.type.Decimal":
		return googleDecimal
	}
	rest, ok := strings.CutPrefix(string(name), "google.protobuf.")
	switch {
	case !ok:
		return plainMessage
	case rest == "Timestamp":
		return timestampMessage
	case rest == "Duration":
		return durationMessage
	case strings.HasSuffix(rest, "Value") && rest != "Value" && rest != "ListValue" && rest != "NullValue" &&
		rest != "EnumValue":
		return wrapperMessage
	}
	return plainMessage
}

// isOpaque recognises messages that can hold any value and therefore fit no column.
func isOpaque(name protoreflect.FullName) bool {
	switch name {
	case "google.protobuf.Any", "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue":
		return true
	}
	return false
}

// protoType returns the type of a field's column, or nil for lists, whose length depends on the
// messages. A wrapper has the kind of the wrapped value.
func (c *protoCompiler) protoType(f protoreflect.FieldDescriptor, made *protoField) (arrow.DataType, bool) {
	if f.IsMap() {
		return nil, false
	}
	switch made.special {
	case timestampMessage:
		return arrow.FixedWidthTypes.Timestamp_us, true
	case durationMessage, confluentDecimal, googleDecimal:
		return arrow.PrimitiveTypes.Float64, true
	case wrapperMessage:
		f = f.Message().Fields().ByNumber(1)
		made.kind = f.Kind()
	}
	typ := protoTypes[made.kind]
	switch {
	case made.kind == protoreflect.EnumKind:
		made.enum = c.enum(f.Enum())
	case typ == nil:
		return nil, false
	}
	if made.list {
		return nil, arrow.IsInteger(typ.ID()) || arrow.IsFloating(typ.ID())
	}
	return typ, true
}

var protoTypes = map[protoreflect.Kind]arrow.DataType{
	protoreflect.BoolKind: arrow.FixedWidthTypes.Boolean, protoreflect.EnumKind: arrow.BinaryTypes.String,
	protoreflect.Int32Kind: arrow.PrimitiveTypes.Int32, protoreflect.Sint32Kind: arrow.PrimitiveTypes.Int32,
	protoreflect.Sfixed32Kind: arrow.PrimitiveTypes.Int32, protoreflect.Uint32Kind: arrow.PrimitiveTypes.Uint32,
	protoreflect.Fixed32Kind: arrow.PrimitiveTypes.Uint32, protoreflect.Int64Kind: arrow.PrimitiveTypes.Int64,
	protoreflect.Sint64Kind: arrow.PrimitiveTypes.Int64, protoreflect.Sfixed64Kind: arrow.PrimitiveTypes.Int64,
	protoreflect.Uint64Kind: arrow.PrimitiveTypes.Uint64, protoreflect.Fixed64Kind: arrow.PrimitiveTypes.Uint64,
	protoreflect.FloatKind: arrow.PrimitiveTypes.Float32, protoreflect.DoubleKind: arrow.PrimitiveTypes.Float64,
	protoreflect.StringKind: arrow.BinaryTypes.String, protoreflect.BytesKind: arrow.BinaryTypes.Binary,
}

// setDefault sets the value of a missing field: the zero of its kind if the field has no presence,
// else null. Null also stands for a field with a declared default, because a missing value is
// imputed from data, which a schema's author could not know.
func (p *protoField) setDefault(f protoreflect.FieldDescriptor) {
	if p.list || p.special != plainMessage || f.HasPresence() {
		return
	}
	p.unset = &cell{kind: zeroKind(p.kind)}
	if p.kind == protoreflect.EnumKind {
		p.text = p.enum[f.Default().Enum()]
	}
}

// zeroKind returns the cell kind for a field kind. A cell of that kind without bits and text is
// zero.
func zeroKind(k protoreflect.Kind) cellKind {
	switch k {
	case protoreflect.BoolKind:
		return cellBool
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.EnumKind:
		return cellText
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return cellFloat
	default:
		return cellWhole
	}
}
