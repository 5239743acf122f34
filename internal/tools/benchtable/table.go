package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// printer writes Markdown.
type printer struct{ out io.Writer }

// table writes one table. It omits columns that are empty in every row, and aligns numbers to the
// right.
func (p printer) table(title string, header []string, rows [][]string) {
	lines := make([]strings.Builder, 2+len(rows))
	for column, name := range header {
		used, words := false, false
		for _, row := range rows {
			used = used || row[column] != ""
			words = words || row[column] != "" && !isNumber(row[column])
		}
		if !used {
			continue
		}
		rule := " ---:|"
		if words {
			rule = ":--- |"
		}
		fmt.Fprintf(&lines[0], " %s |", name)
		lines[1].WriteString(rule)
		for i, row := range rows {
			fmt.Fprintf(&lines[2+i], " %s |", row[column])
		}
	}
	fmt.Fprintf(p.out, "**%s**\n\n", title)
	for i := range lines {
		fmt.Fprintf(p.out, "|%s\n", lines[i].String())
	}
	fmt.Fprintln(p.out)
}

// summary writes the origin of the figures of a section.
func (p printer) summary(lines []*line) {
	rounds := math.MaxInt
	for _, l := range lines {
		rounds = min(rounds, len(l.round[seconds]))
	}
	fmt.Fprintf(p.out, "%s. Rounds: %d. Medians; ± is half the distance between the quartiles.\n\n",
		lines[0].cpu, rounds)
}
