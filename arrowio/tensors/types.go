package tensors

import (
	"errors"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// ErrTensors marks a body that is not a request of the protocol.
var ErrTensors = errors.New("not tensors")

// Reason is the stable word of ErrTensors.
const Reason = "bad_tensors"

func wrong(format string, args ...any) error { return arrowio.Wrap(ErrTensors, format, args...) }

func tooLarge(format string, args ...any) error {
	return arrowio.Wrap(arrowio.ErrTooLarge, format, args...)
}

// The types of the outputs; inputs may have others as well.
const (
	DatatypeBytes   = "BYTES"
	DatatypeFloat32 = "FP32"
	DatatypeFloat64 = "FP64"
)

// datatype is how a type of the protocol is read.
type datatype struct {
	arrow arrow.DataType
	size  int // bytes of a binary value; 0 = its length precedes it
}

var datatypes = map[string]datatype{
	"BOOL": {arrow.FixedWidthTypes.Boolean, 1},
	"INT8": {arrow.PrimitiveTypes.Int8, 1},
	"INT16": {
		arrow.PrimitiveTypes.Int16,
		2,
	}, "INT32": {arrow.PrimitiveTypes.Int32, 4}, "INT64": {arrow.PrimitiveTypes.Int64, 8},
	"UINT8": {arrow.PrimitiveTypes.Uint8, 1},
	"UINT16": {
		arrow.PrimitiveTypes.Uint16,
		2,
	}, "UINT32": {arrow.PrimitiveTypes.Uint32, 4}, "UINT64": {arrow.PrimitiveTypes.Uint64, 8},
	DatatypeFloat32: {arrow.PrimitiveTypes.Float32, 4}, DatatypeFloat64: {arrow.PrimitiveTypes.Float64, 8},
	DatatypeBytes: {arrow.BinaryTypes.String, 0},
}

// inputCost is the memory of an input in addition to its values: Go objects, measured and rounded
// up.
const inputCost = 1024
