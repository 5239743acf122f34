package files

import (
	"errors"
	"fmt"
	"strings"
)

// Faults that callers may test for with errors.Is.
var (
	// ErrEmpty marks a file without the rows or the header that its columns
	// would be learnt from.
	ErrEmpty = errors.New("the file is empty")
	// ErrCorrupt marks a file whose bytes contradict its format.
	ErrCorrupt = errors.New("the file is damaged")
	// ErrTooLarge marks a file that asks for more than the limits of this
	// package allow.
	ErrTooLarge = errors.New("over the limit")
	// ErrNoFormat marks a file of which neither the options nor the name, nor its
	// first bytes, tell the format.
	ErrNoFormat = errors.New("the name does not tell the format")
	// ErrUnsupported marks a sound file that this package does not read.
	ErrUnsupported = errors.New("not supported")
)

// DelimiterError marks a CSV file whose first line is a single field by the default delimiter, and several by another.
type DelimiterError struct {
	Delimiter rune // the one that was taken
	Other     rune // the one that seems right
	Fields    int  // of the first line, by that one
}

func (e *DelimiterError) Error() string {
	return fmt.Sprintf("the first line is one field by the delimiter %q and %d fields by %q", e.Delimiter, e.Fields, e.Other)
}

// Error is a fault of one file, with the place where it is.
type Error struct {
	Path   string
	Line   int64  // from 1; 0 where lines mean nothing
	Column string // the column's name, "" if the fault is not in one
	Err    error
}

// Error returns "path: line 3: column "age": fault", less what is not known.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Line > 0 {
		fmt.Fprintf(&b, ": line %d", e.Line)
	}
	if e.Column != "" {
		fmt.Fprintf(&b, ": column %q", e.Column)
	}
	b.WriteString(": ")
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap returns the fault itself.
func (e *Error) Unwrap() error { return e.Err }

// located returns err as an *Error that names path.
func located(path string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.Path = path
		return e
	}
	return &Error{Path: path, Err: err}
}

// guard turns a panic of a library that reads damaged bytes into an error. Use
// it deferred, with the error that the function returns.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", ErrCorrupt, p)
	}
}
