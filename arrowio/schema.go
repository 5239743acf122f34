package arrowio

import (
	"bytes"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/endian"
)

// schema is a verified schema and the plan for reading its batches.
type schema struct {
	raw          []byte // the metadata it was read from; nil when it is not cached
	limits       Limits // under which it was verified
	arrow        *arrow.Schema
	columns      []*column
	shape        shape
	dictionaries map[int64]*column // the values of each dictionary, by id
	cost         int64             // its charge against the budget
}

// Schemas holds the most recently accepted schemas, so that they need not be verified again.
// Several decoders may share it, from several goroutines.
type Schemas struct {
	mu      sync.Mutex
	most    int       // entries
	entries []*schema // most recently used first; immutable once they are here
}

const (
	cachedSchemas   = 4       // of a Decoder's own
	sharedSchemas   = 16      // of NewSchemas
	cachedSchemaMax = 1 << 20 // bytes of metadata, or cost, of a schema worth caching
)

// SchemasBytes is the most memory that the schemas of [NewSchemas] take.
const SchemasBytes = 2 * sharedSchemas * cachedSchemaMax

// NewSchemas returns a store for decoders to share.
func NewSchemas() *Schemas { return &Schemas{most: sharedSchemas} }

// find returns a schema that was verified under these limits before, or nil.
func (c *Schemas) find(metadata []byte, limits Limits) *schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.entries {
		if s.limits == limits && bytes.Equal(s.raw, metadata) {
			copy(c.entries[1:i+1], c.entries[:i])
			c.entries[0] = s
			return s
		}
	}
	return nil
}

// keep puts a schema in front, replacing the least recently used one.
func (c *Schemas) keep(s *schema) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) < c.most {
		c.entries = append(c.entries, nil)
	}
	copy(c.entries[1:], c.entries)
	c.entries[0] = s
}

// get returns the schema of a frame, verified now or before. It charges the budget the same in both
// cases, so that the result for a message does not depend on earlier messages.
func (c *Schemas) get(f frame, limits Limits, b *Budget) (*schema, error) {
	if len(f.body) != 0 {
		return nil, corrupt("a schema with a body of %d bytes", len(f.body))
	}
	if s := c.find(f.metadata, limits); s != nil {
		return s, b.Take(s.cost)
	}
	before := b.Left
	s, err := parseSchema(f, limits, b)
	if err != nil {
		return nil, err
	}
	s.cost = before - b.Left
	if len(f.metadata) <= cachedSchemaMax && s.cost <= cachedSchemaMax {
		s.raw, s.limits = bytes.Clone(f.metadata), limits
		c.keep(s)
	}
	return s, nil
}

// maxDepth bounds how deep columns nest.
const maxDepth = 16

// schemaParser verifies a schema while it builds it. Flatbuffers may share
// tables and strings, so a small message can describe a schema of any size:
// fields are counted and every copy is charged.
type schemaParser struct {
	fb           *flatbuffer
	maxFields    int
	fields       int
	budget       *Budget
	dictionaries map[int64]*column
}

func parseSchema(f frame, limits Limits, b *Budget) (*schema, error) {
	p := &schemaParser{fb: f.fb, maxFields: limits.MaxColumns, budget: b}
	if f.header.int16(0, 0) != int16(endian.NativeEndian) {
		return nil, unsupported("foreign byte order")
	}
	metadata, err := p.metadata(f.header, 2)
	if err != nil {
		return nil, err
	}
	fields, columns, err := p.children(f.header, 1, 0)
	if err != nil {
		return nil, err
	}
	s := &schema{
		arrow:        arrow.NewSchema(fields, &metadata),
		columns:      columns,
		dictionaries: p.dictionaries,
	}
	for _, c := range columns {
		s.shape.add(c.shape())
	}
	return s, nil
}

// children reads a vector of fields.
func (p *schemaParser) children(t table, slot, depth int) ([]arrow.Field, []*column, error) {
	n := t.count(slot, 4)
	if p.fields += n; p.fields > p.maxFields {
		return nil, nil, tooLarge("%d columns, at most %d", p.fields, p.maxFields)
	}
	if n > 0 && depth > maxDepth {
		return nil, nil, unsupported("columns nested deeper than %d", maxDepth)
	}
	if err := p.budget.Take(int64(n) * fieldCost); err != nil {
		return nil, nil, err
	}
	fields, columns := make([]arrow.Field, 0, n), make([]*column, 0, n)
	err := t.tables(slot, func(i int, sub table) error {
		f, c, err := p.field(sub, depth)
		if err != nil {
			return fmt.Errorf("column %d %s: %w", i, Quote(f.Name), err)
		}
		fields, columns = append(fields, f), append(columns, c)
		return nil
	})
	if err == nil {
		err = p.fb.err
	}
	return fields, columns, err
}

