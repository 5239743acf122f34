package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/files"
)

// FileFlags configure how a file of rows is read.
type FileFlags struct {
	Format     string
	NoHeader   bool
	SkipLines  int
	Delimiter  string
	NullValues []string
}

// Add defines the flags on a command.
func (f *FileFlags) Add(c *cobra.Command) {
	c.Flags().StringVar(&f.Format, "format", "",
		strings.Join(files.Formats(), ", ")+"; empty = by the file's extension, ignoring .gz")
	c.Flags().BoolVar(&f.NoHeader, "no-header", false, "csv without a header line: columns are named f0, f1, ...")
	c.Flags().IntVar(&f.SkipLines, "skip-lines", 0, "csv lines before the header, such as a title")
	c.Flags().StringVar(&f.Delimiter, "delimiter", "",
		`csv field separator, one character or \t; empty = comma`)
	c.Flags().StringSliceVar(&f.NullValues, "null-values", nil,
		`csv fields that mean "missing", besides the words of pandas ("", NA, n/a, NaN, NULL, None, ...) and ?`)
}

// options returns the reader's options.
func (f *FileFlags) options() (files.Options, error) {
	o := files.Options{Format: f.Format, NoHeader: f.NoHeader, SkipLines: f.SkipLines, NullValues: f.NullValues}
	if f.Format != "" && !slices.Contains(files.Formats(), f.Format) {
		return o, Usagef("--format %s: expected one of %s", f.Format, strings.Join(files.Formats(), ", "))
	}
	if f.SkipLines < 0 {
		return o, Usagef("--skip-lines %d: expected 0 or more", f.SkipLines)
	}
	switch runes := []rune(f.Delimiter); {
	case f.Delimiter == `\t`:
		o.Delimiter = '\t'
	case len(runes) == 1:
		o.Delimiter = runes[0]
	case len(runes) > 1:
		return o, Usagef("--delimiter %q: expected one character", f.Delimiter)
	}
	return o, nil
}
