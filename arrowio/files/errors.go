package files

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// Faults that callers may test for with errors.Is, in addition to those of package arrowio.
var (
	// ErrEmpty marks a file without the rows or header needed to find its columns.
	ErrEmpty = errors.New("the file is empty")
	// ErrNoFormat marks a file whose format is not given by the options, its name or its first
	// bytes.
	ErrNoFormat = errors.New("the name does not tell the format")
)

// DelimiterError marks a CSV file that does not seem to use the default delimiter: split by it, the
// first line is a single field, or the first lines differ in their number of fields.
type DelimiterError struct {
	Delimiter rune // the default
	By        int  // fields of the first line, split by Delimiter
	Other     rune // the delimiter that fits
	Fields    int  // of the first line, split by Other
}

func (e *DelimiterError) Error() string {
	if e.By > 1 {
		return fmt.Sprintf(
			"the first two lines have different numbers of fields by the delimiter %q, and %d fields each by %q",
			e.Delimiter, e.Fields, e.Other,
		)
	}
	return fmt.Sprintf(
		"the first line is one field by the delimiter %q and %d fields by %q",
		e.Delimiter, e.Fields, e.Other,
	)
}

// TitleError marks a CSV file whose first row is a single field and whose next row has several: the
// first lines seem to be a title.
type TitleError struct {
	Lines  int64 // before the row with several fields
	Fields int   // of that row
}

func (e *TitleError) Error() string {
	return fmt.Sprintf(
		"line %d has %d fields, the first row has one: the %d lines before seem to be a title",
		e.Lines+1, e.Fields, e.Lines,
	)
}

// Error is a fault in a file and its place.
type Error struct {
	Path   string
	Line   int64  // from 1; 0 if lines have no meaning
	Column string // the column's name, "" if the fault is not in one
	Err    error
}

// Error returns "path: line 3: column "age": fault", without unknown parts.
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

// corrupt marks a library's error as damage of the file, unless it already has a kind.
func corrupt(err error) error {
	for _, known := range []error{ErrEmpty, arrowio.ErrCorrupt, arrowio.ErrTooLarge, arrowio.ErrUnsupported} {
		if errors.Is(err, known) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", arrowio.ErrCorrupt, err)
}

// guard turns a panic of a library that reads damaged bytes into an error. Use it deferred, with
// the error that the function returns.
func guard(err *error) {
	switch p := recover().(type) {
	case nil:
	case error:
		*err = corrupt(p)
	default:
		*err = fmt.Errorf("%w: %v", arrowio.ErrCorrupt, p)
	}
}

// validate refuses a record with values outside their buffers.
func validate(rec arrow.Record) error {
	for i, column := range rec.Columns() {
		if err := arrowio.CheckArray(column); err != nil {
			return &Error{Column: rec.ColumnName(i), Err: err}
		}
	}
	return nil
}
