package formats

import (
	"strings"

	"github.com/twmb/avro"

	"github.com/eerf-stream/eerf/arrowio"
)

// avroNames holds the types defined by a schema and its references.
type avroNames struct {
	named map[string]*avro.SchemaNode // definitions by full name
	short map[string]*avro.SchemaNode // by the name without namespace; nil = ambiguous
	full  map[*avro.SchemaNode]string // full names of definitions
}

func newAvroNames() avroNames {
	return avroNames{
		make(map[string]*avro.SchemaNode),
		make(map[string]*avro.SchemaNode),
		make(map[*avro.SchemaNode]string),
	}
}

// name records the types that a schema defines.
func (a *avroNames) name(n *avro.SchemaNode) error {
	if n == nil {
		return nil
	}
	if n.Name != "" {
		full := a.fullOf(n)
		if len(full) > maxName {
			return arrowio.Wrap(
				ErrBadSchema,
				"type %s has a name of %d bytes, at most %d",
				arrowio.Quote(full),
				len(full),
				maxName,
			)
		}
		if a.named[full] != nil {
			return nil
		}
		a.named[full] = n
		short := full[strings.LastIndexByte(full, '.')+1:]
		if _, ambiguous := a.short[short]; ambiguous {
			a.short[short] = nil
		} else {
			a.short[short] = n
		}
	}
	for i := range n.Fields {
		if err := a.name(&n.Fields[i].Type); err != nil {
			return err
		}
	}
	for i := range n.Branches {
		if err := a.name(&n.Branches[i]); err != nil {
			return err
		}
	}
	if err := a.name(n.Items); err != nil {
		return err
	}
	return a.name(n.Values)
}

// fullOf caches fullName, because the cost of long names adds up when records are referenced often.
func (a *avroNames) fullOf(n *avro.SchemaNode) string {
	full, ok := a.full[n]
	if !ok {
		full = fullName(n)
		a.full[n] = full
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
func (a *avroNames) resolve(n *avro.SchemaNode) *avro.SchemaNode {
	if _, ok := avroKinds[n.Type]; ok {
		return n
	}
	if found := a.named[n.Type]; found != nil {
		return found
	}
	if found := a.short[n.Type]; found != nil {
		return found
	}
	return n
}
