package formats

import (
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/twmb/avro"

	"github.com/eerf-stream/eerf/arrowio"
)

// avroKind is how a value is written.
type avroKind uint8

const (
	avroNull avroKind = iota
	avroBool
	avroInt
	avroLong
	avroFloat
	avroDouble
	avroBytes // strings too
	avroFixed
	avroEnum
	avroArray
	avroMap
	avroUnion
	avroRecord
)

var avroKinds = map[string]avroKind{
	"null": avroNull, "boolean": avroBool, "int": avroInt, "long": avroLong, "float": avroFloat, "double": avroDouble,
	"bytes": avroBytes, "string": avroBytes, "fixed": avroFixed, "enum": avroEnum, "array": avroArray, "map": avroMap,
	"union": avroUnion, "record": avroRecord, "error": avroRecord,
}

// noColumn is the column of values that are skipped.
const noColumn = -1

// avroNode is one step in reading a message.
type avroNode struct {
	kind    avroKind
	column  int // of a value, a list or an enum; noColumn = skipped
	utf8    bool
	decimal bool
	empty   bool     // its values have no bytes and no columns
	numbers bool     // of an array: its items are numbers, and a column takes them
	size    int      // of fixed
	symbols []string // of an enum
	parts   []*avroNode
}

// avroColumn is a leaf of a schema.
type avroColumn struct {
	paths    []string // its name, and its names by aliases
	typ      arrow.DataType
	fallback *cell // of a reader's schema: the value if a writer has none
	text     string
	unfit    bool // its type cannot hold its default
}

// avroPlan is what a schema is compiled to.
type avroPlan struct {
	root    *avroNode // a record, or an array of them
	leaves  []avroColumn
	columns []planned
	// constants are columns that the message lacks and the reader's schema has a default for.
	constants []constant
}

// constant is a column with one value in all rows.
type constant struct {
	column int
	value  cell
	text   string
}

// maxPaths bounds the names that aliases can give a column.
const maxPaths = 16

// Bounds on how far a schema may expand: a record is expanded again wherever it is named.
const (
	maxSchemaColumns = 1 << 16
	maxSchemaNodes   = 1 << 16
	maxPathBytes     = 4 << 20 // of the names of all columns, with those by aliases
)

// compileAvro makes the plan for a schema.
func compileAvro(schema *Schema) (*avroPlan, error) {
	if err := schema.checkSize(); err != nil {
		return nil, err
	}
	c := &avroCompiler{
		named: make(map[string]*avro.SchemaNode), short: make(map[string]*avro.SchemaNode), ambiguous: make(map[string]bool),
		full: make(map[*avro.SchemaNode]string), passing: make(map[*avro.SchemaNode]*avroNode),
	}
	var cache avro.SchemaCache
	for _, ref := range schema.References {
		parsed, err := cache.Parse(ref.Text)
		if err != nil {
			return nil, arrowio.Wrap(ErrBadSchema, "%s, which it refers to: %v", arrowio.Quote(ref.Name), err)
		}
		if err := c.name(parsed.Root()); err != nil {
			return nil, err
		}
	}
	parsed, err := cache.Parse(schema.Text)
	if err != nil {
		return nil, arrowio.Wrap(ErrBadSchema, "%v", err)
	}
	root := parsed.Root()
	if err := c.name(root); err != nil {
		return nil, err
	}
	node := c.resolve(root)
	if node.Type == "array" && node.Items != nil {
		node = c.resolve(node.Items)
	}
	if avroKinds[node.Type] != avroRecord {
		return nil, arrowio.Wrap(ErrBadSchema, "a message is to be a record or an array of records, not %s", arrowio.Quote(node.Type))
	}
	record, err := c.record(node, []string{""}, 1, nil)
	if err != nil {
		return nil, err
	}
	plan := &avroPlan{root: record, leaves: c.leaves}
	if top := c.resolve(root); top != node {
		plan.root = &avroNode{kind: avroArray, column: noColumn, parts: []*avroNode{record}}
	}
	for _, leaf := range c.leaves {
		plan.columns = append(plan.columns, planned{leaf.paths[0], leaf.typ})
	}
	return plan, nil
}

