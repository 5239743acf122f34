package arrowio

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// dictionaries are the dictionaries of one stream in their current state. A replacement does not affect records made
// with the previous values.
type dictionaries struct{ byID map[int64]*dictionary }

// dictionary is a list of chunks: the values and their deltas. They are joined only when a batch needs them, so a
// stream of many deltas costs one copy, not one for each.
type dictionary struct{ chunks []*array.Data }

// add replaces the values, or appends to them if they are a delta.
func (d *dictionaries) add(id int64, values *array.Data, delta bool) error {
	known := d.byID[id]
	if delta {
		if known == nil {
			return corrupt("a delta to dictionary %d before its values", id)
		}
		values.Retain()
		known.chunks = append(known.chunks, values)
		return nil
	}
	if d.byID == nil {
		d.byID = make(map[int64]*dictionary)
	}
	if known != nil {
		known.release()
	}
	values.Retain()
	d.byID[id] = &dictionary{chunks: []*array.Data{values}}
	return nil
}

func (d *dictionaries) release() {
	for _, dict := range d.byID {
		dict.release()
	}
	d.byID = nil
}

func (d *dictionary) release() {
	for _, c := range d.chunks {
		c.Release()
	}
	d.chunks = nil
}

// dictionary returns the current values of a dictionary. One that was never sent is empty: writers omit it for a
// column of nulls.
func (s *stream) dictionary(id int64) (*array.Data, error) {
	dict := s.dicts.byID[id]
	if dict == nil {
		empty := emptyValues(s.schema.dictionaries[id])
		defer empty.Release()
		if err := s.dicts.add(id, empty, false); err != nil {
			return nil, err
		}
		dict = s.dicts.byID[id]
	}
	if len(dict.chunks) > 1 {
		if err := s.join(dict); err != nil {
			return nil, err
		}
	}
	return dict.chunks[0], nil
}

// join makes one chunk of several.
func (s *stream) join(dict *dictionary) error {
	length, size := 0, int64(arrayCost)
	chunks := make([]arrow.Array, len(dict.chunks))
	for i, c := range dict.chunks {
		chunks[i] = array.MakeFromData(c)
		defer chunks[i].Release()
		length += c.Len()
		size += int64(c.Len()+7)/8 + arrayCost
		for _, b := range c.Buffers() {
			if b != nil {
				size += int64(b.Len())
			}
		}
	}
	if most := s.d.limits.MaxRows; length > most {
		return tooLarge("dictionary of %d entries, at most %d", length, most)
	}
	if err := s.budget.Take(size); err != nil {
		return err
	}
	joined, err := array.Concatenate(chunks, s.d.mem)
	if err != nil {
		return corrupt("dictionary: %v", err)
	}
	defer joined.Release()
	data := joined.Data().(*array.Data)
	data.Retain()
	dict.release()
	dict.chunks = []*array.Data{data}
	return nil
}

// emptyValues makes an empty array for a flat column.
func emptyValues(c *column) *array.Data {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(nil)}
	if c.layout == layoutBinary || c.layout == layoutView {
		buffers = []*memory.Buffer{nil, memory.NewBufferBytes(noOffsets), memory.NewBufferBytes(nil)}
	}
	return array.NewData(c.dtype, 0, buffers, nil, 0, 0)
}
