package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/training"
)

// farBehind is the ratio of a linear model's error to the smallest error from which nonlinear
// models are worth trying.
const farBehind = 1.25

// judge marks the smallest error and sets Conclusion: what the errors show, and advice. cellOf
// returns the cell of a method of the table.
func (t *Table) judge(cellOf func(method string) *cell) {
	least := t.least(nil)
	if least == nil {
		return
	}
	t.markBest(least, cellOf)
	t.Conclusion = t.shows(least)
	if advice := t.advice(least, cellOf); advice != "" {
		t.Conclusion += ": " + advice
	}
}

// shows names the method with the smallest error and reports whether that may be chance.
func (t *Table) shows(least *Line) string {
	var lead string
	if t.useless() {
		lead = training.NothingBeatsConstant + "; "
	}
	measured := 0
	var tied []string
	for i := range t.Lines {
		l := &t.Lines[i]
		if l.counts() {
			measured++
		}
		if l.Tied && l != least {
			tied = append(tied, l.Method)
		}
	}
	switch {
	case measured == 1:
		return lead + least.Method + " is the only method with a result"
	case least.Repeats < 2:
		return lead + least.Method + " has the smallest error, but a single repeat cannot rule out chance"
	case len(tied) > 0:
		return lead + fmt.Sprintf("%s has the smallest error, within chance of %s", least.Method, strings.Join(tied, ", "))
	}
	return lead + least.Method + " has the smallest error, by more than chance"
}

// useless reports whether no method is better than a constant.
func (t *Table) useless() bool {
	return !slices.ContainsFunc(t.Lines, func(l Line) bool { return l.beatsConstant(t.Constant) })
}

// advice returns a recommendation, or "" if the errors support none.
func (t *Table) advice(least *Line, cellOf func(method string) *cell) string {
	linear, trees := t.line(linearMethod.Name), t.line(Trees)
	ours := t.least(trees)
	if least.Repeats < 2 || linear == nil || ours == nil || t.useless() {
		return ""
	}
	enough := linear == ours || !clearlyWorse(cellOf(linear.Method), cellOf(ours.Method))
	switch {
	case enough && least == trees && trees.Best:
		return "boosted trees win; if rows must be cheaper, a linear model is enough (trainer fit --map linear --clip 0)"
	case enough:
		return "use a linear model (trainer fit --map linear --clip 0)"
	case least == trees && trees.Best:
		return fmt.Sprintf("boosted trees win; %s errs %.2g times as much", ours.Method,
			ours.Error.Mean/max(trees.Error.Mean, 1e-9))
	case trees == nil && linear.Error.Mean > farBehind*ours.Error.Mean:
		return "a linear model is far behind, so boosted trees are worth trying as well (--trees)"
	case least.Method == refinedMethod.Name:
		return "trainer fit makes such a model"
	}
	return ""
}

// line returns the line of a method that has an error, or nil.
func (t *Table) line(method string) *Line {
	for i := range t.Lines {
		if l := &t.Lines[i]; l.Method == method && l.counts() {
			return l
		}
	}
	return nil
}
