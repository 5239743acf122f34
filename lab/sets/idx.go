package sets

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Columns of the rows from a pair of idx files.
const (
	idxValues = "pixels" // fixed-size list of uint8
	idxLabel  = "digit"  // uint8
)

// idx opens a pair of idx files of the folder: vectors, and a label for each.
func (f folder) idx(values, labels string) func() (RowReader, error) {
	return func() (RowReader, error) {
		x, rows, width, err := f.readIDX(values)
		if err != nil {
			return nil, err
		}
		y, labelled, one, err := f.readIDX(labels)
		if err != nil {
			return nil, err
		}
		if one != 1 || labelled != rows {
			return nil, fmt.Errorf("%s has %d rows of %d bytes, want one label for each of the %d rows of %s", labels, labelled,
				one, rows, values)
		}
		return &once{idxRecord(x, y, width)}, nil
	}
}

// readIDX returns the values of an idx file of bytes: two zero bytes, the type code 8, the number
// of dimensions, each dimension as a big-endian uint32, then the values with the last dimension
// varying fastest. The first one is the rows.
func (f folder) readIDX(path string) (values []byte, rows, width int, err error) {
	found, err := f.find(path)
	if err != nil {
		return nil, 0, 0, err
	}
	content, err := readContent(found)
	if err == nil {
		values, rows, width, err = parseIDX(content)
	}
	if err != nil {
		return nil, 0, 0, fmt.Errorf("%s: %w", found, err)
	}
	return values, rows, width, nil
}

func parseIDX(content []byte) (values []byte, rows, width int, err error) {
	if len(content) < 4 || content[0] != 0 || content[1] != 0 || content[2] != 8 || content[3] == 0 {
		return nil, 0, 0, errors.New("not an idx file of bytes")
	}
	dimensions := int(content[3])
	if len(content) < 4+4*dimensions {
		return nil, 0, 0, errors.New("the header is cut off")
	}
	rows, width = int(binary.BigEndian.Uint32(content[4:])), 1
	for i := range dimensions - 1 {
		width *= int(binary.BigEndian.Uint32(content[8+4*i:]))
	}
	values = content[4+4*dimensions:]
	if width < 1 || len(values)/width != rows || len(values)%width != 0 {
		return nil, 0, 0, fmt.Errorf("%d bytes for %d rows of %d", len(values), rows, width)
	}
	return values, rows, width, nil
}

// idxRecord makes a record of vectors and their labels.
func idxRecord(values, labels []byte, width int) arrow.Record {
	label := bytesColumn(labels)
	defer label.Release()
	flat := bytesColumn(values)
	defer flat.Release()
	list := arrow.FixedSizeListOfNonNullable(int32(width), arrow.PrimitiveTypes.Uint8)
	lists := array.NewData(list, len(labels), []*memory.Buffer{nil}, []arrow.ArrayData{flat.Data()}, 0, 0)
	defer lists.Release()
	vectors := array.NewFixedSizeListData(lists)
	defer vectors.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: idxLabel, Type: label.DataType()}, {Name: idxValues, Type: list}}, nil)
	return array.NewRecord(schema, []arrow.Array{label, vectors}, int64(len(labels)))
}

// bytesColumn makes a column of bytes without copying them.
func bytesColumn(values []byte) arrow.Array {
	data := array.NewData(arrow.PrimitiveTypes.Uint8, len(values), []*memory.Buffer{nil, memory.NewBufferBytes(values)},
		nil, 0, 0)
	defer data.Release()
	return array.NewUint8Data(data)
}
