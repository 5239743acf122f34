package datasets

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

// Columns of the rows from a pair of idx files.
const (
	idxValues = "pixels" // fixed-size list of uint8
	idxLabel  = "digit"  // uint8
)

// idxBatchBytes bounds the bytes of a record, idxBatchRows its rows.
const (
	idxBatchBytes = 8 << 20
	idxBatchRows  = 4096
)

// idxPair reads the rows of two idx files, one with vectors and one with a label for each.
type idxPair struct {
	values, labels *idxFile
	schema         *arrow.Schema
	batch          int
}

// openIDXPair opens two files, which must have the same number of rows.
func openIDXPair(values, labels string) (*idxPair, error) {
	v, err := openIDX(values)
	if err != nil {
		return nil, err
	}
	l, err := openIDX(labels)
	if err != nil {
		return nil, errors.Join(err, v.Close())
	}
	p := &idxPair{values: v, labels: l, batch: max(1, min(idxBatchRows, idxBatchBytes/v.width))}
	switch {
	case l.width != 1:
		err = l.fault("%w: %d bytes a row, want one label", arrowio.ErrCorrupt, l.width)
	case l.rows != v.rows:
		err = l.fault("%w: %d labels for the %d rows of %s", arrowio.ErrCorrupt, l.rows, v.rows, values)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.schema = arrow.NewSchema([]arrow.Field{
		{Name: idxLabel, Type: arrow.PrimitiveTypes.Uint8},
		{Name: idxValues, Type: arrow.FixedSizeListOfNonNullable(int32(v.width), arrow.PrimitiveTypes.Uint8)},
	}, nil)
	return p, nil
}

// Next returns the next rows as a record.
func (p *idxPair) Next() (arrow.Record, error) {
	values, err := p.values.next(p.batch)
	if err != nil {
		return nil, err
	}
	labels, err := p.labels.next(p.batch)
	if err != nil {
		return nil, err
	}
	n := len(labels)
	if n == 0 {
		return nil, io.EOF
	}
	label := bytesColumn(labels)
	defer label.Release()
	flat := bytesColumn(values)
	defer flat.Release()
	lists := array.NewData(p.schema.Field(1).Type, n, []*memory.Buffer{nil}, []arrow.ArrayData{flat.Data()}, 0, 0)
	defer lists.Release()
	vectors := array.NewFixedSizeListData(lists)
	defer vectors.Release()
	return array.NewRecord(p.schema, []arrow.Array{label, vectors}, int64(n)), nil
}

// bytesColumn makes a column of bytes without copying them.
func bytesColumn(values []byte) arrow.Array {
	data := array.NewData(arrow.PrimitiveTypes.Uint8, len(values), []*memory.Buffer{nil, memory.NewBufferBytes(values)}, nil, 0, 0)
	defer data.Release()
	return array.NewUint8Data(data)
}

// Close closes both files.
func (p *idxPair) Close() error { return errors.Join(p.values.Close(), p.labels.Close()) }
