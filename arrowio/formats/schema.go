package formats

import "fmt"

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

// size is the total length of its text.
func (s *Schema) size() int {
	size := len(s.Text)
	for _, ref := range s.References {
		size += len(ref.Text)
	}
	return size
}

// FrameID returns the ID of the schema that a message names; false if the message is read without a registry.
func (d *Decoder) FrameID(value []byte) (id uint32, ok bool) {
	if f, framed := d.format(value); !framed || f == JSON {
		return 0, false
	}
	id, _, ok = frame(value)
	return id, ok
}

// CheckSchema returns why a schema cannot be used for messages of a format.
func CheckSchema(f Format, text string) error {
	var err error
	switch f {
	case Avro:
		_, err = compileReader(text)
	case Protobuf:
		_, err = compileProto(&Schema{Format: Protobuf, Text: text})
	default:
		return fmt.Errorf("messages of format %s need no schema", f)
	}
	return err
}

// planCacheSize bounds the plans that a Decoder keeps.
const planCacheSize = 64

// plans caches what was compiled from schemas.
type plans[P any] struct{ known map[uint32]P }

// get returns the plan for a schema, compiling it the first time.
func (c *plans[P]) get(id uint32, schema *Schema, compile func(*Schema) (P, error)) (P, error) {
	if p, ok := c.known[id]; ok {
		return p, nil
	}
	p, err := compile(schema)
	if err != nil {
		return p, err
	}
	if len(c.known) >= planCacheSize {
		clear(c.known)
	}
	if c.known == nil {
		c.known = make(map[uint32]P)
	}
	c.known[id] = p
	return p, nil
}
