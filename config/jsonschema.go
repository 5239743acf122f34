package config

import (
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// JSONSchema writes a JSON Schema (draft 7, which editors support best) for configuration files: names, types, accepted
// words, defaults and meanings of all keys. It is generated from what [Keys] describes. A file that it accepts may
// still have faults: only [Load] checks bounds and relations between keys. It refuses two spellings that Load accepts:
// numbers, truth values and sizes in needless quotes, and words where the file's YAML has another type.
func JSONSchema(w io.Writer) error {
	root := &schemaNode{
		Schema: "http://json-schema.org/draft-07/schema#", Title: "eerf configuration",
		Description: "One YAML file of sections and keys; every key has a default. Bounds and relations are checked by: featurizer config check -c FILE",
	}
	root.asSection()
	sections := map[string]*schemaNode{"": root}
	accepted := acceptedWords()
	for _, key := range readSchema().keys {
		section := schemaSection(sections, sectionOf(key.Name))
		section.Properties.add(lastPart(key.Name), key.schemaNode(accepted[key.Name]))
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(root); err != nil {
		return fmt.Errorf("write the schema of the configuration: %w", err)
	}
	return nil
}

// schemaNode is a JSON Schema, with the keywords used here.
type schemaNode struct {
	Schema      string        `json:"$schema,omitempty"`
	Title       string        `json:"title,omitempty"`
	Description string        `json:"description,omitempty"`
	Type        any           `json:"type,omitempty"` // a name or a list of names
	Enum        []string      `json:"enum,omitempty"`
	Pattern     string        `json:"pattern,omitempty"` // of text; other types pass
	Minimum     *int          `json:"minimum,omitempty"` // of numbers; other types pass
	Items       *schemaNode   `json:"items,omitempty"`
	Default     any           `json:"default,omitempty"`
	WriteOnly   bool          `json:"writeOnly,omitempty"` // a secret
	Properties  *schemaFields `json:"properties,omitempty"`
	Additional  *bool         `json:"additionalProperties,omitempty"`
}

// asSection makes a node a section. A section whose keys are all commented out is null.
func (n *schemaNode) asSection() {
	n.Type, n.Properties, n.Additional = []string{"object", "null"}, &schemaFields{}, new(bool)
}

// schemaFields are the properties of a section in the order of the reference, which a map would not keep.
type schemaFields struct {
	names []string
	nodes []*schemaNode
}

func (f *schemaFields) add(name string, node *schemaNode) {
	f.names, f.nodes = append(f.names, name), append(f.nodes, node)
}

// MarshalJSON writes an object with the fields in their order.
func (f *schemaFields) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range f.names {
		if i > 0 {
			b.WriteByte(',')
		}
		node, err := json.Marshal(f.nodes[i])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", name, node)
	}
	b.WriteByte('}')
	return []byte(b.String()), nil
}

// schemaSection returns the schema of a section, adding it to its parent if it is new.
func schemaSection(sections map[string]*schemaNode, name string) *schemaNode {
	if node := sections[name]; node != nil {
		return node
	}
	node := &schemaNode{}
	node.asSection()
	sections[name] = node
	schemaSection(sections, sectionOf(name)).Properties.add(lastPart(name), node)
	return node
}

// Patterns for a duration, a size, a whole number, a window, a number or auto.
const (
	durationPattern = `^[+-]?([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`
	sizePattern     = `^[0-9][0-9_]*(\.[0-9]+)? *(KiB|MiB|GiB|kB|KB|MB|GB|B)?$`
	wholePattern    = `^-?[0-9][0-9_]*$`
	windowPattern   = `^(all|[0-9]+|([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$`
	autoPattern     = `^(auto|[0-9.]+([eE][+-]?[0-9]+)?)$`
)

// scalars are the types of a value that is read as text, whatever type YAML gives it: the column 010, the class true.
var scalars = []string{"string", "number", "boolean"}

// schemaNode describes one key; words are the accepted texts, none if any text is.
func (key *Key) schemaNode(words []string) *schemaNode {
	n := &schemaNode{Description: key.schemaText(), Enum: words, WriteOnly: key.Secret}
	zero := 0
	switch key.Type {
	case "duration":
		n.Type, n.Pattern = "string", durationPattern
	case typeSize:
		n.Type, n.Pattern, n.Minimum = []string{"integer", "string"}, sizePattern, &zero
	case "whole number":
		n.Type, n.Pattern = []string{"integer", "string"}, wholePattern
	case "number":
		n.Type = "number"
	case typeNumberOrAuto:
		n.Type, n.Pattern = []string{"number", "string"}, autoPattern
	case typeWindow:
		n.Type, n.Pattern = []string{"integer", "string"}, windowPattern
	case typeOptionalNumber:
		n.Type = []string{"number", "null"}
	case "true or false":
		n.Type = "boolean"
	case typeList:
		n.Type, n.Items = "array", &schemaNode{Type: scalars}
	case typeNumbers:
		n.Type, n.Items = "array", &schemaNode{Type: "number"}
	case typeString:
		if len(words) == 0 {
			n.Type = append([]string{"null"}, scalars...)
		}
	}
	n.Default = key.schemaDefault()
	return n
}

// schemaText is what an editor shows about a key.
func (key *Key) schemaText() string {
	text := key.Doc
	if key.Unit != "" && key.Type != typeSize {
		text += "\nUnit: " + key.Unit
	}
	return text + "\nEnvironment variable: " + key.Env
}

// schemaDefault is the default as a JSON value.
func (key *Key) schemaDefault() any {
	field := reflect.ValueOf(*Default()).FieldByIndex(key.index)
	switch v := render(field); {
	case v.Kind == valueNull:
		return json.RawMessage("null")
	case v.Kind == valueList && key.Type == typeList:
		return append([]string{}, v.List...)
	case v.Kind == valueList:
		return json.RawMessage("[" + strings.Join(v.List, ", ") + "]")
	case key.Type == typeString || key.Type == "name" || key.Type == "duration" || key.Type == typeWindow || v.Text == "auto":
		return v.Text
	default:
		return json.RawMessage(v.Text)
	}
}

// wordsOfOthers are accepted by rules that are private to the owners of a section; a test compares them with these
// rules.
var wordsOfOthers = map[string][]string{
	"events.task":            {"auto", "regression", "classification"},
	"events.standardize":     {"numeric", "all", "none"},
	"events.nan":             {"missing", "reject"},
	"events.label_transform": {"none", "log", "log1p"},
	"kafka.sasl.mechanism":   {"", "plain", "scram-sha-256", "scram-sha-512"},
}

// acceptedWords are the accepted values of keys that are one of a few words: those of types that are read from text,
// and those required by the rules of this package.
func acceptedWords() map[string][]string {
	words := map[string][]string{}
	for key, list := range wordsOfOthers {
		words[key] = list
	}
	k := newChecker(Default(), nil)
	k.accepted = words
	k.all()
	for _, key := range readSchema().keys {
		if key.Type == "name" {
			words[key.Name] = members(reflect.TypeFor[Config]().FieldByIndex(key.index).Type)
		}
	}
	return words
}

// members are the words for the values of an enumeration, which count up from 0.
func members(enumeration reflect.Type) []string {
	var words []string
	for i := uint64(0); ; i++ {
		v := reflect.New(enumeration).Elem()
		v.SetUint(i)
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil || v.OverflowUint(i+1) {
			return words
		}
		words = append(words, string(text))
	}
}
