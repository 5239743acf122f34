package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/compare/report"
	"github.com/eerf-stream/eerf/training"
)

// comparisonPrinter writes a comparison as text, in lines of limited width.
type comparisonPrinter struct {
	out    io.Writer
	width  int
	result *compare.Result
}

// printComparison writes the verdict for the largest M, the columns, rows and methods left out,
// each table between its verdict and its notes, and the place of the report.
func printComparison(w io.Writer, r *compare.Result, dir string) {
	p := comparisonPrinter{out: w, width: cli.Width(w), result: r}
	if !r.Complete {
		p.line("interrupted: these are the results so far")
	}
	p.telltales()
	p.verdict()
	p.leftOut()
	p.line(report.Describe(r))
	for _, table := range r.Tables {
		if len(table.Lines) > 0 {
			p.table(table)
		}
	}
	for _, note := range r.Notes {
		p.line("note: " + note)
	}
	if dir != "" {
		fmt.Fprintln(w, "report:", filepath.Join(dir, report.Page))
	}
}

// line writes a line, wrapped if it is too long.
func (p comparisonPrinter) line(line string) {
	fmt.Fprintln(p.out, cli.Wrapped(line, p.width, "  "))
}

// telltales writes the columns that predict the label nearly alone, and the smallest error without
// them.
func (p comparisonPrinter) telltales() {
	cli.WriteTelltales(p.out, p.result.Telltales)
	if w, measure := p.result.Without, p.result.Options.Measure; w != nil {
		p.line(fmt.Sprintf("without %s: %s has the %s %s, a constant %s", strings.Join(w.Columns, ", "), w.Method,
			p.result.Metric, training.MeasureText(measure, w.Error), training.MeasureText(measure, w.Constant)))
	}
}

// verdict writes the conclusion from the largest M.
func (p comparisonPrinter) verdict() {
	for _, table := range slices.Backward(p.result.Tables) {
		if table.Conclusion != "" {
			p.line("verdict: " + table.Conclusion)
			return
		}
	}
}

// leftOut writes the columns, rows and methods left out of the comparison.
func (p comparisonPrinter) leftOut() {
	cli.WriteColumns(p.out, p.result.Data.Columns, "--json lists them")
	if rows := report.RowsLeftOut(p.result); rows != "" {
		p.line("unusable rows: " + rows)
	}
	for _, method := range p.result.MethodsLeftOut {
		p.line("method left out: " + method)
	}
}

// table writes the comparison at one M, between its verdict and its notes.
func (p comparisonPrinter) table(of compare.Table) {
	fmt.Fprintln(p.out)
	p.line(fmt.Sprintf("M = %d: %s; a constant has %s%s", of.M, p.result.Metric, report.Constant(of),
		training.MeasureUnit(p.result.Options.Measure)))
	if of.Conclusion != "" && len(p.result.Tables) > 1 {
		p.line(of.Conclusion)
	}
	cells := report.TerminalCells(p.result, of)
	t := cli.NewTable(p.out, "", anys(cells.Header)...)
	configs := make([]table.ColumnConfig, len(cells.Header))
	for i := range configs {
		configs[i] = table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	t.SetColumnConfigs(configs[1:])
	for _, row := range cells.Rows {
		t.AppendRow(anys(row))
	}
	t.Render()
	for _, note := range tableNotes(of, cells) {
		p.line(note)
	}
}

// tableNotes returns explanations of the marks of a table and remarks about its lines.
func tableNotes(of compare.Table, cells report.Cells) []string {
	var notes []string
	has := func(mark func(compare.Line) bool) bool { return slices.ContainsFunc(of.Lines, mark) }
	switch {
	case has(func(l compare.Line) bool { return l.Best }):
		notes = append(notes, "◂ the smallest error by more than chance")
	case has(func(l compare.Line) bool { return l.Tied }):
		notes = append(notes, "≈ the smallest error, or within chance of it")
	}
	if slices.ContainsFunc(slices.Concat(cells.Rows...), func(cell string) bool { return strings.HasSuffix(cell, "*") }) {
		notes = append(notes, "* more than two standard errors")
	}
	if slices.Contains(cells.Header, "AP") {
		notes = append(notes, "AP is the average precision of the rare class")
	}
	if len(notes) > 0 {
		notes = []string{strings.Join(notes, "; ")}
	}
	for i, remark := range cells.Remarks {
		if remark != "" {
			notes = append(notes, of.Lines[i].Method+": "+remark)
		}
	}
	return notes
}

// anys converts texts for a table.
func anys(texts []string) []any {
	all := make([]any, len(texts))
	for i, text := range texts {
		all[i] = text
	}
	return all
}
