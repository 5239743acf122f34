package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/eerf-stream/eerf/training"
)

// conclusion says in a sentence what to take from a table: the smallest error beside those of plain features, at the greatest M
// that was measured, and of the linear model; and what is within noise of it.
func (r *Result) conclusion(number int) string {
	table, last := &r.Tables[number], &r.Tables[len(r.Tables)-1]
	least := table.least(func(*Method) bool { return true })
	if least == nil {
		return ""
	}
	var parts []string
	if !slices.ContainsFunc(table.Lines, func(l Line) bool { return l.beatsConstant(table.Constant) }) {
		parts = append(parts, training.NothingBeatsConstant)
	}
	parts = append(parts, named(least, "features"))
	if least.method().AnySize {
		if random := table.least(func(m *Method) bool { return !m.AnySize }); random != nil && random.Method != Plain {
			parts = append(parts, named(random, "features"))
		}
	}
	for _, reference := range []*Line{last.line(Plain), table.line(linearMethod.Name)} {
		if reference != nil && reference != least {
			parts = append(parts, named(reference, "ones"))
		}
	}
	return strings.Join(append(parts, table.noise(least)), "; ")
}

// line returns the line of a method that was measured, nil if there is none.
func (t *Table) line(method string) *Line {
	for i := range t.Lines {
		if l := &t.Lines[i]; l.Method == method && l.Repeats > 0 {
			return l
		}
	}
	return nil
}

// named says what a line is and what error it has; plain features are called as told.
func named(l *Line, features string) string {
	what := fmt.Sprintf("%d features of %s", l.Features, l.Method)
	switch {
	case l.Method == linearMethod.Name:
		what = "a linear model"
	case l.Method == Plain:
		what = fmt.Sprintf("%d plain %s", l.Features, features)
	case l.method().Learns:
		what = fmt.Sprintf("%d learned features (%s)", l.Features, l.Method)
	}
	if l.Unexplained != nil {
		return what + ": " + brief(l.Unexplained.Mean) + " % unexplained"
	}
	return what + ": " + brief(l.Error.Mean) + " % wrong"
}

// noise says what the smallest error cannot be told from.
func (t *Table) noise(least *Line) string {
	const shown = 3
	var names []string
	for i := range t.Lines {
		if l := &t.Lines[i]; l.Tied && l != least {
			names = append(names, l.Method)
		}
	}
	switch {
	case least.Repeats < 2:
		return "one repeat: the order may be chance"
	case len(t.Lines) == 1:
		return "nothing to compare it with"
	case len(names) == 0:
		return fmt.Sprintf("%s is the best of the %d methods by more than two standard errors", least.Method, len(t.Lines))
	case len(names) > shown:
		names = append(names[:shown], fmt.Sprintf("%d others", len(names)-shown))
	}
	return least.Method + " is within noise of " + strings.Join(names, ", ")
}

// brief writes a percentage as people say it.
func brief(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 1:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
