package formats

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/twmb/avro"

	"github.com/eerf-stream/eerf/arrowio"
)

// avroNames maps the full names of the types of a schema and its references to names without
// namespaces. With these, a reference has the same meaning in every scope.
type avroNames map[string]string

// laxNames accepts any name: Java's library allows letters of all alphabets, and connectors write
// hyphens.
var laxNames = avro.WithLaxNames(func(string) error { return nil })

// normalised returns a schema that [bareAvro] has bounded, with these names and without invalid
// logical types, which the Avro specification tells readers to ignore.
func (a avroNames) normalised(text string) (string, error) {
	var schema any
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		return "", badSchema(err)
	}
	if err := a.define(schema, ""); err != nil {
		return "", err
	}
	schema, err := a.rewrite(schema, "")
	if err != nil {
		return "", err
	}
	made, err := json.Marshal(schema)
	if err != nil {
		return "", badSchema(err)
	}
	return string(made), nil
}

// define names the types that a schema within a namespace defines.
func (a avroNames) define(schema any, namespace string) error {
	switch s := schema.(type) {
	case []any:
		for _, branch := range s {
			if err := a.define(branch, namespace); err != nil {
				return err
			}
		}
	case map[string]any:
		if full, inner := definedName(s, namespace); full != "" {
			if len(full) > maxName {
				const format = "type %s has a name of %d bytes, at most %d"
				return arrowio.Wrap(ErrBadSchema, format, arrowio.Quote(full), len(full), maxName)
			}
			if a[full] != "" {
				return arrowio.Wrap(ErrBadSchema, "type %s is defined twice", arrowio.Quote(full))
			}
			a[full] = "t" + strconv.Itoa(len(a))
			namespace = inner
		}
		for _, part := range objectParts(s) {
			if err := a.define(part.object[part.member], namespace); err != nil {
				return err
			}
		}
	}
	return nil
}

// rewrite returns a schema within a namespace with the new names. It changes objects in place.
func (a avroNames) rewrite(schema any, namespace string) (any, error) {
	switch s := schema.(type) {
	case string:
		return a.reference(s, namespace)
	case []any:
		for i := range s {
			branch, err := a.rewrite(s[i], namespace)
			if err != nil {
				return nil, err
			}
			s[i] = branch
		}
	case map[string]any:
		if full, inner := definedName(s, namespace); full != "" {
			s["name"] = a[full]
			delete(s, "namespace")
			delete(s, "aliases") // names of the type for other readers
			namespace = inner
		}
		ignoreInvalidLogicalType(s)
		for _, part := range objectParts(s) {
			made, err := a.rewrite(part.object[part.member], namespace)
			if err != nil {
				return nil, err
			}
			part.object[part.member] = made
		}
	}
	return schema, nil
}

// reference returns the new name of a type that a schema refers to. A simple name means the type in
// the enclosing namespace, or else the type without namespace, as in Java's library.
func (a avroNames) reference(name, namespace string) (string, error) {
	if _, primitive := avroKinds[name]; primitive {
		return name, nil
	}
	if !strings.Contains(name, ".") && namespace != "" {
		if made := a[namespace+"."+name]; made != "" {
			return made, nil
		}
	}
	if made := a[name]; made != "" {
		return made, nil
	}
	return "", arrowio.Wrap(ErrBadSchema, "unknown type %s", arrowio.Quote(name))
}

// definedName returns the full name of the type that an object defines, or "", and its namespace.
func definedName(object map[string]any, enclosing string) (full, namespace string) {
	switch object["type"] {
	case "record", "error", "enum", "fixed":
	default:
		return "", enclosing
	}
	name, _ := object["name"].(string)
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name, name[:i]
	}
	namespace = enclosing
	if given, ok := object["namespace"].(string); ok {
		namespace = given
	}
	if namespace == "" || name == "" {
		return name, namespace
	}
	return namespace + "." + name, namespace
}

// objectPart is a schema within an object.
type objectPart struct {
	object map[string]any
	member string
}

// objectParts returns the schemas within an object.
func objectParts(object map[string]any) (parts []objectPart) {
	kind, _ := object["type"].(string)
	switch avroKinds[kind] {
	case avroRecord:
		fields, _ := object["fields"].([]any)
		for _, field := range fields {
			if f, ok := field.(map[string]any); ok {
				parts = append(parts, objectPart{f, "type"})
			}
		}
	case avroArray:
		parts = append(parts, objectPart{object, "items"})
	case avroMap:
		parts = append(parts, objectPart{object, "values"})
	case avroNull:
		if kind != "null" { // a nested schema, or a reference
			parts = append(parts, objectPart{object, "type"})
		}
	}
	return parts
}

// logicalBases are the types that a logical type may annotate.
var logicalBases = map[string][]string{
	"date":                   {"int"},
	"time-millis":            {"int"},
	"time-micros":            {"long"},
	"timestamp-millis":       {"long"},
	"timestamp-micros":       {"long"},
	"timestamp-nanos":        {"long"},
	"local-timestamp-millis": {"long"},
	"local-timestamp-micros": {"long"},
	"local-timestamp-nanos":  {"long"},
	"decimal":                {"bytes", "fixed"},
}

// ignoreInvalidLogicalType drops a logical type that no column needs, is on a wrong type, or has
// invalid parameters.
func ignoreInvalidLogicalType(object map[string]any) {
	logical, _ := object["logicalType"].(string)
	kind, _ := object["type"].(string)
	valid := false
	for _, base := range logicalBases[logical] {
		valid = valid || kind == base
	}
	if valid && (logical != "decimal" || validDecimal(object)) {
		return
	}
	delete(object, "logicalType")
	delete(object, "precision")
	delete(object, "scale")
}

// validDecimal reports whether a decimal has a precision that its type can hold, and a scale that
// is not larger.
func validDecimal(object map[string]any) bool {
	precision, ok := object["precision"].(float64)
	scale, _ := object["scale"].(float64) // 0 by default
	if !ok || precision < 1 || precision != math.Trunc(precision) || precision > math.MaxInt32 ||
		scale < 0 || scale > precision || scale != math.Trunc(scale) {
		return false
	}
	size, fixed := object["size"].(float64)
	return !fixed || object["type"] != "fixed" || precision <= math.Floor(math.Log10(2)*(8*size-1))
}

// index adds the definitions within a schema to those known by name.
func (c *avroCompiler) index(n *avro.SchemaNode) {
	if n == nil {
		return
	}
	if n.Name != "" {
		if c.named[n.Name] != nil {
			return
		}
		c.named[n.Name] = n
	}
	for i := range n.Fields {
		c.index(&n.Fields[i].Type)
	}
	for i := range n.Branches {
		c.index(&n.Branches[i])
	}
	c.index(n.Items)
	c.index(n.Values)
}

// resolve returns the definition of a named type.
func (c *avroCompiler) resolve(n *avro.SchemaNode) *avro.SchemaNode {
	if found := c.named[n.Type]; found != nil {
		return found
	}
	return n
}
