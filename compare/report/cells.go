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
	if d.UnknownClass > 0 {
		parts = append(parts, fmt.Sprintf("%d of classes that are not learned", d.UnknownClass))
	}
	if d.Rejected > 0 {
		parts = append(parts, fmt.Sprintf("%d with unusable values", d.Rejected))
	}
	return strings.Join(parts, ", ")
}

// Cells is the table at one M as text, with the constant predictor in the last row. A star marks a
// difference of more than two of its standard errors, an arrow the best line, and ≈ the lines
// within noise of the smallest error.
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
	columns := append(columnsOf(r, table, " ± "), measuresOf(r, table, measures)...)
	return cellsOf(r, table, append(columns,
		seconds("preprocess s", func(l compare.Line) float64 { return l.Preprocess }),
		seconds("train s", func(l compare.Line) float64 { return l.Train }),
		seconds("test s", func(l compare.Line) float64 { return l.Test }),
		rowColumn(r, table)))
}

// TerminalCells returns the table with the columns that fit a terminal: for classes, measures of
// decisions and of ranking instead of times.
func TerminalCells(r *compare.Result, table compare.Table) Cells {
	took := seconds("seconds", func(l compare.Line) float64 { return l.Preprocess + l.Train })
	more := measuresOf(r, table, brief)
	if len(more) == 0 {
		return cellsOf(r, table, append(columnsOf(r, table, " ± "), took, rowColumn(r, table)))
	}
	if len(more) < len(brief) {
		took.title = "s"
		more = append(more, took)
	}
	return cellsOf(r, table, append(columnsOf(r, table, "±"), more...))
}

func cellsOf(r *compare.Result, table compare.Table, columns []column) Cells {
	var cells Cells
	for _, c := range columns {
		cells.Header = append(cells.Header, c.title)
	}
	lines := append(table.Lines[:len(table.Lines):len(table.Lines)], compare.Line{
		Method: compare.Constant, Repeats: 1, Error: compare.Mean{Mean: table.Constant}, Measures: table.ConstantMeasures,
	})
	for _, l := range lines {
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = c.cell(l)
		}
		cells.Rows = append(cells.Rows, row)
	}
	for _, l := range table.Lines {
		cells.Remarks = append(cells.Remarks, remark(r, l))
	}
	cells.Remarks = append(cells.Remarks, "")
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
	if l.Useless {
		parts = append(parts, "no better than a constant")
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

// decimals formats the errors of a table with this number of decimals.
type decimals struct {
	digits    int
	plusMinus string // before a standard error
}

// decimalsOf returns two decimals, or more if the smallest error of the table needs them for two
// digits.
func decimalsOf(table compare.Table, plusMinus string) decimals {
	least := math.Inf(1)
	for _, l := range table.Lines {
		if v := l.Error.Mean; l.Repeats > 0 && v > 0 {
			least = math.Min(least, v)
		}
	}
	d := decimals{2, plusMinus}
	for ; least < 1 && d.digits < 6; least *= 10 {
		d.digits++
	}
	return d
}

// text formats an error.
func (d decimals) text(v float64) string { return strconv.FormatFloat(v, 'f', d.digits, 64) }

// mean formats a mean with its standard error.
func (d decimals) mean(m compare.Mean) string {
	if m.Error == nil {
		return d.text(m.Mean)
	}
	return d.text(m.Mean) + d.plusMinus + d.text(*m.Error)
}

// error formats the error of a line.
func (d decimals) error(l compare.Line) string {
	if l.Repeats == 0 {
		return "failed"
	}
	return d.mean(l.Error)
}

// Constant formats the error of the constant predictor like the errors of the table.
func Constant(table compare.Table) string { return decimalsOf(table, "").text(table.Constant) }

// signed formats a difference with its sign, and a star if it is clear.
func (d decimals) signed(m compare.Mean) string {
	sign, star := "+", ""
	if m.Mean < 0 {
		sign = "−"
	}
	if m.Clear() {
		star = "*"
	}
	m.Mean = math.Abs(m.Mean)
	return sign + d.mean(m) + star
}

// columnsOf returns the columns of every table: methods, their errors, and the differences from
// plain features.
func columnsOf(r *compare.Result, table compare.Table, plusMinus string) []column {
	d := decimalsOf(table, plusMinus)
	title := r.Metric
	if r.Options.Measure != training.MeasureLogLoss {
		title += " %"
	}
	return []column{{"method", marked}, {title, d.error}, {"− " + compare.Plain, func(l compare.Line) string {
		if l.Difference == nil {
			return none
		}
		return d.signed(*l.Difference)
	}}}
}

// measure is an additional measure of a table.
type measure struct {
	name, title string
	format      func(v float64) string
}

func hundredths(v float64) string  { return strconv.FormatFloat(v, 'f', 2, 64) }
func thousandths(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

// measures are the additional measures, the most informative first, and brief the ones of a
// terminal.
var (
	measures = []measure{
		{training.MeasureUnexplainedVariance, "unexplained %", training.FigureText},
		{training.MeasureMisclassification, "wrong %", hundredths},
		{"auc", "AUC", training.FigureText},
		{"average_precision", "avg. precision", training.FigureText},
		{"rmse", "RMSE", training.FigureText},
		{training.MeasureLogLoss, "log loss", training.FigureText},
		{"mae", "MAE", training.FigureText},
		{"r2", "R²", training.FigureText},
		{"calibration_error", "calibration", training.FigureText},
	}
	brief = []measure{
		{training.MeasureMisclassification, "wrong %", hundredths},
		{"auc", "AUC", thousandths},
		{"average_precision", "AP", thousandths},
	}
)

// measuresOf returns a column for each additional measure that lines of a table have.
func measuresOf(r *compare.Result, table compare.Table, which []measure) []column {
	var columns []column
	for _, m := range which {
		has := func(l compare.Line) bool { _, ok := l.Measures[m.name]; return ok }
		if !slices.ContainsFunc(table.Lines, has) || m.name == r.Options.Measure {
			continue
		}
		columns = append(columns, column{m.title, func(l compare.Line) string {
			if !has(l) {
				return none
			}
			return m.format(l.Measures[m.name].Mean)
		}})
	}
	return columns
}

// seconds returns a column of times.
func seconds(title string, value func(compare.Line) float64) column {
	return column{title, func(l compare.Line) string {
		if l.Repeats == 0 || l.Method == compare.Constant {
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