// compileReader makes the plan for a reader's schema, where defaults count.
func compileReader(text string) (*avroPlan, error) {
	plan, err := compileAvro(&Schema{Format: Avro, Text: text})
	if err != nil {
		return nil, err
	}
	for _, leaf := range plan.leaves {
		if leaf.unfit {
			return nil, arrowio.Wrap(ErrBadSchema, "the default of %s does not fit its type", arrowio.Quote(leaf.paths[0]))
		}
	}
	return plan, nil
}

// avroCompiler makes one plan.
type avroCompiler struct {
	named map[string]*avro.SchemaNode // definitions by full name
	short map[string]*avro.SchemaNode // by the name without namespace, as used within one
	// ambiguous are the short names that have more than one definition.
	ambiguous map[string]bool
	full      map[*avro.SchemaNode]string    // full names of definitions
	passing   map[*avro.SchemaNode]*avroNode // nodes of named types that are skipped
	open      []string                       // the records being flattened
	leaves    []avroColumn

	nodes     int // of the plan
	pathBytes int // of its columns
}

// visit counts a node before it is made.
func (c *avroCompiler) visit() error {
	if c.nodes++; c.nodes > maxSchemaNodes {
		return arrowio.Wrap(ErrBadSchema, "it unfolds to more than %d values", maxSchemaNodes)
	}
	return nil
}

// name records the types that a schema defines.
func (c *avroCompiler) name(n *avro.SchemaNode) error {
	if n == nil {
		return nil
	}
	if n.Name != "" {
		full := c.fullOf(n)
		if len(full) > maxName {
			return arrowio.Wrap(ErrBadSchema, "type %s has a name of %d bytes, at most %d", arrowio.Quote(full), len(full), maxName)
		}
		if c.named[full] != nil {
			return nil
		}
		c.named[full] = n
		short := full[strings.LastIndexByte(full, '.')+1:]
		if other := c.short[short]; other != nil {
			c.ambiguous[short] = true
		}
		c.short[short] = n
	}
	for i := range n.Fields {
		if err := c.name(&n.Fields[i].Type); err != nil {
			return err
		}
	}
	for i := range n.Branches {
		if err := c.name(&n.Branches[i]); err != nil {
			return err
		}
	}
	if err := c.name(n.Items); err != nil {
		return err
	}
	return c.name(n.Values)
}

// fullOf is fullName, computed once: long names of records that are named often add up.
func (c *avroCompiler) fullOf(n *avro.SchemaNode) string {
	full, ok := c.full[n]
	if !ok {
		full = fullName(n)
		c.full[n] = full
	}
	return full
}

func fullName(n *avro.SchemaNode) string {
	if n.Namespace == "" || strings.Contains(n.Name, ".") {
		return n.Name
	}
	return n.Namespace + "." + n.Name
}

// resolve returns the definition of a named type.
func (c *avroCompiler) resolve(n *avro.SchemaNode) *avro.SchemaNode {
	if _, ok := avroKinds[n.Type]; ok {
		return n
	}
	if found := c.named[n.Type]; found != nil {
		return found
	}
	if found := c.short[n.Type]; found != nil && !c.ambiguous[n.Type] {
		return found
	}
	return n
}

// record flattens a record whose fields have some prefixes. fallback is the record's own default,
// which takes precedence over those of its fields.
func (c *avroCompiler) record(n *avro.SchemaNode, prefixes []string, depth int, fallback any) (*avroNode, error) {
	if depth > MaxDepth {
		return nil, arrowio.Wrap(ErrBadSchema, "records in records, more than %d deep", MaxDepth)
	}
	if err := c.visit(); err != nil {
		return nil, err
	}
	c.open = append(c.open, c.fullOf(n))
	defer func() { c.open = c.open[:len(c.open)-1] }()
	node := &avroNode{kind: avroRecord, column: noColumn}
	for i := range n.Fields {
		f := &n.Fields[i]
		paths, err := c.withNames(prefixes, f)
		if err != nil {
			return nil, err
		}
		part, err := c.field(&f.Type, paths, depth, defaultOf(f, fallback))
		if err != nil {
			return nil, err
		}
		if !part.empty {
			node.parts = append(node.parts, part)
		}
	}
	node.empty = len(node.parts) == 0
	return node, nil
}

// nullDefault is a default of null; nil means no default.
type nullDefault struct{}

// defaultOf is the default of a record's field. The record may have a default itself.
func defaultOf(f *avro.SchemaField, record any) any {
	v, ok := f.Default, f.HasDefault
	switch record := record.(type) {
	case nullDefault:
		return record
	case map[string]any:
		if given, has := record[f.Name]; has {
			v, ok = given, true
		}
	}
	if ok && v == nil {
		return nullDefault{}
	}
	return v
}

