package formats

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/twmb/avro"

	"github.com/eerf-stream/eerf/arrowio"
)

// avroKind is the encoding of a value.
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
	column  int // index of the column; noColumn = skipped
	utf8    bool
	decimal bool
	empty   bool     // values have neither bytes nor columns
	numbers bool     // for arrays: the items are numbers and fill a column
	size    int      // bytes of a fixed
	symbols []string // symbols of an enum
	parts   []*avroNode
}

// avroColumn is a leaf of a schema.
type avroColumn struct {
	paths []string // the name, then the names by aliases
	typ   arrow.DataType
}

// avroPlan is a compiled schema.
type avroPlan struct {
	root    *avroNode // a record, or an array of records
	columns []planned
	held    int64
}

func (p *avroPlan) columnsOf() []planned { return p.columns }

func (p *avroPlan) heldBytes() int64 { return p.held }

// maxPaths bounds the names that aliases can give a column.
const maxPaths = 16

// Bounds on the expansion of a schema: a record is expanded at each reference.
const (
	maxSchemaNodes = 1 << 14
	maxPathBytes   = 1 << 20 // names of all columns, including names by aliases
)

// Memory of the parts of a plan, without names.
const (
	nodeCost   = 256 // a node or field, with its entry in its parent
	columnHeld = 64
	symbolCost = 32
)

// compileAvro makes the plan for a schema, for messages with at most maxColumns columns.
func compileAvro(schema *Schema, w *wanted, maxColumns int) (*avroPlan, error) {
	if err := schema.Check(); err != nil {
		return nil, err
	}
	c := &avroCompiler{
		names:      make(avroNames),
		named:      make(map[string]*avro.SchemaNode),
		passing:    make(map[*avro.SchemaNode]*avroNode),
		steps:      effort{maxSteps},
		maxColumns: maxColumns,
	}
	var cache avro.SchemaCache
	for _, ref := range schema.References {
		if _, err := c.parse(&cache, ref.Text); err != nil {
			return nil, fmt.Errorf("reference %s: %w", arrowio.Quote(ref.Name), err)
		}
	}
	root, err := c.parse(&cache, schema.Text)
	if err != nil {
		return nil, err
	}
	node := c.resolve(root)
	if node.Type == "array" && node.Items != nil {
		node = c.resolve(node.Items)
	}
	if avroKinds[node.Type] != avroRecord {
		return nil, arrowio.Wrap(
			ErrBadSchema,
			"a message must be a record or an array of records, not %s",
			arrowio.Quote(node.Type),
		)
	}
	record, err := c.record(node, []string{""}, 1)
	if err != nil {
		return nil, err
	}
	plan := &avroPlan{root: record}
	if top := c.resolve(root); top != node {
		plan.root = &avroNode{kind: avroArray, column: noColumn, parts: []*avroNode{record}}
	}
	if plan.columns, err = c.columns(w); err != nil {
		return nil, err
	}
	plan.held = int64(c.nodes)*nodeCost + int64(len(plan.columns))*columnHeld + int64(c.pathBytes) + c.symbolBytes
	return plan, nil
}

// parse parses a text with the library, after reducing it to the members that a plan needs.
func (c *avroCompiler) parse(cache *avro.SchemaCache, text string) (*avro.SchemaNode, error) {
	bare, err := bareAvro(text, &c.steps)
	if err != nil {
		return nil, err
	}
	normal, err := c.names.normalised(bare)
	if err != nil {
		return nil, err
	}
	parsed, err := cache.Parse(normal, laxNames)
	if err != nil {
		return nil, badSchema(err)
	}
	root := parsed.Root()
	c.index(root)
	return root, nil
}

// avroCompiler makes one plan.
type avroCompiler struct {
	names   avroNames
	named   map[string]*avro.SchemaNode    // definitions by new name
	passing map[*avro.SchemaNode]*avroNode // nodes of named types that are skipped
	open    []string                       // the records that enclose the current node
	leaves  []avroColumn

	maxColumns  int
	steps       effort
	nodes       int // nodes of the plan
	pathBytes   int // bytes of the names of all columns
	symbolBytes int64
}

