package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/compare/report"
)

// printComparison writes the tables for people.
func printComparison(w io.Writer, r *compare.Result, dir string) {
	if !r.Complete {
		fmt.Fprintln(w, "interrupted: what follows is what was done by then")
	}
	cli.WriteColumns(w, r.Data.Columns, "--json lists them")
	fmt.Fprintln(w, report.Describe(r))
	for _, table := range r.Tables {
		if len(table.Lines) > 0 {
			printTable(w, r, table)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, "note:", note)
	}
	if dir != "" {
		fmt.Fprintln(w, "report:", filepath.Join(dir, report.Page))
	}
}

// printTable writes the comparison at one M under what to conclude from it. A difference to plain features of more than two standard errors has a star.
func printTable(w io.Writer, r *compare.Result, table compare.Table) {
	if table.Conclusion != "" {
		fmt.Fprintln(w, table.Conclusion)
	}
	header, rows := report.Cells(r, table, report.Narrow)
	head := make([]any, len(header))
	for i, text := range header {
		head[i] = text
	}
	t := cli.NewTable(w, fmt.Sprintf("M = %d: %s in percent; the constant predictor has %s", table.M, r.Metric, report.Constant(table)), head...)
	for _, row := range rows {
		cells := make([]any, len(row))
		for i, text := range row {
			cells[i] = text
		}
		t.AppendRow(cells)
	}
	t.Render()
}
