package arrowio

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// loadNested reads lists, fixed-size lists, structs and maps.
func (a slot) loadNested() (*array.Data, error) {
	switch a.column.layout {
	case layoutFixedList:
		return a.loadFixedList()
	case layoutStruct:
		return a.loadStruct()
	}
	offsets, first, last, err := a.offsets()
	if err != nil {
		return nil, err
	}
	child, err := a.loadChild(0)
	if err != nil {
		return nil, err
	}
	if last > int64(child.Len()) {
		return nil, corrupt("offsets up to %d into %d values", last, child.Len())
	}
	if a.column.layout == layoutMap {
		if child.NullN() != 0 || child.Children()[0].NullN() != 0 {
			return nil, corrupt("a map with null entries or keys")
		}
		child = a.entries(child, first, last)
	} else if first > 0 {
		child = own(a.loader, array.NewSliceData(child, first, last).(*array.Data))
	}
	return a.data(a.column.dtype, []arrow.ArrayData{child}, offsets), nil
}

// entries returns some of a map's entries, none of them null. It slices keys and items separately,
// because [array.Map] ignores the offset of a slice of their struct.
func (a slot) entries(all *array.Data, first, last int64) *array.Data {
	if first == 0 {
		return all
	}
	var pair [2]arrow.ArrayData
	for i := range pair {
		pair[i] = own(a.loader, array.NewSliceData(all.Children()[i], first, last))
	}
	return own(a.loader, array.NewData(all.DataType(), int(last-first), []*memory.Buffer{nil}, pair[:], 0, 0))
}

func (a slot) loadChild(i int) (*array.Data, error) {
	c := a.column.children[i]
	data, err := a.load(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Quote(c.name), err)
	}
	return data, nil
}

// loadFixedList cuts a child that is longer than its rows need, so that readers of the values find
// exactly width values per row.
func (a slot) loadFixedList() (*array.Data, error) {
	child, err := a.loadChild(0)
	if err != nil {
		return nil, err
	}
	need := int64(a.n) * int64(a.column.width)
	if int64(child.Len()) < need {
		return nil, corrupt("%d values for %d lists of %d", child.Len(), a.n, a.column.width)
	}
	var values arrow.ArrayData = child
	if int64(child.Len()) > need {
		values = own(a.loader, array.NewSliceData(child, 0, need))
	}
	return a.data(a.column.dtype, []arrow.ArrayData{values}), nil
}

// loadStruct reads the children, each as long as the struct.
func (a slot) loadStruct() (*array.Data, error) {
	if len(a.column.children) == 0 {
		if err := a.takeUnbacked("empty structs", a.n); err != nil {
			return nil, err
		}
	}
	children := make([]arrow.ArrayData, len(a.column.children))
	for i := range children {
		child, err := a.loadChild(i)
		if err != nil {
			return nil, err
		}
		if child.Len() != a.n {
			return nil, corrupt("%s has %d values in %d structs", Quote(a.column.children[i].name), child.Len(), a.n)
		}
		children[i] = child
	}
	return a.data(a.column.dtype, children), nil
}
