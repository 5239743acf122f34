package formats

import "github.com/eerf-stream/eerf/arrowio"

// Registry resolves schema IDs.
type Registry interface {
	// Schema returns a schema that was fetched before, or an error that wraps [ErrUnknownSchema]. The schema for an ID
	// never changes.
	Schema(id uint32) (*Schema, error)
}

// Schema is one schema of a registry, as text.
type Schema struct {
	Format Format
	Text   string
	// References are the schemas that this one needs, each after those that it needs itself.
	References []Reference
}

// Reference is a schema and the name that others use for it: the full name of an Avro type, or the path of an import.
type Reference struct{ Name, Text string }

// maxSchemaBytes bounds the text of a schema; parsing it takes a multiple.
const maxSchemaBytes = 256 << 10

// checkSize bounds the text of a schema and of what it refers to.
func (s *Schema) checkSize() error {
	size := len(s.Text)
	for _, ref := range s.References {
		size += len(ref.Text)
	}
	if size > maxSchemaBytes {
		return arrowio.Wrap(ErrBadSchema, "%d bytes, at most %d", size, maxSchemaBytes)
	}
	return nil
}

// FrameID returns the ID of the schema that a message names; false if the message is read without a registry.
func (d *Decoder) FrameID(value []byte) (id uint32, ok bool) {
	if f, framed := d.format(value); !framed || f != nil && f.check == nil {
		return 0, false
	}
	id, _, ok = frame(value)
	return id, ok
}

// CheckSchema returns why a schema cannot be used for messages of a format.
func CheckSchema(f Format, text string) error {
	if !f.NeedsSchema() {
		return arrowio.Wrap(ErrBadSchema, "messages of format %s need none", f)
	}
	return lookup(f).check(text)
}

// plans are what a Decoder compiled from schemas: the configured one, for messages that name none, and those that
// messages name. Every schema becomes a plan here.
type plans[P any] struct {
	given   Schema // the configured one; without text, none is
	compile func(*Schema) (P, error)
	plain   *P // of given
	known   map[uint32]P
}

// planCacheSize bounds the plans that a Decoder keeps.
const planCacheSize = 64

// of returns the plan for a message, compiling it the first time.
func (c *plans[P]) of(m message) (plan P, err error) {
	if m.schema == nil {
		return c.ofGiven()
	}
	if plan, ok := c.known[m.id]; ok {
		return plan, nil
	}
	if plan, err = c.compile(m.schema); err != nil {
		return plan, err
	}
	if len(c.known) >= planCacheSize {
		clear(c.known)
	}
	if c.known == nil {
		c.known = make(map[uint32]P)
	}
	c.known[m.id] = plan
	return plan, nil
}

func (c *plans[P]) ofGiven() (plan P, err error) {
	if c.given.Text == "" {
		return plan, arrowio.Wrap(ErrUnknownSchema, "the message names none: set events.schema, or registry.url for messages that name one")
	}
	if c.plain == nil {
		if plan, err = c.compile(&c.given); err != nil {
			return plan, err
		}
		c.plain = &plan
	}
	return *c.plain, nil
}
