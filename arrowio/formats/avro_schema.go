package formats

import (
	"slices"

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
	paths []string // its name, and its names by aliases
	typ   arrow.DataType
}

// avroPlan is what a schema is compiled to.
type avroPlan struct {
	root    *avroNode // a record, or an array of them
	leaves  []avroColumn
	columns []planned
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
	c := &avroCompiler{avroNames: newAvroNames(), passing: make(map[*avro.SchemaNode]*avroNode)}
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
		return nil, arrowio.Wrap(ErrBadSchema, "a message must be a record or an array of records, not %s", arrowio.Quote(node.Type))
	}
	record, err := c.record(node, []string{""}, 1)
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

// avroCompiler makes one plan.
type avroCompiler struct {
	avroNames
	passing map[*avro.SchemaNode]*avroNode // nodes of named types that are skipped
	open    []string                       // the records being flattened
	leaves  []avroColumn

	nodes     int // of the plan
	pathBytes int // of its columns
}

// visit counts a node before it is made.
func (c *avroCompiler) visit() error {
	if c.nodes++; c.nodes > maxSchemaNodes {
		return arrowio.Wrap(ErrBadSchema, "it expands to more than %d values", maxSchemaNodes)
	}
	return nil
}

// record flattens a record whose fields have some prefixes.
func (c *avroCompiler) record(n *avro.SchemaNode, prefixes []string, depth int) (*avroNode, error) {
	if depth > MaxDepth {
		return nil, arrowio.Wrap(ErrBadSchema, "records nested more than %d deep", MaxDepth)
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

// field makes the node for a value that becomes one or more columns.
func (c *avroCompiler) field(n *avro.SchemaNode, paths []string, depth int) (*avroNode, error) {
	n = c.resolve(n)
	switch kind := avroKinds[n.Type]; {
	case kind == avroRecord && !slices.Contains(c.open, c.fullOf(n)):
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
	if len(c.leaves) >= maxSchemaColumns {
		return arrowio.Wrap(ErrBadSchema, "more than %d columns", maxSchemaColumns)
	}
	c.leaves = append(c.leaves, leaf)
	return nil
}

// union makes a column of nulls or values for a nullable type, and a column of nulls for other
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

// forEncoder adds the columns that an encoder wants: by the aliases in the schema, or, of features, as nulls. The plan
// must not be in use yet.
func (p *avroPlan) forEncoder(w *wanted) *avroPlan {
	if w == nil {
		return p
	}
	has := func(name string) bool {
		return slices.ContainsFunc(p.columns, func(c planned) bool { return c.name == name })
	}
	for _, name := range w.names {
		if has(name) {
			continue
		}
		for i, leaf := range p.leaves {
			if slices.Contains(leaf.paths[1:], name) && w.kind(p.columns[i].name) == (wantedKind{}) {
				p.columns[i].name = name
				break
			}
		}
	}
	p.columns = w.complete(p.columns)
	return p
}
