package arrowio

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// record reads the whole batch as a record of the schema's columns.
func (l *loader) record(s *schema) (arrow.Record, error) {
	if err := l.checkShape(s.shape); err != nil {
		return nil, err
	}
	columns := make([]arrow.Array, len(s.columns))
	l.owned = make([]releaser, 0, 2*len(columns)) // data and array of flat columns
	for i, c := range s.columns {
		data, err := l.load(c)
		if err == nil && int64(data.Len()) != l.b.length {
			err = corrupt("%d values in a batch of %d rows", data.Len(), l.b.length)
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", Quote(c.name), err)
		}
		columns[i] = own(l, array.MakeFromData(data))
	}
	return array.NewRecord(s.arrow, columns, l.b.length), nil
}

// values reads the batch as the values of a dictionary.
func (l *loader) values(c *column) (*array.Data, error) {
	if err := l.checkShape(c.shape()); err != nil {
		return nil, err
	}
	data, err := l.load(c)
	if err == nil && int64(data.Len()) != l.b.length {
		err = corrupt("%d values in a batch of %d rows", data.Len(), l.b.length)
	}
	return data, err
}

// load reads one column with its children. The loader holds the reference.
func (l *loader) load(c *column) (*array.Data, error) {
	n, nulls, err := l.nextNode()
	if err != nil {
		return nil, err
	}
	if c.layout == layoutNull {
		return l.loadNull(n)
	}
	validity, err := l.validity(n, nulls)
	if err != nil {
		return nil, err
	}
	a := slot{loader: l, column: c, n: n, nulls: nulls, validity: validity}
	switch c.layout {
	case layoutBool:
		return a.loadFixed((int64(n)+7)/8, 1)
	case layoutFixed:
		return a.loadFixed(int64(n)*int64(c.width), c.align)
	case layoutBinary:
		return a.loadBinary()
	case layoutView:
		return a.loadView()
	case layoutDictionary:
		return a.loadDictionary()
	default:
		return a.loadNested()
	}
}

// loadNull makes an array without buffers.
func (l *loader) loadNull(n int) (*array.Data, error) {
	if err := l.takeUnbacked("nulls", n); err != nil {
		return nil, err
	}
	return own(l, array.NewData(arrow.Null, n, []*memory.Buffer{nil}, nil, n, 0)), nil
}

// takeUnbacked bounds values without buffers: by the row limit, and by the budget, of which each
// takes a bit.
func (l *loader) takeUnbacked(what string, n int) error {
	if most := l.s.d.limits.MaxRows; n > most {
		return tooLarge("%d %s, at most %d", n, what, most)
	}
	return l.s.budget.Take((int64(n) + 7) / 8)
}

// validity reads the bitmap of an array, nil if it has no nulls. A bitmap is ignored if no nulls
// are claimed, as in other readers.
func (l *loader) validity(n, nulls int) (*memory.Buffer, error) {
	if nulls == 0 {
		_, err := l.nextRaw()
		return nil, err
	}
	b, err := l.next((int64(n)+7)/8, 8)
	if err != nil {
		return nil, fmt.Errorf("validity: %w", err)
	}
	return b, checkNulls(b.Bytes(), n, nulls)
}

// slot is an array being built: its node and validity have been read.
type slot struct {
	*loader
	column   *column
	n, nulls int
	validity *memory.Buffer
}

// data makes the array's data from the validity and the given buffers.
func (a slot) data(dtype arrow.DataType, children []arrow.ArrayData, buffers ...*memory.Buffer) *array.Data {
	all := a.slab.pointers(1 + len(buffers))
	all[0] = a.validity
	copy(all[1:], buffers)
	return own(a.loader, a.slab.data(dtype, a.n, all, children, a.nulls))
}

// valid returns the validity bitmap, nil if there are no nulls.
func (a slot) valid() []byte {
	if a.validity == nil {
		return nil
	}
	return a.validity.Bytes()
}

func (a slot) loadFixed(need int64, align int) (*array.Data, error) {
	values, err := a.next(need, align)
	if err != nil {
		return nil, err
	}
	return a.data(a.column.dtype, nil, values), nil
}

func (a slot) loadDictionary() (*array.Data, error) {
	c := a.column
	indexes, err := a.next(int64(a.n)*int64(c.width), c.align)
	if err != nil {
		return nil, err
	}
	values := a.s.dictionary(c.dictionary)
	dtype := c.dtype.(*arrow.DictionaryType)
	if err := checkIndexes(dtype.IndexType.ID(), indexes.Bytes(), a.valid(), values.Len()); err != nil {
		return nil, err
	}
	buffers := []*memory.Buffer{a.validity, indexes}
	return own(a.loader, array.NewDataWithDictionary(dtype, a.n, buffers, a.nulls, 0, values)), nil
}
