package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/internal/printable"
)

// JSONFlag defines --json on a command.
func JSONFlag(c *cobra.Command, value *bool) {
	c.Flags().BoolVar(value, "json", false, "print one JSON object, for machines")
}

// WriteJSON writes a value as one indented JSON object.
func WriteJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(printable.Raw(w)) // JSON escapes control characters itself
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// Print prints the result of a command: as JSON, or as text by write.
func Print[T any](c *cobra.Command, asJSON bool, result T, write func(io.Writer, T)) error {
	if asJSON {
		return WriteJSON(c.OutOrStdout(), result)
	}
	write(c.OutOrStdout(), result)
	return nil
}

// NewTable returns a table in the project's style. Render writes it to w. Cells appear on one line
// each, in printable form.
func NewTable(w io.Writer, title string, header ...any) table.Writer {
	t := printableTable{table.NewWriter()}
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options.SeparateRows = false
	if title != "" {
		t.SetTitle("%s", printable.Text(title))
	}
	if len(header) > 0 {
		t.AppendHeader(header)
	}
	return t
}

// printableTable makes cells printable before their width is measured.
type printableTable struct{ table.Writer }

// AppendRow implements [table.Writer]. Numbers stay numbers, which are aligned to the right.
func (t printableTable) AppendRow(row table.Row, config ...table.RowConfig) {
	cells := make(table.Row, len(row))
	for i, cell := range row {
		switch kind := reflect.ValueOf(cell).Kind(); {
		case reflect.Int <= kind && kind <= reflect.Float64:
			cells[i] = cell
		default:
			cells[i] = printable.Text(fmt.Sprint(cell))
		}
	}
	t.Writer.AppendRow(cells, config...)
}

// WriteNotes writes remarks for people, one per line.
func WriteNotes(w io.Writer, notes []string) {
	for _, note := range notes {
		fmt.Fprintln(w, "note:", printable.Text(note))
	}
}

// Warn writes warnings to standard error.
func Warn(c *cobra.Command, warnings []string) {
	for _, warning := range warnings {
		fmt.Fprintln(c.ErrOrStderr(), "warning:", printable.Text(warning))
	}
}

// WriteTelltales writes a warning for each finding of columns that predict the label nearly alone,
// in front of all results.
func WriteTelltales(w io.Writer, found []encoder.Telltale) {
	for _, tell := range found {
		fmt.Fprintln(w, Wrapped("warning: "+printable.Text(tell.String()), Width(w), "  "))
	}
}

// wrapped lets the columns with these headers wrap.
func wrapped(headers ...string) []table.ColumnConfig {
	configs := make([]table.ColumnConfig, len(headers))
	for i, header := range headers {
		configs[i] = table.ColumnConfig{Name: header, WidthMax: 48, WidthMaxEnforcer: text.WrapSoft}
	}
	return configs
}

// Facts is a table of names and values.
type Facts struct{ table table.Writer }

// NewFacts returns an empty table. Render writes it to w.
func NewFacts(w io.Writer) Facts { return Facts{NewTable(w, "")} }

// Add appends a line.
func (f Facts) Add(name, format string, args ...any) {
	f.table.AppendRow([]any{name, fmt.Sprintf(format, args...)})
}

// Line draws a line below the rows added so far.
func (f Facts) Line() { f.table.AppendSeparator() }

// Render writes the table.
func (f Facts) Render() { f.table.Render() }