// withNames returns the paths of a field: each prefix with its name and with its aliases.
func (c *avroCompiler) withNames(prefixes []string, f *avro.SchemaField) ([]string, error) {
	var paths []string
	for i := -1; i < len(f.Aliases) && len(paths) < maxPaths; i++ {
		name := f.Name
		if i >= 0 {
			name = f.Aliases[i]
		}
		for _, prefix := range prefixes {
			if len(paths) == maxPaths {
				break
			}
			size := len(prefix) + len(name)
			if size > maxName {
				return nil, arrowio.Wrap(ErrBadSchema, "field %s has a name of %d bytes with those that it is in, at most %d", arrowio.Quote(name), size, maxName)
			}
			if c.pathBytes += size; c.pathBytes > maxPathBytes {
				return nil, arrowio.Wrap(ErrBadSchema, "names of more than %d bytes", maxPathBytes)
			}
			paths = append(paths, prefix+name)
		}
	}
	return paths, nil
}

// setDefault keeps the default of a field if a column can hold it.
func (l *avroColumn) setDefault(v any) {
	switch v := v.(type) {
	case bool:
		l.fallback = &cell{kind: cellBool}
		if v {
			l.fallback.bits = 1
		}
	case int32:
		l.fallback = wholeCell(int64(v))
	case int64:
		l.fallback = wholeCell(v)
	case float32:
		l.fallback = floatCell(float64(v))
	case float64:
		l.fallback = floatCell(v)
	case string:
		l.fallback, l.text = &cell{kind: cellText}, v
	case []byte:
		l.setBytes(v)
	}
}

// setBytes keeps a default of bytes, or the decimal that they encode.
func (l *avroColumn) setBytes(v []byte) {
	if _, ok := l.typ.(*arrow.Decimal128Type); ok {
		var wide [16]byte
		if l.unfit = !widen(&wide, v); l.unfit {
			return
		}
		v = wide[:]
	}
	l.fallback, l.text = &cell{kind: cellText}, string(v)
}

// field makes the node for a value that becomes one or more columns. fallback is its default, nil for
// none.
func (c *avroCompiler) field(n *avro.SchemaNode, paths []string, depth int, fallback any) (*avroNode, error) {
	n = c.resolve(n)
	switch kind := avroKinds[n.Type]; {
	case kind == avroRecord && !slices.Contains(c.open, c.fullOf(n)):
		prefixes := make([]string, len(paths))
		for i, path := range paths {
			prefixes[i] = path + "."
		}
		return c.record(n, prefixes, depth+1, fallback)
	case kind == avroUnion:
		return c.union(n, paths, depth, fallback)
	}
	node, err := c.passed(n)
	if err != nil {
		return nil, err
	}
	own := *node
	own.column = len(c.leaves)
	leaf := avroColumn{paths: paths, typ: leafType(c, n, &own)}
	if leaf.typ == arrow.Null {
		own.column = noColumn
	} else {
		own.empty = false
		leaf.setDefault(fallback)
	}
	if err := c.leaf(leaf); err != nil {
		return nil, err
	}
	return &own, nil
}

// leaf adds a column.
func (c *avroCompiler) leaf(leaf avroColumn) error {
	if len(c.leaves) >= maxSchemaColumns {
		return arrowio.Wrap(ErrBadSchema, "more than %d columns", maxSchemaColumns)
	}
	c.leaves = append(c.leaves, leaf)
	return nil
}

// union makes a column of nulls or values for a nullable type, and a column of nulls for other
// unions.
func (c *avroCompiler) union(n *avro.SchemaNode, paths []string, depth int, fallback any) (*avroNode, error) {
	if err := c.visit(); err != nil {
		return nil, err
	}
	var some []int
	for i := range n.Branches {
		if c.resolve(&n.Branches[i]).Type != "null" {
			some = append(some, i)
		}
	}
	node := &avroNode{kind: avroUnion, column: noColumn, parts: make([]*avroNode, len(n.Branches))}
	for i := range n.Branches {
		var err error
		if len(some) == 1 && i == some[0] {
			if node.parts[i], err = c.field(&n.Branches[i], paths, depth, fallback); err == nil {
				node.column = node.parts[i].column
			}
		} else {
			node.parts[i], err = c.passed(&n.Branches[i])
		}
		if err != nil {
			return nil, err
		}
	}
	if len(some) != 1 {
		return node, c.leaf(avroColumn{paths: paths, typ: arrow.Null})
	}
	return node, nil
}

