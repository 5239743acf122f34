// Package tensors reads requests and writes answers of the Open Inference Protocol, version 2, over
// HTTP: tensors in JSON, or in binary after the JSON, as in Triton's extension. A request becomes
// one Arrow record with a column for each input.
//
//	BOOL, INT8 … INT64, UINT8 … UINT64, FP32, FP64    a column of that type
//	BYTES                                             a column of strings, which are valid UTF-8
//	shape [rows, n], n > 1, of numbers                a fixed-size list of n
//
// A null in FP32 or FP64 data, and NaN in binary, is a missing value; other types have none.
//
// # Guards
//
// As for Arrow and the other formats, nothing in a request is trusted. A shape may claim no more
// values than there are bytes for. Memory is charged against [arrowio.Limits.BudgetBytes] before it
// is allocated. Inputs, rows and names are bounded. A refusal wraps a sentinel ([ErrTensors] or one
// of arrowio), and no input panics.
//
// A [Decoder] belongs to one goroutine; its results own their memory.
package tensors
