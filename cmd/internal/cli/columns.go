package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/files"
)

// mostColumnLines bounds what is said of columns above a result, mostMissing how many columns with missing values are named.
const (
	mostColumnLines = 12
	mostMissing     = 8
)

// muchMissing is the share of missing values of a column from which on it is named.
const muchMissing = 0.01

// WriteColumns says above a result what became of the columns: how many are features, and what may surprise. more says where the whole
// table is.
func WriteColumns(w io.Writer, columns []encoder.ColumnUse, more string) {
	if len(columns) == 0 {
		return
	}
	fmt.Fprintln(w, "columns:", SumUpColumns(columns))
	lines := columnNotes(columns)
	for _, line := range lines[:min(len(lines), mostColumnLines)] {
		fmt.Fprintln(w, " ", line)
	}
	if left := len(lines) - mostColumnLines; left > 0 {
		fmt.Fprintf(w, "  and %d more: %s\n", left, more)
	}
}

// kindWords name the kinds of features, one and several, in the order in which they are counted.
var kindWords = []struct {
	kind      encoder.Kind
	one, many string
}{
	{encoder.Numeric, "number", "numbers"}, {encoder.Bool, "boolean", "booleans"}, {encoder.Category, "category", "categories"},
	{encoder.Time, "date or time", "dates and times"}, {encoder.Clock, "time of day", "times of day"}, {encoder.Vector, "vector", "vectors"},
}

// SumUpColumns says in a line how many columns are features: "12 of 14 are features (9 numbers, 2 categories, 1 date or time; 41 dimensions)".
// Label, passthrough and excluded columns could not have been.
func SumUpColumns(columns []encoder.ColumnUse) string {
	features, leftOut, dims := 0, 0, 0
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
	return fmt.Sprintf("%d of %d are features (%s; %d dimensions)", features, features+leftOut, strings.Join(parts, ", "), dims)
}

// columnNotes are what a person should know of columns: first those left out, then what is odd about others, then what is missing.
func columnNotes(columns []encoder.ColumnUse) []string {
	var leftOut, odd []string
	var missing []encoder.ColumnUse
	for _, c := range columns {
		switch {
		case c.Use == encoder.UseLeftOut:
			leftOut = append(leftOut, "left out: "+c.Column+": "+c.Reason)
			continue
		case c.Use == encoder.UseExcluded || c.Use == encoder.UsePassthrough && c.Reason == "":
			continue
		case c.Reason != "":
			odd = append(odd, c.Column+": "+c.Reason)
		}
		if c.Missing > muchMissing {
			missing = append(missing, c)
		}
	}
	notes := slices.Concat(leftOut, odd)
	if len(missing) > 0 {
		notes = append(notes, "missing values: "+missingShares(missing))
	}
	return notes
}

// missingShares names the columns that lack most.
func missingShares(columns []encoder.ColumnUse) string {
	slices.SortStableFunc(columns, func(a, b encoder.ColumnUse) int {
		switch {
		case a.Missing > b.Missing:
			return -1
		case a.Missing < b.Missing:
			return 1
		}
		return 0
	})
	var parts []string
	for _, c := range columns[:min(len(columns), mostMissing)] {
		parts = append(parts, c.Column+" "+share(c.Missing))
	}
	if more := len(columns) - mostMissing; more > 0 {
		parts = append(parts, fmt.Sprintf("%d columns more", more))
	}
	return strings.Join(parts, ", ")
}

// share writes a share in percent, nothing for none.
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

// WriteColumnTable writes what became of each column.
func WriteColumnTable(w io.Writer, columns []encoder.ColumnUse) {
	if len(columns) == 0 {
		return
	}
	t := NewTable(w, "columns of the events: "+SumUpColumns(columns),
		"column", "type", "use", "kind", "dims", "missing", "values", "kept", "other", "what to know")
	for _, c := range columns {
		t.AppendRow([]any{
			c.Column, c.Type, c.Use, c.Kind, blankZero(c.Dims), share(c.Missing), blankZero(c.Distinct), blankZero(c.Kept), share(c.Other), c.Reason,
		})
	}
	t.SetColumnConfigs(wrapped("what to know", "type", "column"))
	t.Render()
}

// blankZero writes a number, nothing for 0.
func blankZero[T int | int64](n T) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// Columns adds to what calibration knows of the columns of the file what reading them has told: columns that no record has, and fields that
// are not of their column's type.
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
		all = append(all, encoder.ColumnUse{Column: left.Column, Type: left.Type, Use: encoder.UseLeftOut, Reason: unreadableType(left)})
	}
	return all
}

// joined puts two notes behind each other, either of which may be empty.
func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// unreadableType is the reason for which a column that no record has is left out.
func unreadableType(left files.LeftOut) string { return "type " + left.Type + " is not read" }

// Notes are what reading the file has told of its columns so far, for a result that says nothing else of them.
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
