package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

// Names of the two columns in a LIBSVM file's records.
const (
	LabelColumn    = "label"    // float64, or int64 when every label is whole
	FeaturesColumn = "features" // fixed-size list of float32, dense
)

// libsvmReader makes dense records from a LIBSVM file.
type libsvmReader struct {
	text  *bufio.Reader
	line  libsvmLine
	types *arrow.Schema
	whole bool // labels are int64
	dim   int
	rows  int // maximum number of rows in a record
	mem   memory.Allocator
}

// openLIBSVM finds the label's type and the dimension if o does not give them, and stops before the
// first row.
func openLIBSVM(src *source, o Options) (rowReader, error) {
	label, dim, err := libsvmTypes(o)
	if err != nil {
		return nil, err
	}
	if label == nil || dim == 0 {
		found, err := scanLIBSVM(src, o.Scan)
		if err != nil {
			return nil, err
		}
		if dim == 0 {
			dim = found.dim
		}
		if label == nil {
			label = found.label()
		}
		if dim == 0 {
			return nil, fmt.Errorf("%w: no row has a feature to learn the dimension from", ErrEmpty)
		}
	}
	text, err := startLIBSVM(src)
	if err != nil {
		return nil, err
	}
	return &libsvmReader{
		text: text,
		types: arrow.NewSchema([]arrow.Field{
			{Name: LabelColumn, Type: label},
			{Name: FeaturesColumn, Type: arrow.FixedSizeListOf(int32(dim), arrow.PrimitiveTypes.Float32)},
		}, nil),
		whole: label.ID() == arrow.INT64,
		dim:   dim,
		rows:  o.rowsPerRecord(4 * dim),
		mem:   o.Allocator,
	}, nil
}

// libsvmTypes returns the label's type and the dimension given by o: nil and 0 if there are none.
func libsvmTypes(o Options) (label arrow.DataType, dim int, err error) {
	dim = o.Dim
	if o.Schema == nil {
		return nil, dim, nil
	}
	if at := o.Schema.FieldIndices(LabelColumn); len(at) > 0 {
		label = o.Schema.Field(at[0]).Type
		if label.ID() != arrow.INT64 && label.ID() != arrow.FLOAT64 {
			return nil, 0, &Error{Column: LabelColumn, Err: fmt.Errorf("%w: labels are int64 or float64, not %s", arrowio.ErrUnsupported, label)}
		}
	}
	at := o.Schema.FieldIndices(FeaturesColumn)
	if len(at) == 0 {
		return label, dim, nil
	}
	list, ok := o.Schema.Field(at[0]).Type.(*arrow.FixedSizeListType)
	if !ok || list.Elem().ID() != arrow.FLOAT32 {
		return nil, 0, &Error{Column: FeaturesColumn, Err: fmt.Errorf("%w: features are a fixed-size list of float32, not %s", arrowio.ErrUnsupported, o.Schema.Field(at[0]).Type)}
	}
	n := int(list.Len())
	if n > MaxDim || dim != 0 && dim != n {
		return nil, 0, &Error{Column: FeaturesColumn, Err: fmt.Errorf("the schema has %d dimensions where the options say %d (at most %d)", n, dim, MaxDim)}
	}
	return label, n, nil
}

// libsvmFound is the result of a first pass.
type libsvmFound struct {
	dim   int
	whole bool
}

func (f libsvmFound) label() arrow.DataType {
	if f.whole {
		return arrow.PrimitiveTypes.Int64
	}
	return arrow.PrimitiveTypes.Float64
}

// scanLIBSVM reads the whole file and rewinds it.
func scanLIBSVM(src *source, scan func(readBytes, totalBytes int64)) (libsvmFound, error) {
	found := libsvmFound{whole: true}
	if err := src.plain(); err != nil {
		return found, err
	}
	text, err := startLIBSVM(src)
	if err != nil {
		return found, err
	}
	tick := src.ticker(scan)
	var line libsvmLine
	for row := 1; ; row++ {
		err := line.next(text)
		if errors.Is(err, io.EOF) {
			return found, src.rewind()
		}
		if err != nil {
			return found, err
		}
		if n := len(line.index); n > 0 {
			found.dim = max(found.dim, int(line.index[n-1]))
		}
		found.whole = found.whole && isWhole(line.label)
		if row%scanRows == 0 {
			tick()
		}
	}
}

// isWhole reports whether v is an integer that int64 and float64 both hold.
func isWhole(v float64) bool { return v == math.Trunc(v) && math.Abs(v) <= 1<<53 }

func startLIBSVM(src *source) (*bufio.Reader, error) {
	text, err := src.content()
	if err != nil {
		return nil, err
	}
	return text, skipBOM(text)
}

func (r *libsvmReader) schema() *arrow.Schema { return r.types }

func (r *libsvmReader) release() {}

func (r *libsvmReader) next() (arrow.Record, error) {
	labels := array.NewBuilder(r.mem, r.types.Field(0).Type)
	defer labels.Release()
	buffer := memory.NewResizableBuffer(r.mem)
	defer buffer.Release()
	rows := 0
	for ; rows < r.rows; rows++ {
		err := r.line.next(r.text)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if rows == 0 {
			buffer.Resize(4 * r.dim * r.rows)
			clear(buffer.Bytes())
		}
		if err := r.add(labels, arrow.Float32Traits.CastFromBytes(buffer.Bytes())[rows*r.dim:]); err != nil {
			return nil, &Error{Line: r.line.lineNum, Err: err}
		}
	}
	if rows == 0 {
		return nil, io.EOF
	}
	buffer.Resize(4 * r.dim * rows)
	return r.record(labels, buffer, rows), nil
}

// add appends the line's label to labels and puts its features into x.
func (r *libsvmReader) add(labels array.Builder, x []float32) error {
	switch b := labels.(type) {
	case *array.Int64Builder:
		if !isWhole(r.line.label) {
			return fmt.Errorf("label %g is not a whole number", r.line.label)
		}
		b.Append(int64(r.line.label))
	case *array.Float64Builder:
		b.Append(r.line.label)
	}
	for i, index := range r.line.index {
		if int(index) > r.dim {
			return fmt.Errorf("index %d is beyond the %d dimensions", index, r.dim)
		}
		x[index-1] = r.line.value[i]
	}
	return nil
}

// record wraps labels and the dense features without copying them.
func (r *libsvmReader) record(labels array.Builder, features *memory.Buffer, rows int) arrow.Record {
	label := labels.NewArray()
	defer label.Release()
	values := array.NewData(arrow.PrimitiveTypes.Float32, rows*r.dim, []*memory.Buffer{nil, features}, nil, 0, 0)
	defer values.Release()
	lists := array.NewData(r.types.Field(1).Type, rows, []*memory.Buffer{nil}, []arrow.ArrayData{values}, 0, 0)
	defer lists.Release()
	x := array.NewFixedSizeListData(lists)
	defer x.Release()
	return array.NewRecord(r.types, []arrow.Array{label, x}, int64(rows))
}
