package scoring

import (
	"fmt"
	"strings"
)

// names holds the texts of one enumerated type, in the order of its values.
type names struct {
	kind string
	text []string
}

// namesOf returns the names in the rows of a table.
func namesOf[Row any](kind string, table []Row, name func(Row) string) names {
	n := names{kind: kind}
	for _, row := range table {
		n.text = append(n.text, name(row))
	}
	return n
}

// name returns the text of value v, and a recognizable one for a value outside the enumeration.
func (n names) name(v uint8) string {
	if int(v) < len(n.text) {
		return n.text[v]
	}
	return fmt.Sprintf("%s(%d)", n.kind, v)
}

// check returns an error for a value outside the enumeration.
func (n names) check(v uint8) error {
	if int(v) < len(n.text) {
		return nil
	}
	return fmt.Errorf("unknown %s number %d, want one of %s", n.kind, v, strings.Join(n.text, ", "))
}

// marshal returns the text of v, or an error for a value outside the enumeration.
func (n names) marshal(v uint8) ([]byte, error) {
	if err := n.check(v); err != nil {
		return nil, err
	}
	return []byte(n.text[v]), nil
}

// parse returns the value whose text is s.
func (n names) parse(s string) (uint8, error) {
	for i, text := range n.text {
		if text == s {
			return uint8(i), nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q, want one of %s", n.kind, s, strings.Join(n.text, ", "))
}
