package formats

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// wanted describes the columns that an encoder reads from a message.
type wanted struct {
	features []string
	types    []arrow.DataType // preferred types of the features; nil = the cells decide
	names    []string         // the features, then the label columns
	kinds    map[string]wantedKind
	only     bool // records have the features and nothing else
	hash     Hash // of all fields above
}

// wantedKind is the kind in which an encoder reads a column; the zero value means any.
type wantedKind struct {
	kind  encoder.Kind
	width int
	form  encoder.Form
}

// wantedOf returns the kind of a column of an encoder.
func wantedOf(c *encoder.Column) wantedKind { return wantedKind{c.Kind, c.Width, c.Form} }

// newWanted returns the columns that an encoder reads; nil without an encoder.
func newWanted(e *encoder.Encoder) *wanted {
	if e == nil {
		return nil
	}
	w := &wanted{kinds: make(map[string]wantedKind)}
	for i := range e.Columns {
		c := &e.Columns[i]
		w.features = append(w.features, c.Name)
		w.types = append(w.types, featureType(c))
		w.kinds[c.Name] = wantedOf(c)
	}
	w.names = slices.Clone(w.features)
	if e.Label != nil {
		for _, name := range e.Label.Columns {
			w.kinds[name] = wantedKind{e.Label.Kind, 1, e.Label.Form}
		}
		w.names = append(w.names, e.Label.Columns...)
	}
	parts := make([]string, 0, 2*len(w.names))
	for _, name := range w.names {
		parts = append(parts, name, fmt.Sprint(w.kinds[name]))
	}
	w.hash = hashOf(append(parts, strconv.Itoa(len(w.features)))...)
	return w
}

func (w *wanted) kind(name string) wantedKind {
	if w == nil {
		return wantedKind{}
	}
	return w.kinds[name]
}

// any reports whether the table has at least one of the wanted features.
func (w *wanted) any(t *table) bool {
	for _, name := range w.features {
		if _, ok := t.find(name); ok {
			return true
		}
	}
	return false
}

// complete adds the missing features as nulls if columns has at least one feature.
func (w *wanted) complete(columns []planned, maxColumns int) ([]planned, error) {
	if w == nil {
		return columns, nil
	}
	has := make(map[string]bool, len(columns))
	for _, c := range columns {
		has[c.name] = true
	}
	if !slices.ContainsFunc(w.features, func(name string) bool { return has[name] }) {
		return columns, nil
	}
	for _, name := range w.features {
		if !has[name] {
			columns = append(columns, planned{name, arrow.Null})
		}
	}
	if len(columns) > maxColumns {
		return nil, tooManyColumns(maxColumns)
	}
	return columns, nil
}
