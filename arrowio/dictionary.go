package arrowio

import (
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// dictionaries are the values of the dictionaries of one stream, by id. A replacement does not
// affect records made with the previous values.
type dictionaries map[int64]*array.Data

// put sets the values of a dictionary.
func (d dictionaries) put(id int64, values *array.Data) {
	if known := d[id]; known != nil {
		known.Release()
	}
	values.Retain()
	d[id] = values
}

func (d dictionaries) release() {
	for _, values := range d {
		values.Release()
	}
	clear(d)
}

// dictionary returns the current values of a dictionary. One that was never sent is empty: writers
// omit it for a column of nulls.
func (s *stream) dictionary(id int64) *array.Data {
	if s.dicts[id] == nil {
		empty := emptyValues(s.schema.dictionaries[id])
		defer empty.Release()
		s.dicts.put(id, empty)
	}
	return s.dicts[id]
}

// emptyValues makes an empty array for a flat column.
func emptyValues(c *column) *array.Data {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(nil)}
	if c.layout == layoutBinary || c.layout == layoutView {
		buffers = []*memory.Buffer{nil, memory.NewBufferBytes(noOffsets), memory.NewBufferBytes(nil)}
	}
	return array.NewData(c.dtype, 0, buffers, nil, 0, 0)
}
