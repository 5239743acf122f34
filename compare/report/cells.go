package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/eerf-stream/eerf/compare"
)

// none stands in a cell that has nothing to say.
const none = "–"

// Describe says in a line what was compared on which rows.
func Describe(r *compare.Result) string {
	d := r.Data
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %d training and %d test rows", d.Name, d.Task, d.TrainRows, d.TestRows)
	switch {
	case d.PublishedSplits > 0:
		fmt.Fprintf(&b, " of published splits, one of %d for each seed", d.PublishedSplits)
	case !d.FixedSplit:
		b.WriteString(" chosen by the seed")
	}
	fmt.Fprintf(&b, ", d = %d", d.Dim)
	if d.Classes > 2 {
		fmt.Fprintf(&b, ", %d classes", d.Classes)
	}
	fmt.Fprintf(&b, "; %v map, M0 = %d, N0 = %d, σ = %.4g, ", r.Options.Map, d.Candidates, d.SampleRows, d.Sigma)
	if mix := r.Options.Mix; len(mix) > 0 {
		fmt.Fprintf(&b, "of candidates × one of %v, ", mix)
	}
	fmt.Fprintf(&b, "%s loss, ", r.Options.Loss)
	if !r.Options.Intercept {
		b.WriteString("no intercept, ")
	}
	fmt.Fprintf(&b, "seeds %d to %d", r.Options.Seed, r.Options.Seed+uint64(max(r.Options.Repeats, 1))-1)
	return b.String()
}

// Width says how many columns a table may have.
type Width int

// The widths of tables.
const (
	Narrow Width = iota // for a terminal: one measure beside the error
	Wide                // for a page: all that methods have in common, and the seconds of the test rows
)

// Cells returns the table at one M as text: a header, and a row for each method. A difference that is more than two of its
// standard errors has a star; the best line has an arrow, lines that noise does not let tell apart from the smallest error a ≈.
func Cells(r *compare.Result, table compare.Table, width Width) (header []string, rows [][]string) {
	test := false
	for _, l := range table.Lines {
		test = test || l.TestError != nil
	}
	besides := besidesOf(r, table, width)
	references := referencesOf(r)
	header = append(header, "method", "error")
	for _, name := range references {
		header = append(header, "− "+name)
	}
	if test {
		header = append(header, "test set", "test set, − plain")
	}
	for _, b := range besides {
		header = append(header, b.title)
	}
	header = append(header, "preprocess s", "train s")
	if width == Wide {
		header = append(header, "test s")
	}
	header = append(header, "")
	p := percentsOf(table)
	for _, l := range table.Lines {
		cells := p.line(l, references)
		if test {
			cells = append(cells, p.uncertainty(l.TestError), p.uncertainty(l.DifferenceTestError))
		}
		for _, b := range besides {
			cells = append(cells, b.cell(l))
		}
		cells = append(cells, timeCells(l, width)...)
		rows = append(rows, append(cells, remark(r, l)))
	}
	return header, rows
}

// referencesOf are the references that were compared with.
func referencesOf(r *compare.Result) []string {
	var names []string
	for _, name := range compare.References() {
		if slices.Contains(r.Options.Methods, name) {
			names = append(names, name)
		}
	}
	return names
}

// line are the cells of a line's name and errors.
func (p percents) line(l compare.Line, references []string) []string {
	row := []string{l.Method, "failed"}
	if l.Repeats > 0 {
		row[1] = p.mean(l.Error)
	}
	switch {
	case l.Best:
		row[0] += " ◂"
	case l.Tied:
		row[0] += " ≈"
	}
	for _, name := range references {
		text := none
		if d, ok := l.Differences[name]; ok {
			text = p.signed(d)
		}
		row = append(row, text)
	}
	return row
}

func timeCells(l compare.Line, width Width) []string {
	cells := []string{none, none, none}
	if l.Repeats > 0 {
		cells = []string{Seconds(l.Preprocess), Seconds(l.Train), Seconds(l.Test)}
	}
	if width == Narrow {
		cells = cells[:2]
	}
	return cells
}

// remark is what a reader should know of a line.
func remark(r *compare.Result, l compare.Line) string {
	var parts []string
	if method, err := compare.Lookup(l.Method); err == nil && method.AnySize && l.Repeats > 0 {
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
		parts = append(parts, "of preprocessing "+Seconds(l.Refine)+" s refinement")
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

// signed writes a difference with its sign, and a star where it is clear.
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

// Seconds writes a time with about three digits.
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
