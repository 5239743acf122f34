package main

import (
	"fmt"
	"io"
	"math"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// printer writes tables.
type printer struct {
	out      io.Writer
	markdown bool
}

// table writes one table. Columns that are empty in every row are left out, numbers stand at the right.
func (p printer) table(title string, header []string, rows [][]string) {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.SuppressEmptyColumns()
	t.AppendHeader(cells(header))
	for _, row := range rows {
		t.AppendRow(cells(row))
	}
	t.SetColumnConfigs(alignment(rows))
	if p.markdown {
		fmt.Fprintf(p.out, "**%s**\n\n%s\n\n", title, t.RenderMarkdown())
		return
	}
	fmt.Fprintf(p.out, "%s\n%s\n\n", title, t.Render())
}

// cells converts a row for the table writer.
func cells(row []string) table.Row {
	r := make(table.Row, len(row))
	for i, c := range row {
		r[i] = c
	}
	return r
}

// alignment puts words at the left and numbers at the right of their columns.
func alignment(rows [][]string) []table.ColumnConfig {
	configs := make([]table.ColumnConfig, len(rows[0]))
	for i := range configs {
		align := text.AlignRight
		for _, row := range rows {
			if row[i] != "" && !isNumber(row[i]) {
				align = text.AlignLeft
			}
		}
		configs[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
	}
	return configs
}

// summary says where the figures of a section are from.
func (p printer) summary(lines []*line) {
	rounds := math.MaxInt
	for _, l := range lines {
		rounds = min(rounds, len(l.round[seconds]))
	}
	fmt.Fprintf(p.out, "%s. Rounds: %d. Medians; ± is half the distance between the quartiles.\n\n",
		lines[0].cpu, rounds)
}
