package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/internal/printable"
)

// mostColumnLines bounds the lines about columns above a result.
const mostColumnLines = 12

// WriteColumns writes above a result how many columns are features, and notes on the others. more
// names the place of the full table.
func WriteColumns(w io.Writer, columns []encoder.ColumnUse, more string) {
	if len(columns) == 0 {
		return
	}
	fmt.Fprintln(w, "columns:", SumUpColumns(columns))
	lines := columnNotes(columns)
	for _, line := range lines[:min(len(lines), mostColumnLines)] {
		fmt.Fprintln(w, " ", printable.Text(line))
	}
	if left := len(lines) - mostColumnLines; left > 0 {
		fmt.Fprintf(w, "  and %d more: %s\n", left, more)
	}
}

// kindWords names the kinds of features, singular and plural, in the order in which they are
// counted.
var kindWords = []struct {
	kind      encoder.Kind
	one, many string
}{
	{encoder.Numeric, "number", "numbers"}, {encoder.Bool, "boolean", "booleans"}, {encoder.Category, "category",
		"categories"},
	{encoder.Time, "date or time", "dates and times"}, {encoder.Clock, "time of day", "times of day"}, {encoder.Vector,
		"vector", "vectors"},
}

// SumUpColumns returns the number of feature columns in one line: "12 of 14 are features (9
// numbers, 2 categories, 1 date or time; 41 dimensions)". Label, passthrough and excluded columns
// are not counted.
func SumUpColumns(columns []encoder.ColumnUse) string {
	var features, leftOut, dims int
	kinds := make(map[encoder.Kind]int)
	for _, c := range columns {
		switch c.Use {
		case encoder.UseFeature:
			features++
			kinds[c.Kind]++
			dims += c.Dims
		case encoder.UseLeftOut:
			leftOut++
		}
	}
	var parts []string
	for _, k := range kindWords {
		switch n := kinds[k.kind]; {
		case n == 1:
			parts = append(parts, "1 "+k.one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, k.many))
		}
	}
	unit := "dimensions"
	if dims == 1 {
		unit = "dimension"
	}
	return fmt.Sprintf("%d of %d are features (%s; %d %s)", features, features+leftOut, strings.Join(parts, ", "), dims,
		unit)
}

// columnNotes lists notes on columns for the user: first the columns left out, then oddities of
// others.
func columnNotes(columns []encoder.ColumnUse) []string {
	var leftOut, reasons []string
	odd := make(map[string][]string) // columns by oddity
	for _, c := range columns {
		switch {
		case c.Use == encoder.UseLeftOut:
			leftOut = append(leftOut, "left out: "+c.Column+": "+c.Reason)
		case c.Use != encoder.UseExcluded && c.Reason != "":
			if odd[c.Reason] == nil {
				reasons = append(reasons, c.Reason)
			}
			odd[c.Reason] = append(odd[c.Reason], c.Column)
		}
	}
	for _, reason := range reasons {
		names, more := odd[reason], ""
		if left := len(names) - mostColumnLines; left > 0 {
			names = names[:mostColumnLines]
			more = fmt.Sprintf(" and %d more", left)
		}
		leftOut = append(leftOut, strings.Join(names, ", ")+more+": "+reason)
	}
	return leftOut
}

// share formats a share in percent; empty for 0.
func share(v float64) string {
	switch {
	case v == 0:
		return ""
	case v < 0.001:
		return "< 0.1 %"
	case v < 0.1:
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

// WriteColumnTable writes the use of each column.
func WriteColumnTable(w io.Writer, columns []encoder.ColumnUse) {
	if len(columns) == 0 {
		return
	}
	t := NewTable(w, "columns of the events: "+SumUpColumns(columns),
		"column", "type", "use", "kind", "dims", "missing", "values", "kept", "other", "note")
	for _, c := range columns {
		t.AppendRow([]any{
			c.Column,
			c.Type,
			c.Use,
			c.Kind,
			blankZero(c.Dims),
			share(c.Missing),
			blankZero(c.Distinct),
			blankZero(c.Kept),
			share(c.Other),
			c.Reason,
		})
	}
	t.SetColumnConfigs(wrapped("note", "type", "column"))
	t.Render()
}

// blankZero formats a number; empty for 0.
func blankZero[T int | int64](n T) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// Columns merges the column uses of calibration with findings from reading the file: columns that
// records cannot hold, and fields whose values do not have their column's type.
func (r *RowFile) Columns(known []encoder.ColumnUse) []encoder.ColumnUse {
	all := slices.Clone(known)
	at := make(map[string]int, len(all))
	for i, c := range all {
		at[c.Column] = i
	}
	for _, bad := range r.bad {
		if i, found := at[bad.Column]; found {
			all[i].Reason = joined(all[i].Reason, bad.String())
		}
	}
	for _, left := range r.leftOut {
		all = append(all,
			encoder.ColumnUse{Column: left.Column, Type: left.Type, Use: encoder.UseLeftOut, Reason: unreadableType(left)})
	}
	return all
}

// joined joins two notes, either of which may be empty.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// unreadableType returns the reason for leaving out a column of an unsupported type.
func unreadableType(left files.LeftOut) string { return "type " + left.Type + " is not supported" }

// Notes returns notes on the columns of the file from what was read so far, for results without a
// column table.
func (r *RowFile) Notes() []string {
	var notes []string
	for _, left := range r.leftOut {
		notes = append(notes, "left out: "+left.Column+": "+unreadableType(left))
	}
	for _, bad := range r.bad {
		notes = append(notes, bad.Column+": "+bad.String())
	}
	return notes
}
