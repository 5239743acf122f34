package formats

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"

	"github.com/eerf-stream/eerf/arrowio"
)

// Registry resolves schema IDs.
type Registry interface {
	// Schema returns an already fetched schema, or an error that wraps [ErrUnknownSchema]. The
	// schema for an ID never changes.
	Schema(id SchemaID) (*Schema, error)
}

// Schema is one schema of a registry, as text.
type Schema struct {
	Format Format
	Text   string
	// References are the schemas that this one needs, in dependency order.
	References []Reference

	hash Hash // zero = not computed yet
}

// Reference is a schema with the name by which others refer to it: the full name of an Avro type,
// or an import path.
type Reference struct{ Name, Text string }

// MaxSchemaBytes bounds the text of a schema and its references.
const MaxSchemaBytes = 256 << 10

// Check returns an error if a schema is too large.
func (s *Schema) Check() error {
	if size := s.Bytes(); size > MaxSchemaBytes {
		return arrowio.Wrap(ErrBadSchema, "schema of %d bytes, at most %d", size, MaxSchemaBytes)
	}
	return nil
}

// Bytes returns the length of the text and its references.
func (s *Schema) Bytes() int64 {
	size := len(s.Text)
	for _, ref := range s.References {
		size += len(ref.Name) + len(ref.Text)
	}
	return int64(size)
}

// Hash identifies everything in a schema.
type Hash [16]byte

// String returns the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// NewSchema returns a schema with its hash computed.
func NewSchema(f Format, text string, references ...Reference) *Schema {
	s := &Schema{Format: f, Text: text, References: references}
	s.hash = s.Hash()
	return s
}

// Hash returns the hash of the schema.
func (s *Schema) Hash() Hash {
	if s.hash != (Hash{}) {
		return s.hash
	}
	parts := []string{string(s.Format), s.Text}
	for _, ref := range s.References {
		parts = append(parts, ref.Name, ref.Text)
	}
	return hashOf(parts...)
}

func hashOf(parts ...string) Hash {
	h := sha256.New()
	for _, part := range parts {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		_, _ = io.WriteString(h, part)
	}
	return Hash(h.Sum(nil)[:len(Hash{})])
}

// SchemaOf returns the ID of the schema that a message needs from the registry; false if it is read
// without one.
func (d *Decoder) SchemaOf(value []byte, e Envelope) (id SchemaID, ok bool) {
	f, named := d.format(value, e)
	if !named || f != nil && f.check == nil {
		return SchemaID{}, false
	}
	return unwrap(value, e).id, true
}

// CheckSchema returns an error if a schema cannot be used for messages of a format.
func CheckSchema(f Format, text string) error {
	if !f.NeedsSchema() {
		return arrowio.Wrap(ErrBadSchema, "messages of format %s need no schema", f)
	}
	return lookup(f).check(text)
}
