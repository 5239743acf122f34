package sets

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// readMasks reads the test rows of each published split: a row for each row of the table, a column
// of 0 and 1 for each split.
func (t *Table) readMasks(ctx context.Context, open func() (RowReader, error)) (err error) {
	reader, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeReader(reader)) }()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		rec, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return t.checkMasks()
		}
		if err != nil {
			return err
		}
		err = t.addMasks(rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
}

// addMasks appends a record of masks.
func (t *Table) addMasks(rec arrow.Record) error {
	if t.masks == nil {
		t.masks = make([][]bool, rec.NumCols())
	}
	for k := range t.masks {
		column, ok := rec.Column(k).(*array.Int64)
		if !ok {
			return fmt.Errorf("column %d of the masks is %s, want whole numbers", k+1, rec.Column(k).DataType())
		}
		for i := range column.Len() {
			v := column.Value(i)
			if column.IsNull(i) || v != 0 && v != 1 {
				return fmt.Errorf("row %d of the masks has %s in column %d, want 0 or 1", len(t.masks[k])+1, column.ValueStr(i),
					k+1)
			}
			t.masks[k] = append(t.masks[k], v == 1)
		}
	}
	return nil
}

// checkMasks reports masks that do not split the rows of the table.
func (t *Table) checkMasks() error {
	for k, mask := range t.masks {
		test := 0
		for _, in := range mask {
			if in {
				test++
			}
		}
		switch {
		case len(mask) != t.Rows():
			return fmt.Errorf("the masks have %d rows, the data %d", len(mask), t.Rows())
		case test == 0 || test == t.Rows():
			return fmt.Errorf("split %d has %d test rows of %d", k+1, test, t.Rows())
		}
	}
	if len(t.masks) == 0 {
		return errors.New("no masks")
	}
	return nil
}

// mask marks the test rows of the published split for a seed, counted from 1 and modulo the number
// of splits.
func (t *Table) mask(seed uint64) []bool {
	n := uint64(len(t.masks))
	return t.masks[(seed+n-1)%n]
}
