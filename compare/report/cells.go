package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/eerf-stream/eerf/compare"
)

// none is the text of an empty cell.
const none = "–"

// Describe says in a line what was compared on which rows.
func Describe(r *compare.Result) string {
	d := r.Data
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %d training and %d test rows", d.Name, d.Task, d.TrainRows, d.TestRows)
	if !d.FixedSplit {
		b.WriteString(" chosen by the seed")
	}
	fmt.Fprintf(&b, ", d = %d", d.Dim)
	if d.Classes > 2 {
		fmt.Fprintf(&b, ", %d classes", d.Classes)
	}
	fmt.Fprintf(&b, "; %v map, M0 = %d, N0 = %d, σ = %.4g, ", r.Options.Map, d.Candidates, d.SampleRows, d.Sigma)
	fmt.Fprintf(&b, "%s loss, ", r.Options.Loss)
	if !r.Options.Intercept {
		b.WriteString("no intercept, ")
	}
	fmt.Fprintf(&b, "seeds %d to %d", r.Options.Seed, r.Options.Seed+uint64(max(r.Options.Repeats, 1))-1)
	return b.String()
}

// RowsLeftOut says how many rows could not be used, "" if all could.
func RowsLeftOut(r *compare.Result) string {
	d := r.Data
	var parts []string
	if d.Unlabelled > 0 {
		parts = append(parts, fmt.Sprintf("%d without a label", d.Unlabelled))
	}
	if d.Rejected > 0 {
		parts = append(parts, fmt.Sprintf("%d with values that cannot be used", d.Rejected))
	}
	return strings.Join(parts, ", ")
}

// Cells is the table at one M as text. A difference that is more than two of its standard errors has a star; the best line has an arrow,
// lines that noise does not let tell apart from the smallest error a ≈.
type Cells struct {
	Header []string
	// Rows have a cell for each column; Remarks are what else a reader should know about each line, usually
	// "".
	Rows    [][]string
	Remarks []string
	// LeftOut are the titles of columns for which there was no room.
	LeftOut []string
}

// PageCells returns the table with every column.
func PageCells(r *compare.Result, table compare.Table) Cells {
	return cellsOf(r, table, pageColumns(r, table))
}

// TerminalCells returns the table with the most informative columns that fit into a width. Each takes frame characters
// in addition to its text.
func TerminalCells(r *compare.Result, table compare.Table, width, frame int) Cells {
	columns, leftOut := within(terminalColumns(r, table), table, width, frame)
	cells := cellsOf(r, table, columns)
	cells.LeftOut = leftOut
	return cells
}

func cellsOf(r *compare.Result, table compare.Table, columns []column) Cells {
	var cells Cells
	for _, c := range columns {
		cells.Header = append(cells.Header, c.title)
	}
	for _, l := range table.Lines {
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = c.cell(l)
		}
		cells.Rows, cells.Remarks = append(cells.Rows, row), append(cells.Remarks, remark(r, l))
	}
	return cells
}

// remark is what a reader should know about a line.
func remark(r *compare.Result, l compare.Line) string {
	var parts []string
	if method, err := r.Options.Lookup(l.Method); err == nil && method.AnySize && l.Repeats > 0 {
		parts = append(parts, fmt.Sprintf("%d features", l.Features))
	}
	if l.Repeats > 0 && l.Repeats < r.Options.Repeats {
		parts = append(parts, fmt.Sprintf("%d of %d repeats", l.Repeats, r.Options.Repeats))
	}
	if n := l.AboveNoise; n != nil && n[0] < l.Features {
		between := strconv.Itoa(n[0])
		if n[1] > n[0] {
			between += fmt.Sprintf(" to %d", n[1])
		}
		parts = append(parts, between+" above noise")
	}
	if l.Note != "" {
		parts = append(parts, l.Note)
	}
	if l.Refine > 0 {
		parts = append(parts, "refinement took "+Seconds(l.Refine)+" s")
	}
	if l.Failure != "" {
		parts = append(parts, "failed: "+l.Failure)
	}
	return strings.Join(parts, "; ")
}

// percents writes errors in percent, all of a table with the same number of decimals.
type percents int

// percentsOf takes two decimals, or as many as the smallest error of the table needs to have two digits.
func percentsOf(table compare.Table) percents {
	return decimals(table, func(l compare.Line) float64 { return l.Error.Mean })
}

func decimals(table compare.Table, value func(l compare.Line) float64) percents {
	least := math.Inf(1)
	for _, l := range table.Lines {
		if v := value(l); l.Repeats > 0 && v > 0 {
			least = math.Min(least, v)
		}
	}
	digits := percents(2)
	for ; least < 1 && digits < 6; least *= 10 {
		digits++
	}
	return digits
}

// text writes an error.
func (p percents) text(v float64) string { return strconv.FormatFloat(v, 'f', int(p), 64) }

// mean writes a mean with its standard error.
func (p percents) mean(m compare.Mean) string {
	if m.Error == nil {
		return p.text(m.Mean)
	}
	return p.text(m.Mean) + " ± " + p.text(*m.Error)
}

// Constant writes the error of the constant predictor as the table writes errors.
func Constant(table compare.Table) string { return percentsOf(table).text(table.Constant) }

// signed writes a difference with its sign, and a star if it is clear.
func (p percents) signed(m compare.Mean) string {
	sign, star := "+", ""
	if m.Mean < 0 {
		sign = "−"
	}
	if m.Clear() {
		star = "*"
	}
	m.Mean = math.Abs(m.Mean)
	return sign + p.mean(m) + star
}

func (p percents) uncertainty(v *float64) string {
	if v == nil {
		return none
	}
	return "± " + p.text(*v)
}

// Seconds writes a time, or another positive number, with about three digits.
func Seconds(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}
