package report

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/eerf-stream/eerf/compare"
)

// column is a column of a table.
type column struct {
	title string
	cell  func(l compare.Line) string
	// rank says which columns a narrow table drops first: those with the greatest. Columns of rank 0
	// always stay.
	rank int
}

// width is how many characters the column takes.
func (c column) width(table compare.Table) int {
	width := utf8.RuneCountInString(c.title)
	for _, l := range table.Lines {
		width = max(width, utf8.RuneCountInString(c.cell(l)))
	}
	return width
}

// Ranks of columns on a terminal.
const (
	always = iota
	rankSeconds
	rankLinear
	rankBeside
	rankTuned
	rankRow
	rankTestSet
	rankTestSetDifference
)

// pageColumns are all columns.
func pageColumns(r *compare.Result, table compare.Table) []column {
	p := percentsOf(table)
	columns := p.errorColumns(r, table)
	for _, b := range besidesOf(r, table) {
		columns = append(columns, column{title: b.title, cell: b.cell})
	}
	return append(columns,
		seconds("preprocess s", func(l compare.Line) float64 { return l.Preprocess }),
		seconds("train s", func(l compare.Line) float64 { return l.Train }),
		seconds("test s", func(l compare.Line) float64 { return l.Test }),
		rowColumn(r, table),
	)
}

// terminalColumns are those for a terminal: one measure beside the error, and one number of seconds.
func terminalColumns(r *compare.Result, table compare.Table) []column {
	columns := percentsOf(table).errorColumns(r, table)
	if besides := besidesOf(r, table); len(besides) > 0 {
		columns = append(columns, column{title: besides[0].title, cell: besides[0].cell, rank: rankBeside})
	}
	total := seconds("seconds", func(l compare.Line) float64 { return l.Preprocess + l.Train })
	total.rank = rankSeconds
	return append(columns, total, rowColumn(r, table))
}

// within returns the columns that fit into a width, each with frame characters in addition to its text, and the titles
// of the others.
func within(columns []column, table compare.Table, width, frame int) (fitting []column, leftOut []string) {
	taken := 1
	for _, c := range columns {
		taken += c.width(table) + frame
	}
	most := rankTestSetDifference
	for ; taken > width && most > always; most-- {
		for _, c := range columns {
			if c.rank == most {
				taken -= c.width(table) + frame
			}
		}
	}
	for _, c := range columns {
		if c.rank <= most {
			fitting = append(fitting, c)
		} else {
			leftOut = append(leftOut, c.title)
		}
	}
	return fitting, leftOut
}

// errorColumns are the error, its differences from those of the references, and the standard errors due to the
// test rows.
func (p percents) errorColumns(r *compare.Result, table compare.Table) []column {
	columns := []column{{title: "method", cell: marked}, {title: "error", cell: p.error}}
	ranks := map[string]int{compare.Plain: always, "linear": rankLinear, "plain-tuned": rankTuned}
	for _, name := range referencesOf(r) {
		columns = append(columns, column{title: "− " + name, rank: ranks[name], cell: func(l compare.Line) string {
			if d, ok := l.Differences[name]; ok {
				return p.signed(d)
			}
			return none
		}})
	}
	if !slices.ContainsFunc(table.Lines, func(l compare.Line) bool { return l.TestError != nil }) {
		return columns
	}
	return append(columns,
		column{title: "test set", rank: rankTestSet, cell: func(l compare.Line) string { return p.uncertainty(l.TestError) }},
		column{title: "test set, − plain", rank: rankTestSetDifference, cell: func(l compare.Line) string { return p.uncertainty(l.DifferenceTestError) }},
	)
}

// referencesOf are the references that were measured.
func referencesOf(r *compare.Result) []string {
	var names []string
	for _, name := range compare.References() {
		if slices.Contains(r.Options.Methods, name) {
			names = append(names, name)
		}
	}
	return names
}

// Marks of lines.
const (
	bestMark = "◂"
	tiedMark = "≈"
)

// marked is the name of a line with its mark.
func marked(l compare.Line) string {
	switch {
	case l.Best:
		return l.Method + " " + bestMark
	case l.Tied:
		return l.Method + " " + tiedMark
	}
	return l.Method
}

// error writes the error of a line.
func (p percents) error(l compare.Line) string {
	if l.Repeats == 0 {
		return "failed"
	}
	return p.mean(l.Error)
}

// seconds is a column of times.
func seconds(title string, value func(compare.Line) float64) column {
	return column{title: title, cell: func(l compare.Line) string {
		if l.Repeats == 0 {
			return none
		}
		return Seconds(value(l))
	}}
}

// rowColumn is the time to predict a row.
func rowColumn(r *compare.Result, table compare.Table) column {
	return column{title: "µs a row", rank: rankRow, cell: func(l compare.Line) string {
		v := r.RowMicroseconds(l.Method, table.M)
		if l.Repeats == 0 || math.IsInf(v, 1) {
			return none
		}
		return strconv.FormatFloat(v, 'g', 3, 64)
	}}
}
