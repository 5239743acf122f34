package wire

import "errors"

var (
	// ErrFormatVersion reports a message in a format version that this build does not read.
	ErrFormatVersion = errors.New("unknown format version")

	// ErrMalformed reports a readable Arrow stream that is not the expected message: a missing or
	// mistyped column, metadata that does not parse, values out of range.
	ErrMalformed = errors.New("malformed message")

	// ErrSpecMismatch reports a checkpoint made under another spec than the running one.
	ErrSpecMismatch = errors.New("checkpoint belongs to another spec")

	// ErrArithmeticMismatch reports a checkpoint whose sums come from a numeric kernel with other
	// bits. It is not continued; its partition is recomputed from the start offset.
	ErrArithmeticMismatch = errors.New("checkpoint was summed by another numeric kernel")

	// ErrHashMismatch reports a feature set or model whose content does not hash to the id it
	// carries.
	ErrHashMismatch = errors.New("content does not match its id")

	// ErrHeaders reports message headers that are missing or do not parse.
	ErrHeaders = errors.New("bad message headers")

	// ErrReservedColumn reports a user's column with a name that this project needs for its own
	// columns.
	ErrReservedColumn = errors.New("column name is reserved")
)
