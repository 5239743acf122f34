package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/training"
)

// none is the text of an empty cell.
const none = "–"

// Describe returns one line about the rows and the options of a comparison.
func Describe(r *compare.Result) string {
	d := r.Data
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %d training and %d test rows", d.Name, d.Task, d.TrainRows, d.TestRows)
	switch {
	case d.Split != "":
		fmt.Fprintf(&b, " (%s)", d.Split)
	case !d.FixedSplit:
		b.WriteString(" chosen by the seed")
	}
	fmt.Fprintf(&b, ", d = %d", d.Dim)
	if d.Classes > 2 {
		fmt.Fprintf(&b, ", %d classes", d.Classes)
	}
	fmt.Fprintf(&b, "; %v map, M0 = %d, N0 = %d, σ = %.4g, %s loss, ", r.Options.Map, d.Candidates, d.SampleRows, d.Sigma,
		r.Options.Loss)
	if !r.Options.Intercept {
		b.WriteString("no intercept, ")
	}
	fmt.Fprintf(&b, "seeds %d to %d", r.Options.Seed, r.Options.Seed+uint64(max(r.Options.Repeats, 1))-1)
	return b.String()
}

// RowsLeftOut reports the numbers of unusable rows, "" if all were usable.
func RowsLeftOut(r *compare.Result) string {
	d := r.Data
	var parts []string
	if d.Unlabelled > 0 {
		parts = append(parts, fmt.Sprintf("%d without a label", d.Unlabelled))
	}
	if d.Rejected > 0 {
		parts = append(parts, fmt.Sprintf("%d with unusable values", d.Rejected))
	}
	return strings.Join(parts, ", ")
}

// Cells is the table at one M as text. A star marks a difference of more than two of its standard
// errors, an arrow the best line, and ≈ the lines within noise of the smallest error.
type Cells struct {
	Header []string
	// Rows have a cell for each column; Remarks are additional text for each line, usually "".
	Rows    [][]string
	Remarks []string
}

// column is a column of a table.
type column struct {
	title string
	cell  func(l compare.Line) string
}

// PageCells returns the table with every column.
func PageCells(r *compare.Result, table compare.Table) Cells {
	p := percentsOf(table)
	columns := append(p.columns(), measuresOf(r, table)...)
	return cellsOf(r, table, append(columns,
		seconds("preprocess s", func(l compare.Line) float64 { return l.Preprocess }),
		seconds("train s", func(l compare.Line) float64 { return l.Train }),
		seconds("test s", func(l compare.Line) float64 { return l.Test }),
		rowColumn(r, table)))
}

// TerminalCells returns the table with the columns that fit a terminal.
func TerminalCells(r *compare.Result, table compare.Table) Cells {
	p := percentsOf(table)
	return cellsOf(r, table, append(p.columns(),
		seconds("seconds", func(l compare.Line) float64 { return l.Preprocess + l.Train }), rowColumn(r, table)))
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

// remark returns the additional text for a line.
func remark(r *compare.Result, l compare.Line) string {
	var parts []string
	if method, err := r.Options.Lookup(l.Method); err == nil && method.AnySize && l.Features > 0 {
		parts = append(parts, fmt.Sprintf("%d features", l.Features))
	}
	if l.Repeats > 0 && l.Repeats < r.Options.Repeats {
		parts = append(parts, fmt.Sprintf("%d of %d repeats", l.Repeats, r.Options.Repeats))
	}
	if l.Note != "" {
		parts = append(parts, l.Note)
	}
	if l.Failure != "" {
		parts = append(parts, "failed: "+l.Failure)
	}
	return strings.Join(parts, "; ")
}

// marked returns the name of a line with its mark.
func marked(l compare.Line) string {
	switch {
	case l.Best:
		return l.Method + " ◂"
	case l.Tied:
		return l.Method + " ≈"
	}
	return l.Method
}

// percents formats the errors of a table, in percent, with this number of decimals.
type percents int

// percentsOf returns two decimals, or more if the smallest error of the table needs them for two
// digits.
func percentsOf(table compare.Table) percents {
	least := math.Inf(1)
	for _, l := range table.Lines {
		if v := l.Error.Mean; l.Repeats > 0 && v > 0 {
			least = math.Min(least, v)
		}
	}
	digits := percents(2)
	for ; least < 1 && digits < 6; least *= 10 {
		digits++
	}
	return digits
}

// text formats an error.
func (p percents) text(v float64) string { return strconv.FormatFloat(v, 'f', int(p), 64) }

// mean formats a mean with its standard error.
func (p percents) mean(m compare.Mean) string {
	if m.Error == nil {
		return p.text(m.Mean)
	}
	return p.text(m.Mean) + " ± " + p.text(*m.Error)
}

// error formats the error of a line.
func (p percents) error(l compare.Line) string {
	if l.Repeats == 0 {
		return "failed"
	}
	return p.mean(l.Error)
}

// Constant formats the error of the constant predictor like the errors of the table.
func Constant(table compare.Table) string { return percentsOf(table).text(table.Constant) }

// signed formats a difference with its sign, and a star if it is clear.
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

// columns are the columns of every table: methods, their errors, and the differences from plain
// features.
func (p percents) columns() []column {
	return []column{{"method", marked}, {"error", p.error}, {"− " + compare.Plain, func(l compare.Line) string {
		if l.Difference == nil {
			return none
		}
		return p.signed(*l.Difference)
	}}}
}

// measures are the additional measures, the most informative first.
var measures = []struct{ name, title string }{
	{training.MeasureUnexplainedVariance, "unexplained %"},
	{"average_precision", "avg. precision"},
	{"auc", "AUC"},
	{"rmse", "RMSE"},
	{"log_loss", "log loss"},
	{"mae", "MAE"},
	{"r2", "R²"},
	{"calibration_error", "calibration"},
}

// measuresOf returns a column for each additional measure of a table.
func measuresOf(r *compare.Result, table compare.Table) []column {
	var columns []column
	for _, m := range measures {
		has := func(l compare.Line) bool { _, ok := l.Measures[m.name]; return ok }
		if !slices.ContainsFunc(table.Lines, has) || m.name == training.MeasureUnexplainedVariance &&
			r.Metric == "unexplained variance" {
			continue
		}
		columns = append(columns, column{m.title, func(l compare.Line) string {
			if !has(l) {
				return none
			}
			return training.FigureText(l.Measures[m.name].Mean)
		}})
	}
	return columns
}

// seconds returns a column of times.
func seconds(title string, value func(compare.Line) float64) column {
	return column{title, func(l compare.Line) string {
		if l.Repeats == 0 {
			return none
		}
		if s := value(l); s >= 0.001 || s <= 0 {
			return strconv.FormatFloat(s, 'g', 3, 64)
		}
		return "< 0.001"
	}}
}

// rowColumn returns the column of the time to predict a row.
func rowColumn(r *compare.Result, table compare.Table) column {
	return column{"µs a row", func(l compare.Line) string {
		v := r.RowMicroseconds(l.Method, table.M)
		if l.Repeats == 0 || math.IsInf(v, 1) {
			return none
		}
		return strconv.FormatFloat(v, 'g', 3, 64)
	}}
}
