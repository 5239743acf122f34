package arrowio

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// slab allocates the Go objects that describe the arrays of one batch together, by kind: separately
// they would be four allocations for every column. Anything that does not fit, such as the many
// buffers of views, is allocated by itself.
type slab struct {
	datas   []array.Data
	buffers []memory.Buffer
	points  []*memory.Buffer
}

// newSlab makes room for this many arrays, with this many buffers together.
func newSlab(arrays, buffers int) slab {
	return slab{
		datas:   make([]array.Data, arrays),
		buffers: make([]memory.Buffer, buffers),
		points:  make([]*memory.Buffer, buffers),
	}
}

// wrap is [memory.NewBufferBytes].
func (s *slab) wrap(raw []byte) *memory.Buffer {
	if len(s.buffers) == 0 {
		return memory.NewBufferBytes(raw)
	}
	b := &s.buffers[0]
	s.buffers = s.buffers[1:]
	b.Reset(raw)
	return b
}

// pointers returns a list of n buffers.
func (s *slab) pointers(n int) []*memory.Buffer {
	if len(s.points) < n {
		return make([]*memory.Buffer, n)
	}
	list := s.points[:n:n]
	s.points = s.points[n:]
	return list
}

// data is [array.NewData]: the caller has the one reference to it.
func (s *slab) data(
	dtype arrow.DataType,
	n int,
	buffers []*memory.Buffer,
	children []arrow.ArrayData,
	nulls int,
) *array.Data {
	if len(s.datas) == 0 {
		return array.NewData(dtype, n, buffers, children, nulls, 0)
	}
	d := &s.datas[0]
	s.datas = s.datas[1:]
	d.Reset(dtype, n, buffers, children, nulls, 0)
	d.Retain()
	return d
}
