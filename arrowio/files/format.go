package files

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// Names of the formats, for Options.Format and Create.
const (
	FormatCSV     = "csv"
	FormatParquet = "parquet"
	FormatArrow   = "arrow"
)

// format is one file format. A new one is a file of its own and a line of [known], from which
// commands, their help and the conformance suite take it.
type format struct {
	name       string
	extensions []string // of file names, without .gz
	magics     [][]byte // first bytes that identify the format; none = it has no such bytes
	open       func(src *source, o Options) (rowReader, error)
	// create checks that the format holds rows of the schema and returns a function that starts an
	// encoder on a file of this name.
	create func(path string, schema *arrow.Schema) (func(io.Writer) (recordEncoder, error), error)
}

// known are the formats, by name.
var known = []format{
	{
		FormatArrow,
		[]string{".arrow", ".arrows", ".feather", ".ipc"},
		[][]byte{arrowMagic, streamMagic},
		openArrow,
		createArrow,
	},
	{FormatCSV, []string{".csv", ".tsv"}, nil, openCSV, createCSV},
	{FormatParquet, []string{".parquet", ".pq"}, [][]byte{parquetMagic}, openParquet, createParquet},
}

func lookup(name string) *format {
	if i := slices.IndexFunc(known, func(f format) bool { return f.name == name }); i >= 0 {
		return &known[i]
	}
	return nil
}

// Formats returns the names of the formats that Open reads and Create writes, sorted.
func Formats() []string {
	var names []string
	for _, f := range known {
		names = append(names, f.name)
	}
	return names
}

// FormatOf returns the format in which a file is read, if the options or its name determine it;
// otherwise "", and its content decides.
func (o Options) FormatOf(path string) string {
	if o.Format != "" {
		return o.Format
	}
	return formatOf(path)
}

// formatOf returns the format for path's extension, "" if none.
func formatOf(path string) string {
	for _, f := range known {
		if slices.Contains(f.extensions, extension(path)) {
			return f.name
		}
	}
	return ""
}

// formatIn recognises Parquet and Arrow files by their first bytes; text formats are too similar to
// guess.
func formatIn(src *source) string {
	content, err := src.content()
	if err != nil {
		return ""
	}
	for _, f := range known {
		for _, magic := range f.magics {
			if head, _ := content.Peek(len(magic)); bytes.Equal(head, magic) {
				return f.name
			}
		}
	}
	return ""
}

// extension returns path's extension in lower case, after stripping .gz.
func extension(path string) string {
	name := strings.TrimSuffix(strings.ToLower(path), ".gz")
	return filepath.Ext(name)
}

// noFormat returns the error for a file of unknown format.
func noFormat(path string) error {
	if instead := otherFormats[extension(path)]; instead != "" {
		return fmt.Errorf("%w: %s", arrowio.ErrUnsupported, instead)
	}
	return fmt.Errorf("%w: give one of %s", ErrNoFormat, strings.Join(Formats(), ", "))
}

// otherFormats is the advice for files whose extension belongs to a format that this package does
// not read.
var otherFormats = map[string]string{
	".xlsx": spreadsheet, ".xls": spreadsheet, ".ods": spreadsheet,
	".json": "JSON" + convert, ".jsonl": "JSON" + convert, ".ndjson": "JSON" + convert, ".avro": "Avro" + convert,
	".orc":    "ORC" + convert,
	".libsvm": "LIBSVM" + convert, ".svm": "LIBSVM" + convert, ".svmlight": "LIBSVM" + convert,
	".zip": "an archive: unpack it first", ".tar": "an archive: unpack it first",
	".zst": "compressed by zstd: unpack it first, or compress it by gzip",
}

const (
	spreadsheet = "a spreadsheet: save it as CSV in UTF-8"
	convert     = " files: convert them to CSV, Parquet or Arrow, as DuckDB, pandas and polars do"
)
