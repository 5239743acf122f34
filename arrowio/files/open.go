package files

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
)

// LeftOut is a column of a file that is not in the records.
type LeftOut struct {
	Column string
	Type   string // of its values, which records cannot hold
}

// NullWord is a word of a CSV column of text that was read as null.
type NullWord struct {
	Column string
	Word   string // not empty
	Rows   int64  // with the word
	Others int64  // with a value
}

// BadFields are the fields of one column that are not of its type.
type BadFields struct {
	Column string
	Type   arrow.DataType
	Fields int64 // without nulls
	Bad    int64 // fields of another type
	// Line is the line of the first bad field, and Text its content, shortened.
	Line int64
	Text string
}

// String returns a message for people: `3 of 5000 fields are not numbers and count as missing; the
// first is "n.v." in
// line 7`.
func (b BadFields) String() string {
	one, many := typeWords(b.Type)
	if b.Bad == 1 {
		return fmt.Sprintf("1 of %d fields is not %s and counts as missing: %q in line %d", b.Fields, one, b.Text, b.Line)
	}
	return fmt.Sprintf(
		"%d of %d fields are not %s and count as missing; the first is %q in line %d",
		b.Bad, b.Fields, many, b.Text, b.Line,
	)
}

// typeWords names one value, and several, of a type that text can hold.
func typeWords(t arrow.DataType) (one, many string) {
	switch {
	case t.ID() == arrow.BOOL:
		return "true or false", "true or false"
	case arrow.IsInteger(t.ID()):
		return "a whole number", "whole numbers"
	case arrow.IsFloating(t.ID()):
		return "a number", "numbers"
	case t.ID() == arrow.DATE32 || t.ID() == arrow.DATE64:
		return "a date", "dates"
	case isText(t):
		return "UTF-8 text", "UTF-8 text"
	}
	return "a time", "times"
}

// Open opens the file at path. Without Options.Format, the extension before an optional .gz decides
// the format, and the first bytes of a Parquet or Arrow file if the extension is unknown.
func Open(path string, o Options) (*Reader, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, &Error{Path: path, Err: err}
	}
	src, err := openSource(path)
	if err != nil {
		return nil, &Error{Path: path, Err: err}
	}
	r, err := openFormat(src, o)
	if err != nil {
		return nil, errors.Join(located(path, err), src.Close())
	}
	return &Reader{path: path, source: src, rows: r}, nil
}

// openFormat opens src in the format named by o or the file.
func openFormat(src *source, o Options) (rowReader, error) {
	name := o.FormatOf(src.path)
	if name == "" {
		name = formatIn(src)
	}
	if name == "" {
		return nil, noFormat(src.path)
	}
	return lookup(name).open(src, o)
}
