package files

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// Limits of one file. They are far above ordinary data; a file that exceeds them is damaged,
// hostile, or needs another tool.
const (
	// MaxColumns bounds the columns of a CSV file.
	MaxColumns = 1 << 16
	// MaxLineBytes bounds one CSV record. Otherwise an unclosed quote would swallow
	// the rest of the file.
	MaxLineBytes = 16 << 20
)

// DefaultBatchRows is the number of rows per record if Options.BatchRows is 0.
const DefaultBatchRows = 4096

// targetRecordBytes caps the memory of one record made from text: a record ends early, below
// BatchRows rows, if wide rows would exceed it.
const targetRecordBytes = 64 << 20

// DefaultNullValues returns the CSV fields that are always read as null.
func DefaultNullValues() []string {
	return append(encoder.DefaultNullWords(), "")
}

// Options configure Open. The zero value chooses the format by the extension and uses
// the defaults.
type Options struct {
	// Format is one of Formats; "" takes it from the extension, .gz stripped
	// first (see Open).
	Format string
	// NoHeader is set if the first line of a CSV file is a row; columns are then named f0, f1, ...
	NoHeader bool
	// SkipLines is the number of lines in a CSV file before its header, or before its first row:
	// comments, titles.
	SkipLines int
	// Delimiter separates CSV fields. 0 means a comma, or a tab for .tsv files. A space means any
	// number of spaces, as in fixed-width tables.
	Delimiter rune
	// NullValues are CSV fields that are read as null, in addition to DefaultNullValues.
	NullValues []string
	// Words are fields of CSV columns that are text although NullValues contains them, such as None
	// where it is a class.
	Words map[string][]string
	// BatchRows is the largest number of rows per record; 0 means DefaultBatchRows.
	BatchRows int
	// Schema forces types. In CSV files, columns that it names have its type, other columns are
	// inferred, and names that the file lacks are ignored. It is an error if more than half of a
	// column's fields have another type. Parquet and Arrow files state their own types and ignore
	// it.
	Schema *arrow.Schema
	// BareQuotes is set if a CSV file has quotes within fields that are not in quotes, such as 5",
	// as [Reader.BareQuotes] reports it. Where types are inferred, they are recognized; a quote
	// that is never closed is an error only without them.
	BareQuotes bool
	// Scan, if set, is called from time to time while Open infers a file's types, with the bytes
	// read so far and the file's size.
	Scan func(readBytes, totalBytes int64)
	// Verbatim names CSV columns that are only copied: their fields are text, neither trimmed nor
	// read as null. Parquet and Arrow columns keep their type anyway.
	Verbatim []string
	// delimiterIsDefault is set if the delimiter was not chosen.
	delimiterIsDefault bool
	// Allocator allocates the records' memory; nil means memory.DefaultAllocator.
	Allocator memory.Allocator
}

// withDefaults returns o with its zero values replaced, or the first fault.
func (o Options) withDefaults() (Options, error) {
	if o.Format != "" && !slices.Contains(Formats(), o.Format) {
		return o, fmt.Errorf("unknown format %q: want one of %s", o.Format, strings.Join(Formats(), ", "))
	}
	if o.BatchRows < 0 {
		return o, fmt.Errorf("batch rows %d: want a positive number, or 0 for %d", o.BatchRows, DefaultBatchRows)
	}
	if o.BatchRows == 0 {
		o.BatchRows = DefaultBatchRows
	}
	if o.SkipLines < 0 {
		return o, fmt.Errorf("skip lines %d: want 0 or more", o.SkipLines)
	}
	if !validDelimiter(o.Delimiter) {
		return o, fmt.Errorf("delimiter %q: want one character other than a quote or a line end", o.Delimiter)
	}
	o.NullValues = slices.Concat(DefaultNullValues(), o.NullValues)
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	return o, nil
}

// validDelimiter reports whether encoding/csv can split at r (0: the default).
func validDelimiter(r rune) bool {
	return r == 0 || (r != '"' && r != '\r' && r != '\n' && utf8.ValidRune(r) && r != utf8.RuneError)
}

// rowsPerRecord returns the number of rows per record if a row takes about rowBytes.
func (o Options) rowsPerRecord(rowBytes int) int {
	return max(1, min(o.BatchRows, targetRecordBytes/max(1, rowBytes)))
}