// passed makes the node for a value that is skipped.
func (c *avroCompiler) passed(n *avro.SchemaNode) (*avroNode, error) {
	n = c.resolve(n)
	kind, ok := avroKinds[n.Type]
	if !ok {
		return nil, arrowio.Wrap(ErrBadSchema, "unknown type %s", arrowio.Quote(n.Type))
	}
	if known := c.passing[n]; known != nil {
		return known, nil
	}
	if err := c.visit(); err != nil {
		return nil, err
	}
	node := &avroNode{kind: kind, column: noColumn, utf8: n.Type == "string", size: n.Size, symbols: n.Symbols}
	if n.Name != "" {
		c.passing[n] = node // before its parts, which may refer to it
	}
	for _, part := range partsOf(n, kind) {
		made, err := c.passed(part)
		if err != nil {
			return nil, err
		}
		if kind != avroRecord || !made.empty {
			node.parts = append(node.parts, made)
		}
	}
	// A record that contains itself, other than in a union or array, is not empty: it has no end.
	node.empty = kind == avroNull || kind == avroFixed && n.Size == 0 || kind == avroRecord && len(node.parts) == 0
	return node, nil
}

// partsOf returns the types that a type is made of.
func partsOf(n *avro.SchemaNode, kind avroKind) (parts []*avro.SchemaNode) {
	switch kind {
	case avroRecord:
		for i := range n.Fields {
			parts = append(parts, &n.Fields[i].Type)
		}
	case avroUnion:
		for i := range n.Branches {
			parts = append(parts, &n.Branches[i])
		}
	case avroArray:
		parts = append(parts, n.Items)
	case avroMap:
		parts = append(parts, n.Values)
	}
	return parts
}

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

// leafType is the type of a value's column; nil for lists, whose length depends on the values, and null for what no
// column can hold.
func leafType(c *avroCompiler, n *avro.SchemaNode, node *avroNode) arrow.DataType {
	if typ := avroLogical[n.Type+" "+n.LogicalType]; typ != nil {
		return typ
	}
	switch node.kind {
	case avroBytes, avroFixed:
		if n.LogicalType == "decimal" {
			if n.Precision > maxPrecision || n.Scale > n.Precision {
				return arrow.Null
			}
			node.decimal = true
			return &arrow.Decimal128Type{Precision: int32(n.Precision), Scale: int32(n.Scale)}
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

// forReader adapts a plan to the reader: it adds the columns of the reader's own schema, by name or by the reader's
// aliases, with their defaults, and the columns that an encoder wants, by the aliases in the message's schema. The plan
// must not be in use yet.
func (p *avroPlan) forReader(reader *avroPlan, w *wanted) *avroPlan {
	if reader != nil {
		for _, leaf := range reader.leaves {
			p.takeOver(leaf)
		}
	}
	if w == nil {
		return p
	}
	for _, name := range w.names {
		if p.find(name) >= 0 {
			continue
		}
		for i, leaf := range p.leaves {
			if slices.Contains(leaf.paths[1:], name) && w.kind(p.columns[i].name) == (wantedKind{}) {
				p.columns[i].name = name
				break
			}
		}
	}
	some := slices.ContainsFunc(w.features, func(name string) bool { return p.find(name) >= 0 })
	for _, name := range w.features {
		if some && p.find(name) < 0 {
			p.columns = append(p.columns, planned{name, arrow.Null})
		}
	}
	return p
}

// takeOver gives a column its name or its default from the reader's schema.
func (p *avroPlan) takeOver(leaf avroColumn) {
	name := leaf.paths[0]
	if p.find(name) >= 0 {
		return
	}
	for _, alias := range leaf.paths[1:] {
		if at := p.find(alias); at >= 0 {
			p.columns[at].name = name
			return
		}
	}
	if leaf.fallback != nil {
		p.constants = append(p.constants, constant{len(p.columns), *leaf.fallback, leaf.text})
		p.columns = append(p.columns, planned{name, leaf.typ})
	}
}

func (p *avroPlan) find(name string) int {
	return slices.IndexFunc(p.columns, func(c planned) bool { return c.name == name })
}
