package tensors

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// ErrTensors says that the body is not a request of the protocol.
var ErrTensors = errors.New("not tensors")

// Reason is the stable word of ErrTensors.
const Reason = "bad_tensors"

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrTensors, fmt.Sprintf(format, args...))
}

func tooLarge(format string, args ...any) error {
	return fmt.Errorf("%w: %s", arrowio.ErrTooLarge, fmt.Sprintf(format, args...))
}

// quote formats a name from a request for an error, at bounded length.
func quote(name string) string {
	const shown = 64
	if len(name) > shown {
		return strconv.Quote(name[:shown]) + "..."
	}
	return strconv.Quote(name)
}

// DatatypeBytes is the type of strings.
const DatatypeBytes = "BYTES"

// datatype is how a type of the protocol is read.
type datatype struct {
	arrow arrow.DataType
	size  int // bytes of a binary value; 0 = its length precedes it
}

var datatypes = map[string]datatype{
	"BOOL":  {arrow.FixedWidthTypes.Boolean, 1},
	"INT8":  {arrow.PrimitiveTypes.Int8, 1},
	"INT16": {arrow.PrimitiveTypes.Int16, 2}, "INT32": {arrow.PrimitiveTypes.Int32, 4}, "INT64": {arrow.PrimitiveTypes.Int64, 8},
	"UINT8":  {arrow.PrimitiveTypes.Uint8, 1},
	"UINT16": {arrow.PrimitiveTypes.Uint16, 2}, "UINT32": {arrow.PrimitiveTypes.Uint32, 4}, "UINT64": {arrow.PrimitiveTypes.Uint64, 8},
	"FP32": {arrow.PrimitiveTypes.Float32, 4}, "FP64": {arrow.PrimitiveTypes.Float64, 8},
	DatatypeBytes: {arrow.BinaryTypes.String, 0},
}

// budget counts down the memory that one request may still take. Nothing is given back.
type budget struct{ total, left int64 }

func (b *budget) take(n int64) error {
	if n > b.left {
		return fmt.Errorf("%w: %d bytes wanted, %d of %d left", arrowio.ErrBudget, n, b.left, b.total)
	}
	b.left -= n
	return nil
}

// inputCost is what an input costs in addition to its values: Go objects, measured and rounded up.
const inputCost = 1024
