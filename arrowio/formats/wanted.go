package formats

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// wanted is what an encoder reads of a message.
type wanted struct {
	features []string
	types    []arrow.DataType // of the features, as an encoder reads them best; nil = the cells decide
	names    []string         // the features, then the label columns
	kinds    map[string]wantedKind
}

// wantedKind is how an encoder reads a column; the zero value says nothing.
type wantedKind struct {
	kind  encoder.Kind
	width int
}

// newWanted returns what an encoder wants, nil for none.
func newWanted(e *encoder.Encoder) *wanted {
	if e == nil {
		return nil
	}
	w := &wanted{kinds: make(map[string]wantedKind)}
	for i := range e.Columns {
		c := &e.Columns[i]
		w.features = append(w.features, c.Name)
		w.types = append(w.types, featureType(c))
		w.kinds[c.Name] = wantedKind{c.Kind, c.Width}
	}
	w.names = slices.Clone(w.features)
	if e.Label != nil {
		for _, name := range e.Label.Columns {
			w.kinds[name] = wantedKind{e.Label.Kind, 1}
		}
		w.names = append(w.names, e.Label.Columns...)
	}
	return w
}

func (w *wanted) kind(name string) wantedKind {
	if w == nil {
		return wantedKind{}
	}
	return w.kinds[name]
}

// any reports whether the table has any of the wanted features.
func (w *wanted) any(t *table) bool {
	for _, name := range w.features {
		if _, ok := t.find(name); ok {
			return true
		}
	}
	return false
}

// complete adds the features that columns lack, as nulls, if they have at least one of them.
func (w *wanted) complete(columns []planned) []planned {
	if w == nil {
		return columns
	}
	has := func(name string) bool {
		return slices.ContainsFunc(columns, func(c planned) bool { return c.name == name })
	}
	if !slices.ContainsFunc(w.features, has) {
		return columns
	}
	for _, name := range w.features {
		if !has(name) {
			columns = append(columns, planned{name, arrow.Null})
		}
	}
	return columns
}
