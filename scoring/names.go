package scoring

import (
	"fmt"
	"strings"
)

// names holds the texts of one enumerated type, in the order of its values.
type names[E ~uint8] struct {
	kind string
	text []string
}

// namesOf returns the names in the rows of a table.
func namesOf[E ~uint8, Row any](kind string, table []Row, name func(Row) string) names[E] {
	n := names[E]{kind: kind}
	for _, row := range table {
		n.text = append(n.text, name(row))
	}
	return n
}

// name returns the text of value v, or kind and number for a value outside the enumeration.
func (n names[E]) name(v E) string {
	if int(v) < len(n.text) {
		return n.text[v]
	}
	return fmt.Sprintf("%s(%d)", n.kind, uint8(v))
}

// must returns v and panics for a value outside the enumeration.
func (n names[E]) must(v E) E {
	if int(v) >= len(n.text) {
		panic("scoring: " + n.name(v))
	}
	return v
}

// check returns an error for a value outside the enumeration.
func (n names[E]) check(v E) error {
	if int(v) < len(n.text) {
		return nil
	}
	return fmt.Errorf("unknown %s number %d, want one of %s", n.kind, uint8(v), strings.Join(n.text, ", "))
}

// marshal returns the text of v, or an error for a value outside the enumeration.
func (n names[E]) marshal(v E) ([]byte, error) { return []byte(n.name(v)), n.check(v) }

// unmarshal sets v to the value whose name is text. The error of an unknown name lists the known
// ones.
func (n names[E]) unmarshal(v *E, text []byte) error {
	for i, name := range n.text {
		if name == string(text) {
			*v = E(i)
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q, want one of %s", n.kind, text, strings.Join(n.text, ", "))
}
