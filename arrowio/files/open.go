package files

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// Reader gives the rows of a file as records, in file order.
type Reader interface {
	// Schema returns the schema of every record.
	Schema() *arrow.Schema
	// Next returns the next record, of one to BatchRows rows, which the caller
	// releases; io.EOF after the last. An error is an *Error and stays: later
	// calls return it again.
	Next() (arrow.Record, error)
	// Progress returns the bytes of the file read by Next so far and the
	// file's size (compressed bytes for gzip; 0 when the size is not known, as
	// for a pipe). It is safe from any goroutine.
	Progress() (readBytes, totalBytes int64)
	// LeftOut are the columns of the file that the records lack: Parquet columns
	// of structs and maps.
	LeftOut() []LeftOut
	// BadFields are the columns of a CSV file in which fields are not of the
	// column's type and are read as null, in file order. Of columns whose type
	// Open found they cover the file; of those whose type Options.Schema forces,
	// the rows read so far.
	BadFields() []BadFields
	// Close frees the file. It may be called twice. Records stay valid.
	Close() error
}

// LeftOut is a column that the records of a file lack.
type LeftOut struct {
	Column string
	Type   string // that no record can have
}

// BadFields are the fields of one column that are not of its type.
type BadFields struct {
	Column string
	Type   arrow.DataType
	Fields int64 // how many there are that do not mean null
	Bad    int64 // how many of these are not of the type
	// Line is where the first of them is, and Text what it holds, shortened.
	Line int64
	Text string
}

// String returns what a person should know: `3 of 5000 fields are not numbers and count as missing; the first is "n.v." in line 7`.
func (b BadFields) String() string {
	one, many := typeWords(b.Type)
	if b.Bad == 1 {
		return fmt.Sprintf("1 of %d fields is not %s and counts as missing: %q in line %d", b.Fields, one, b.Text, b.Line)
	}
	return fmt.Sprintf("%d of %d fields are not %s and count as missing; the first is %q in line %d", b.Bad, b.Fields, many, b.Text, b.Line)
}

// typeWords names one value and several of a type that text can hold.
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
	}
	return "a time", "times"
}

// extensions maps what a file name may end in, .gz stripped, to its format.
var extensions = map[string]string{
	".csv":      FormatCSV,
	".tsv":      FormatCSV,
	".parquet":  FormatParquet,
	".pq":       FormatParquet,
	".arrow":    FormatArrow,
	".arrows":   FormatArrow,
	".feather":  FormatArrow,
	".ipc":      FormatArrow,
	".libsvm":   FormatLIBSVM,
	".svm":      FormatLIBSVM,
	".svmlight": FormatLIBSVM,
}

// Open opens the file at path. Without Options.Format the format comes from the
// extension (.csv, .tsv, .parquet, .pq, .arrow, .arrows, .feather, .ipc,
// .libsvm, .svm, .svmlight, each also with .gz), else from the first bytes of a
// Parquet or Arrow file.
func Open(path string, o Options) (Reader, error) {
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
	return &fileReader{path: path, source: src, rows: r}, nil
}

// openFormat opens src in the format that o or the file names.
func openFormat(src *source, o Options) (rowReader, error) {
	format := o.Format
	if format == "" {
		format = formatOf(src.path)
	}
	if format == "" {
		format = src.sniffFormat()
	}
	switch format {
	case FormatCSV:
		return openCSV(src, o)
	case FormatLIBSVM:
		return openLIBSVM(src, o)
	case FormatArrow:
		return openArrow(src, o)
	case FormatParquet:
		return openParquet(src, o)
	}
	return nil, fmt.Errorf("%w: give one of %s", ErrNoFormat, strings.Join(Formats(), ", "))
}

// formatOf returns the format that path's extension names, "" if none.
func formatOf(path string) string { return extensions[extension(path)] }

// extension returns path's extension in lower case, .gz stripped first.
func extension(path string) string {
	name := strings.TrimSuffix(strings.ToLower(path), ".gz")
	return filepath.Ext(name)
}
