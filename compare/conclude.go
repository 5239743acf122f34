package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/eerf-stream/eerf/training"
)

// conclude fills in what the tables show.
func (r *Result) conclude() {
	for i := range r.Tables {
		t := &r.Tables[i]
		if least := t.least(func(*Method) bool { return true }); least != nil {
			t.Conclusion = t.conclusion(least)
		}
	}
}

// conclusion says which method has the smallest error and whether that may be chance, and by how much it differs from
// plain features and from a linear model.
func (t *Table) conclusion(least *Line) string {
	var lead string
	if !slices.ContainsFunc(t.Lines, func(l Line) bool { return l.beatsConstant(t.Constant) }) {
		lead = training.NothingBeatsConstant + "; "
	}
	return lead + t.standing(least) + t.gains(least)
}

// line returns the line of a measured method, or nil.
func (t *Table) line(method string) *Line {
	for i := range t.Lines {
		if l := &t.Lines[i]; l.Method == method && l.Repeats > 0 {
			return l
		}
	}
	return nil
}

// standing says how the smallest error compares with the others.
func (t *Table) standing(least *Line) string {
	var tied []string
	measured := 0
	for i := range t.Lines {
		l := &t.Lines[i]
		if l.counts() {
			measured++
		}
		if l.Tied && l != least {
			tied = append(tied, l.called())
		}
	}
	switch {
	case measured == 1:
		return "there is nothing to compare " + least.called() + " with: "
	case least.Repeats < 2:
		return least.subject() + " has the smallest error, but one repeat says nothing about chance: "
	case len(tied) > 0:
		return least.subject() + " has the smallest error, within chance of " + enumerate(tied) + ": "
	case least.Method == linearMethod.Name:
		return "random features do not pay here, a linear model is best by more than chance: "
	}
	return fmt.Sprintf("%s is the best of the %d methods by more than chance: ", least.subject(), measured)
}

// gains states the smallest error, and by how much it is below those of plain features and of a linear
// model.
func (t *Table) gains(least *Line) string {
	ours, what := least.percents()
	text := brief(ours) + what
	if !least.method.AnySize {
		text += fmt.Sprintf(" with %d features", least.Features)
	}
	var differences []string
	for _, other := range t.comparedWith(least) {
		theirs, _ := other.percents()
		difference := apart(theirs-ours, len(differences) == 0) + other.called()
		if other.Tied && least.Repeats > 1 {
			difference += " (within chance)"
		}
		differences = append(differences, difference)
	}
	if len(differences) == 0 {
		return text
	}
	return text + ", " + strings.Join(differences, " and ")
}

// apart says by how much the smallest error is below another; the first mention includes points.
func apart(points float64, first bool) string {
	unit := " "
	if first {
		unit = " points "
	}
	switch {
	case points > 0:
		return brief(points) + unit + "less than "
	case points < 0: // by another measure than the methods were compared by
		return brief(-points) + unit + "more than "
	}
	return "the same as "
}

// comparedWith returns the lines that the smallest error is compared with: the best random features if a linear model has the
// smallest error, plain features and the linear model.
func (t *Table) comparedWith(least *Line) []*Line {
	var lines []*Line
	if least.method.AnySize {
		if random := t.least(func(m *Method) bool { return !m.AnySize }); random != nil {
			lines = append(lines, random)
		}
	}
	for _, name := range []string{Plain, linearMethod.Name} {
		if l := t.line(name); l != nil && l != least && !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	return lines
}

// subject is the name of a method as the subject of a sentence.
func (l *Line) subject() string {
	if l.Method == linearMethod.Name {
		return "a linear model"
	}
	return l.Method
}

// called is the name of a method that another is compared with.
func (l *Line) called() string {
	if l.Method == Plain {
		return "plain features"
	}
	return l.subject()
}

// percents is the unexplained variance for a regression, and the error for classes; what says which.
func (l *Line) percents() (value float64, what string) {
	if unexplained, ok := l.Measures[training.MeasureUnexplainedVariance]; ok {
		return unexplained.Mean, " % unexplained"
	}
	return l.Error.Mean, " % wrong"
}

// enumerate names the first of several things: "a, b and 3 others".
func enumerate(names []string) string {
	const shown = 3
	if more := len(names) - shown; more > 1 {
		names = append(slices.Clone(names[:shown]), fmt.Sprintf("%d others", more))
	}
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// brief rounds a number as people do.
func brief(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 1:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 0.001:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}