// field reads one field. On error the field holds at least the name, if that
// could be read.
func (p *schemaParser) field(t table, depth int) (f arrow.Field, c *column, err error) {
	if f.Name, err = p.text(t, 0); err != nil {
		return f, nil, err
	}
	f.Nullable = t.bool(1)
	if f.Metadata, err = p.metadata(t, 6); err != nil {
		return f, nil, err
	}
	fields, columns, err := p.children(t, 5, depth+1)
	if err != nil {
		return f, nil, err
	}
	typ, ok := t.sub(3)
	if p.fb.err != nil {
		return f, nil, p.fb.err
	}
	if !ok {
		return f, nil, corrupt("a field without a type")
	}
	c, err = p.column(typeID(t.uint8(2)), typ, fields, columns)
	if err == nil {
		err = p.fb.err
	}
	if err == nil {
		c, err = p.encoded(t, c)
	}
	if err != nil {
		return f, nil, err
	}
	c.name, f.Type = f.Name, c.dtype
	return f, c, nil
}

// encoded turns a column into a dictionary column if its field is one.
func (p *schemaParser) encoded(t table, values *column) (*column, error) {
	enc, ok := t.sub(4)
	if !ok {
		return values, p.fb.err
	}
	id, ordered, kind := enc.int64(0), enc.bool(2), enc.int16(3, 0)
	index := &column{dtype: arrow.PrimitiveTypes.Int32, layout: layoutFixed, width: 4, align: 4}
	if typ, ok := enc.sub(1); ok {
		var err error
		if index, err = intColumn(typ); err != nil {
			return nil, err
		}
	}
	switch {
	case p.fb.err != nil:
		return nil, p.fb.err
	case kind != 0:
		return nil, unsupported("dictionary of kind %d", kind)
	case !values.flat():
		return nil, unsupported("dictionary of %s", values.dtype.Name())
	}
	if known, ok := p.dictionaries[id]; ok && !arrow.TypeEqual(known.dtype, values.dtype) {
		return nil, corrupt("dictionary %d has values of %s and of %s", id, known.dtype, values.dtype)
	}
	if p.dictionaries == nil {
		p.dictionaries = make(map[int64]*column)
	}
	p.dictionaries[id] = values
	return &column{
		dtype:      &arrow.DictionaryType{IndexType: index.dtype, ValueType: values.dtype, Ordered: ordered},
		layout:     layoutDictionary,
		width:      index.width,
		align:      index.align,
		dictionary: id,
	}, nil
}

// metadata reads a vector of key-value pairs.
func (p *schemaParser) metadata(t table, slot int) (arrow.Metadata, error) {
	n := t.count(slot, 4)
	if n == 0 {
		return arrow.Metadata{}, p.fb.err
	}
	if err := p.budget.Take(int64(n) * 64); err != nil {
		return arrow.Metadata{}, err
	}
	keys, values := make([]string, 0, n), make([]string, 0, n)
	err := t.tables(slot, func(_ int, sub table) error {
		key, err := p.text(sub, 0)
		if err != nil {
			return err
		}
		// Values may be any bytes: writers put serialized types there.
		raw := sub.text(1)
		if err := p.budget.Take(int64(len(raw))); err != nil {
			return err
		}
		keys, values = append(keys, key), append(values, string(raw))
		return nil
	})
	if err == nil {
		err = p.fb.err
	}
	if err != nil {
		return arrow.Metadata{}, err
	}
	return arrow.NewMetadata(keys, values), nil
}

// text copies a string that must be UTF-8.
func (p *schemaParser) text(t table, slot int) (string, error) {
	raw := t.text(slot)
	if p.fb.err != nil {
		return "", p.fb.err
	}
	if err := p.budget.Take(int64(len(raw))); err != nil {
		return "", err
	}
	if !utf8.Valid(raw) {
		return "", corrupt("a name that is not UTF-8")
	}
	return string(raw), nil
}
