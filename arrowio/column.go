package arrowio

import "github.com/apache/arrow/go/v15/arrow"

// layout is how the values of a column are stored in a batch.
type layout uint8

const (
	layoutNull       layout = iota // nothing at all
	layoutBool                     // validity, bits
	layoutFixed                    // validity, values of width bytes
	layoutBinary                   // validity, offsets of width bytes, data
	layoutView                     // validity, 16-byte views, any number of data buffers
	layoutList                     // validity, offsets of width bytes; one child
	layoutFixedList                // validity; one child with width values per row
	layoutStruct                   // validity; children as long as itself
	layoutMap                      // a list of structs of two
	layoutDictionary               // validity, indexes of width bytes
)

// column is the plan for reading one column, or one child of a nested one.
type column struct {
	name       string
	dtype      arrow.DataType // the type of the array that is built
	layout     layout
	width      int // see layout
	align      int // alignment of the values' address
	utf8       bool
	children   []*column
	dictionary int64 // id, for layoutDictionary
}

// flat reports whether the column can be the values of a dictionary.
func (c *column) flat() bool {
	switch c.layout {
	case layoutBool, layoutFixed, layoutBinary, layoutView:
		return true
	}
	return false
}

// shape counts the parts of a batch that belong to a column and its children.
type shape struct {
	nodes, buffers int
	views          int // nodes with a buffer count of their own
}

func (s *shape) add(o shape) {
	s.nodes += o.nodes
	s.buffers += o.buffers
	s.views += o.views
}

func (c *column) shape() shape {
	s := shape{nodes: 1}
	switch c.layout {
	case layoutNull:
	case layoutFixedList, layoutStruct:
		s.buffers = 1
	case layoutBinary:
		s.buffers = 3
	case layoutView:
		s.buffers, s.views = 2, 1
	default:
		s.buffers = 2
	}
	for _, child := range c.children {
		s.add(child.shape())
	}
	return s
}
