package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/training"
)

// conclude fills in what the tables show.
func (r *Result) conclude() {
	for i := range r.Tables {
		t := &r.Tables[i]
		if least := t.least(); least != nil {
			t.Conclusion = t.conclusion(least)
		}
	}
}

// conclusion says which method has the smallest error and whether that may be chance.
func (t *Table) conclusion(least *Line) string {
	var lead string
	if !slices.ContainsFunc(t.Lines, func(l Line) bool { return l.beatsConstant(t.Constant) }) {
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
		return lead + "there is nothing to compare " + least.Method + " with"
	case least.Repeats < 2:
		return lead + least.Method + " has the smallest error, but one repeat says nothing about chance"
	case len(tied) > 0:
		return lead + fmt.Sprintf("%s has the smallest error, within chance of %s", least.Method, strings.Join(tied, ", "))
	}
	return lead + least.Method + " has the smallest error, by more than chance"
}
