package formats

import (
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// recycler makes records that live until the next message and reuse the memory of the previous one
// ([Options.EncodeOnly]). Without it, a row with a few dozen columns would allocate a few hundred
// objects.
type recycler struct {
	wanted  *wanted
	places  []int  // of the features in the table, as in the previous message
	slots   []slot // of the features
	made    []arrow.Array
	schemas schemaCache
	record  arrow.Record // the previous one, nil = none
}

func newRecycler(w *wanted) *recycler {
	return &recycler{wanted: w, places: make([]int, len(w.features)), slots: make([]slot, len(w.features))}
}

// forget drops the memory of the previous record.
func (r *recycler) forget() {
	clear(r.slots)
	r.record = nil
}

// make returns the table's features as a record, in the encoder's order. Features that the message
// or its schema lacks are left out; the record then does not fit the encoder.
func (r *recycler) make(t *table) (arrow.Record, error) {
	if err := t.budget.Take(recordCost); err != nil {
		return nil, err
	}
	if found := r.locate(t); found > 0 && found < len(r.places) && t.bound == nil {
		if err := t.complete(r.wanted); err != nil {
			return nil, err
		}
		r.locate(t)
	}
	defer func() {
		for _, column := range r.made {
			column.Release()
		}
		r.made = r.made[:0]
	}()
	if err := r.columns(t); err != nil {
		return nil, err
	}
	if !r.same(t) {
		r.renew(t)
		if r.bytes() > keptRecord {
			record := r.record
			r.forget()
			return record, nil
		}
	}
	r.record.Retain()
	return r.record, nil
}

// same reports whether the previous record has these arrays and fields.
func (r *recycler) same(t *table) bool {
	return r.record != nil && r.record.NumRows() == int64(t.rows) && r.schemas.text == (t.bound == nil) &&
		slices.Equal(r.record.Columns(), r.made)
}

// locate finds the features in the table, -1 for a missing one, and returns the number of found
// ones.
func (r *recycler) locate(t *table) (found int) {
	for i, name := range r.wanted.features {
		at := r.places[i]
		if at < 0 || at >= len(t.columns) || t.columns[at].name != name {
			known := false
			if at, known = t.find(name); !known {
				at = -1
			}
			r.places[i] = at
		}
		if at >= 0 {
			found++
		}
	}
	return found
}

// columns makes the arrays of the located features.
func (r *recycler) columns(t *table) error {
	m := maker{table: t}
	for i, at := range r.places {
		if at < 0 {
			continue
		}
		c := &t.columns[at]
		m.slot = &r.slots[i]
		made, err := m.array(c, c.featureType(t, r.wanted.types[i]))
		if err != nil {
			return err
		}
		r.made = append(r.made, made)
	}
	return nil
}

// renew makes a record from the arrays.
func (r *recycler) renew(t *table) {
	if r.record != nil {
		r.record.Release()
	}
	there := make([]string, 0, len(r.made))
	for i, at := range r.places {
		if at >= 0 {
			there = append(there, r.wanted.features[i])
		}
	}
	name := func(i int) string { return there[i] }
	r.record = array.NewRecord(r.schemas.schema(name, r.made, t.bound == nil), r.made, int64(t.rows))
}

// keptRecord is the largest record, in bytes, whose memory is reused.
const keptRecord = 256 << 10

// bytes returns the memory held by the slots.
func (r *recycler) bytes() (n int) {
	for i := range r.slots {
		for _, b := range r.slots[i].buffers {
			n += len(b)
		}
	}
	return n
}

// featureType returns the type in which an encoder reads a feature; nil means that the cells
// decide.
func featureType(c *encoder.Column) arrow.DataType {
	switch c.Kind {
	case encoder.Bool:
		return arrow.FixedWidthTypes.Boolean
	case encoder.Numeric:
		return arrow.PrimitiveTypes.Float64 // an encoder widens whole numbers to it
	case encoder.Category, encoder.Time, encoder.Clock:
		return arrow.BinaryTypes.String
	case encoder.Vector:
		return listOf(c.Width)
	}
	return nil
}

// featureType returns the type of a feature's array. It is never the null type, so that the schema
// does not change when a message has no values.
func (c *column) featureType(t *table, wanted arrow.DataType) arrow.DataType {
	switch {
	case t.bound != nil && c.typ != nil:
		return c.typ
	case wanted == arrow.PrimitiveTypes.Float64 && c.counts[cellWide] > 0:
		t.narrow(c)
		return c.featureType(t, wanted)
	case wanted == arrow.FixedWidthTypes.Boolean && c.others(cellBool, cellBool),
		wanted == arrow.PrimitiveTypes.Float64 && c.others(cellWhole, cellFloat):
		return arrow.BinaryTypes.String
	case wanted != nil:
		return wanted
	case len(c.cells) == c.counts[cellNull]:
		return arrow.BinaryTypes.String
	}
	return t.commonType(c)
}

// buffer is the index of a buffer in an array.
type buffer int

const (
	bufferValid  buffer = iota // bitmap of the rows that are not null
	bufferValues               // numbers, bits, offsets of strings
	bufferText
	bufferInner // bitmap of the numbers of lists
	buffers     // the number of buffers
)

// slot is the memory of a column, kept between messages.
type slot struct {
	typ     arrow.DataType
	rows    int
	buffers [buffers][]byte
	array   arrow.Array // the array of the buffers; nil = not made yet
}

// prepare drops buffers that do not fit an array of the given type and number of rows.
func (s *slot) prepare(typ arrow.DataType, rows int) {
	if s.typ == nil || s.rows != rows || !sameType(s.typ, typ) {
		*s = slot{typ: typ, rows: rows}
	}
}

// room returns zeros.
func (s *slot) room(which buffer, size int) []byte {
	b := s.buffers[which]
	if b == nil || len(b) != size {
		b = aligned(size)
		s.buffers[which], s.array = b, nil
	} else {
		clear(b)
	}
	return b
}

// textRoom returns an empty slice with capacity for n bytes. The buffer may be longer than its
// content, so that texts of other lengths fit later.
func (s *slot) textRoom(size int) []byte {
	if len(s.buffers[bufferText]) <= size {
		const step = 64
		s.buffers[bufferText], s.array = aligned((size/step+1)*step), nil
	}
	return s.buffers[bufferText][:0]
}

// aligned returns zeros, aligned for numbers of any kind.
func aligned(size int) []byte {
	words := make([]uint64, max(1, (size+7)/8))
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
}
