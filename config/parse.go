package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth and maxNodes bound what one file may expand to: aliases can make a small file endless.
const (
	maxDepth = 16
	maxNodes = 20_000
)

// fileLayer reads the YAML of a file; name is its name in faults. Malformed parts are left out of
// the values.
func fileLayer(s *schema, data []byte, name string) (map[string]value, Faults) {
	p := &parser{source: name, schema: s, values: map[string]value{}, seen: map[string]int{}}
	p.document(data)
	return p.values, p.faults
}

// parser collects the values of a file by key.
type parser struct {
	source string // name of the file in faults
	schema *schema
	values map[string]value
	faults Faults
	seen   map[string]int // line of each key and section
	nodes  int
}

func (p *parser) document(data []byte) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if !errors.Is(err, io.EOF) {
			p.fault(0, "", "", "not YAML: "+strings.TrimPrefix(err.Error(), "yaml: "))
		}
		return
	}
	var more yaml.Node
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		p.fault(0, "", "", "more than one YAML document; want one")
	}
	if len(document.Content) == 1 {
		p.section("", document.Content[0], 0)
	}
}

// section reads the keys of a mapping with a prefix ("" or "section.").
func (p *parser) section(prefix string, node *yaml.Node, depth int) {
	node = p.resolve(node)
	name := strings.TrimSuffix(prefix, ".")
	switch {
	case node == nil || depth > maxDepth:
		return
	case isNull(node):
		return // a section whose keys are all commented out
	case node.Kind != yaml.MappingNode && name == "":
		p.fault(node.Line, "", "", "the file is not a mapping; want sections of keys")
		return
	case node.Kind != yaml.MappingNode:
		p.fault(node.Line, name, nodeText(node), "is a section; want keys under it")
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		p.entry(prefix, node.Content[i], node.Content[i+1], depth)
	}
}

// entry reads one key and its value.
func (p *parser) entry(prefix string, keyNode, node *yaml.Node, depth int) {
	keyNode, node = p.resolve(keyNode), p.resolve(node)
	if keyNode == nil || node == nil {
		return
	}
	name := prefix + keyNode.Value
	if keyNode.Kind != yaml.ScalarNode {
		p.fault(keyNode.Line, strings.TrimSuffix(prefix, "."), "", "a key is a list or a mapping; want text")
		return
	}
	key, section := p.schema.byName[name], p.schema.sections[name]
	if strings.Contains(keyNode.Value, ".") && (key != nil || section) {
		p.fault(keyNode.Line, name, "", "the name has a dot; want the key under its section")
		return
	}
	if line, again := p.seen[name]; again {
		p.fault(keyNode.Line, name, "", fmt.Sprintf("given twice; the first is at line %d", line))
		return
	}
	p.seen[name] = keyNode.Line
	switch {
	case section:
		p.section(name+".", node, depth+1)
	case key == nil:
		p.faults = append(p.faults, p.schema.unknown(name, p.at(keyNode.Line)))
	default:
		p.value(key, node)
	}
}

// value reads the value of a known key.
func (p *parser) value(key *Key, node *yaml.Node) {
	v := value{Source: p.at(node.Line)}
	switch {
	case isNull(node):
	case node.Kind == yaml.ScalarNode && node.ShortTag() == "!!binary":
		p.fault(node.Line, key.Name, "", "base64 is not decoded; want the text itself")
		return
	case node.Kind == yaml.ScalarNode:
		v.Kind, v.Text = valueText, node.Value
	case node.Kind == yaml.SequenceNode:
		v.Kind = valueList
		for _, item := range node.Content {
			item = p.resolve(item)
			if item == nil {
				return
			}
			if item.Kind != yaml.ScalarNode || isNull(item) {
				p.fault(item.Line, key.Name, shown(nodeText(node), key.Secret), "an entry of the list is not one value; want text")
				return
			}
			v.List = append(v.List, item.Value)
		}
	default:
		p.fault(node.Line, key.Name, "", "is a key, not a section; want "+key.Type)
		return
	}
	p.values[key.Name] = v
}

// resolve follows an alias. It returns nil once the file has expanded to more nodes than a
// configuration has.
func (p *parser) resolve(node *yaml.Node) *yaml.Node {
	p.nodes++
	if p.nodes == maxNodes {
		p.fault(node.Line, "", "", fmt.Sprintf("the file expands to more than %d values", maxNodes))
	}
	if p.nodes >= maxNodes {
		return nil
	}
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

func (p *parser) fault(line int, key, shownValue, bound string) {
	p.faults = append(p.faults, Fault{Key: key, Value: shownValue, Bound: bound, Source: p.at(line)})
}

func (p *parser) at(line int) string {
	if line == 0 {
		return p.source
	}
	return fmt.Sprintf("%s:%d", p.source, line)
}

func isNull(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

// nodeText returns a node in the form that faults show: the text of scalars, and lists of these as
// a list.
func nodeText(node *yaml.Node) string {
	switch node.Kind {
	case yaml.ScalarNode:
		return node.Value
	case yaml.SequenceNode:
		var items []string
		for _, item := range node.Content {
			if item.Kind == yaml.ScalarNode {
				items = append(items, item.Value)
			}
		}
		return "[" + strings.Join(items, ", ") + "]"
	default:
		return ""
	}
}
