package config

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/eerf-stream/eerf/internal/printable"
)

// Print writes every key with its value as YAML that [Load] reads back to the same configuration.
// With hideSecrets, secrets are replaced, also those in URLs, and the configuration read back does
// not authenticate.
func (c *Config) Print(w io.Writer, hideSecrets bool) error {
	return c.print(w, hideSecrets, sizeText)
}

// Values returns the values that Print writes, by section and key, for machines: sizes are numbers
// of bytes.
func (c *Config) Values(hideSecrets bool) (values map[string]any, err error) {
	var text bytes.Buffer
	err = c.print(&text, hideSecrets, func(size int64) string { return strconv.FormatInt(size, 10) })
	if err == nil {
		err = yaml.Unmarshal(text.Bytes(), &values)
	}
	if err != nil {
		return nil, fmt.Errorf("print configuration: %w", err)
	}
	return values, nil
}

// print is Print with a custom format for sizes.
func (c *Config) print(w io.Writer, hideSecrets bool, size func(bytes int64) string) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	sections := map[string]*yaml.Node{"": root}
	for _, key := range readSchema().keys {
		field := reflect.ValueOf(c).Elem().FieldByIndex(key.index)
		v := render(field)
		if key.Secret && hideSecrets && v.Kind == valueText && v.Text != "" {
			v.Text = redacted
		}
		if hideSecrets {
			v.Text = printable.URLs(v.Text)
			for i := range v.List {
				v.List[i] = printable.URLs(v.List[i])
			}
		}
		if key.Type == typeSize {
			v.Text = size(field.Int())
		}
		section := sectionNode(sections, sectionOf(key.Name))
		node, err := valueNode(v, key.Type)
		if err != nil {
			return fmt.Errorf("print %s: %w", key.Name, err)
		}
		section.Content = append(section.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: lastPart(key.Name)}, node)
	}
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	return encoder.Close()
}

// sectionNode returns the mapping of a section, adding it to its parent if it is new.
func sectionNode(sections map[string]*yaml.Node, name string) *yaml.Node {
	if node := sections[name]; node != nil {
		return node
	}
	node := &yaml.Node{Kind: yaml.MappingNode}
	sections[name] = node
	parent := sectionNode(sections, sectionOf(name))
	parent.Content = append(parent.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: lastPart(name)}, node)
	return node
}

// valueNode returns a value as YAML: text is quoted if it would be read as another type, lists are
// on one line.
func valueNode(v value, typeName string) (*yaml.Node, error) {
	switch v.Kind {
	case valueNull:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	case valueList:
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, item := range v.List {
			node, err := textNode(item, false)
			if err != nil {
				return nil, err
			}
			list.Content = append(list.Content, node)
		}
		return list, nil
	}
	return textNode(v.Text, typeName != typeString)
}

// textNode returns one value: plain, or quoted if YAML would not read it as text.
func textNode(text string, bare bool) (*yaml.Node, error) {
	if bare {
		return &yaml.Node{Kind: yaml.ScalarNode, Value: text}, nil
	}
	node := new(yaml.Node)
	return node, node.Encode(text)
}

func lastPart(name string) string { return name[strings.LastIndex(name, ".")+1:] }

func sectionOf(name string) string { return name[:max(strings.LastIndex(name, "."), 0)] }