// visit counts a node before its allocation.
func (c *avroCompiler) visit() error {
	if c.nodes++; c.nodes > maxSchemaNodes {
		return arrowio.Wrap(ErrBadSchema, "schema expands to more than %d values", maxSchemaNodes)
	}
	return c.steps.take(1)
}

// record flattens a record. The names of its columns start with each of the prefixes.
func (c *avroCompiler) record(n *avro.SchemaNode, prefixes []string, depth int) (*avroNode, error) {
	if depth > MaxDepth {
		return nil, arrowio.Wrap(ErrBadSchema, "records nested more than %d deep", MaxDepth)
	}
	if err := c.visit(); err != nil {
		return nil, err
	}
	c.open = append(c.open, n.Name)
	defer func() { c.open = c.open[:len(c.open)-1] }()
	node := &avroNode{kind: avroRecord, column: noColumn}
	for i := range n.Fields {
		f := &n.Fields[i]
		paths, err := c.withNames(prefixes, f)
		if err != nil {
			return nil, err
		}
		part, err := c.field(&f.Type, paths, depth)
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

// withNames returns the paths of a field: each prefix followed by the name and by each alias.
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
				return nil, arrowio.Wrap(
					ErrBadSchema,
					"field %s has a path of %d bytes, at most %d",
					arrowio.Quote(name),
					size,
					maxName,
				)
			}
			if c.pathBytes += size; c.pathBytes > maxPathBytes {
				return nil, arrowio.Wrap(ErrBadSchema, "names of more than %d bytes", maxPathBytes)
			}
			if err := c.steps.take(1); err != nil {
				return nil, err
			}
			paths = append(paths, prefix+name)
		}
	}
	return paths, nil
}

// field makes the node for a value that becomes one or more columns.
func (c *avroCompiler) field(n *avro.SchemaNode, paths []string, depth int) (*avroNode, error) {
	n = c.resolve(n)
	switch kind := avroKinds[n.Type]; {
	case kind == avroRecord && !slices.Contains(c.open, n.Name):
		prefixes := make([]string, len(paths))
		for i, path := range paths {
			prefixes[i] = path + "."
		}
		return c.record(n, prefixes, depth+1)
	case kind == avroUnion:
		return c.union(n, paths, depth)
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
	}
	if err := c.leaf(leaf); err != nil {
		return nil, err
	}
	return &own, nil
}

// leaf adds a column.
func (c *avroCompiler) leaf(leaf avroColumn) error {
	if len(c.leaves) >= c.maxColumns {
		return tooManyColumns(c.maxColumns)
	}
	c.leaves = append(c.leaves, leaf)
	return nil
}

// union makes a nullable column for a union of null and one type, and a column of nulls for other
// unions.
func (c *avroCompiler) union(n *avro.SchemaNode, paths []string, depth int) (*avroNode, error) {
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
			if node.parts[i], err = c.field(&n.Branches[i], paths, depth); err == nil {
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
	for _, symbol := range n.Symbols {
		c.symbolBytes += symbolCost + int64(len(symbol))
	}
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
	// A record that contains itself outside a union or array is not empty: no finite value exists.
	node.empty = kind == avroNull || kind == avroFixed && n.Size == 0 || kind == avroRecord && len(node.parts) == 0
	return node, nil
}

// partsOf returns the component types of a type.
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

// columns returns the leaves, renamed by the schema's aliases to the names that an encoder expects.
// Missing features become columns of nulls.
func (c *avroCompiler) columns(w *wanted) ([]planned, error) {
	columns := make([]planned, len(c.leaves))
	has, aliased := make(map[string]bool), make(map[string][]int)
	for i, leaf := range c.leaves {
		columns[i] = planned{leaf.paths[0], leaf.typ}
		has[leaf.paths[0]] = true
		for _, alias := range leaf.paths[1:] {
			aliased[alias] = append(aliased[alias], i)
		}
	}
	if w == nil {
		return columns, nil
	}
	for _, name := range w.names {
		if has[name] {
			continue
		}
		for _, i := range aliased[name] {
			if w.kind(columns[i].name) == (wantedKind{}) {
				delete(has, columns[i].name)
				columns[i].name, has[name] = name, true
				break
			}
		}
	}
	return w.complete(columns, c.maxColumns)
}
