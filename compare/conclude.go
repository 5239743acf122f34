package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/training"
)

// Constant is the name under which comparisons know the constant predictor.
const Constant = "a constant"

// Shares of the gain of the best method over the constant.
const (
	// nearly is the share from which on a linear model, if within noise of the best, is enough.
	nearly = 0.9
	// farBehind is the share of a linear model below which boosted trees are worth trying.
	farBehind = 0.8
)

// verdict is what a table shows.
type verdict struct {
	best    *Line   // the smallest error, nil without a measured method
	tied    []*Line // the others within noise of it
	advised string  // a method, "" if the errors support no advice
	text    string
}

// judge marks the smallest error, and sets Conclusion and Advice. worse reports whether a method,
// or [Constant], is worse than another by more than noise.
func (t *Table) judge(worse func(a, b string) bool) {
	v := t.verdict(worse)
	t.Conclusion, t.Advice = v.text, v.advised
	if v.best == nil {
		return
	}
	v.best.Best = len(v.tied) == 0
	v.best.Tied = !v.best.Best
	for _, l := range v.tied {
		l.Tied = true
	}
	for i := range t.Lines {
		l := &t.Lines[i]
		l.Useless = l.counts() && l.Error.Mean >= t.Constant
	}
}

// verdict derives the conclusion from the errors. It is the only function that decides on advice.
func (t *Table) verdict(worse func(a, b string) bool) verdict {
	v := verdict{best: t.least()}
	if v.best == nil {
		return v
	}
	others := 0
	for i := range t.Lines {
		l := &t.Lines[i]
		if l == v.best || !l.counts() {
			continue
		}
		others++
		if !worse(l.Method, v.best.Method) {
			v.tied = append(v.tied, l)
		}
	}
	smallest := v.best.Method + " has the smallest " + t.Metric
	switch {
	case v.best.Error.Mean >= t.Constant:
		v.text = fmt.Sprintf("%s (%s %s): no method is advised", training.NothingBeatsConstant, t.Metric,
			training.FigureText(t.Constant))
		return v
	case v.best.Repeats < 2:
		v.text = smallest + ", but a single repeat cannot rule out chance"
		return v
	case !worse(Constant, v.best.Method):
		v.text = smallest + ", but within chance of a constant: no method is advised"
		return v
	case others == 0:
		v.text = v.best.Method + " is the only method with a result"
	case len(v.tied) > 0:
		v.text = fmt.Sprintf("%s, within chance of %s", smallest, methodNames(v.tied))
	default:
		v.text = smallest + ", by more than chance"
	}
	advice := ""
	v.advised, advice = t.advice(v, worse)
	if advice != "" {
		v.text += ": " + advice
	}
	return v
}

// advice returns the method to use, and a sentence about it. It is the best method, or the cheapest
// of those within noise of it.
func (t *Table) advice(v verdict, worse func(a, b string) bool) (method, sentence string) {
	among := func(name string) *Line {
		for _, l := range append(v.tied[:len(v.tied):len(v.tied)], v.best) {
			if l.Method == name && worse(Constant, name) {
				return l
			}
		}
		return nil
	}
	linear, learned, trees := among(linearMethod.Name), among(refinedMethod.Name), among(Trees)
	switch {
	case linear != nil && t.gain(linear) >= nearly*t.gain(v.best):
		return linear.Method, "use a linear model (trainer fit --map linear --clip 0)"
	case learned != nil:
		method, sentence = learned.Method, "trainer fit makes adaptive-refined"
		if t.M != adaptive.DefaultFeatures {
			sentence = fmt.Sprintf("trainer fit --features %d makes adaptive-refined", t.M)
		}
	case trees == v.best && trees != nil:
		method, sentence = trees.Method, "use boosted trees"
		if ours := t.least(Trees); ours != nil {
			sentence += fmt.Sprintf("; %s has %.0f %% of their gain over a constant", ours.Method,
				100*max(0, t.gain(ours))/t.gain(trees))
		}
	default:
		method = v.best.Method
		var criterion scoring.Criterion
		if err := criterion.UnmarshalText([]byte(method)); err == nil && !criterion.Learns() {
			sentence = fmt.Sprintf("trainer fit --criterion %s --features %d makes it", method, t.M)
		}
	}
	if l := t.line(linearMethod.Name); l != nil && t.line(Trees) == nil && t.gain(l) < farBehind*t.gain(v.best) {
		sentence = join(sentence, "a linear model is far behind, so boosted trees are worth trying as well (--trees)")
	}
	return method, sentence
}

// gain returns by how much the error of a line is below the constant's.
func (t *Table) gain(l *Line) float64 { return t.Constant - l.Error.Mean }

// least returns the measured line with the smallest error, except for some methods, or nil.
func (t *Table) least(except ...string) *Line {
	var least *Line
	for i := range t.Lines {
		l := &t.Lines[i]
		if l.counts() && !slices.Contains(except, l.Method) && (least == nil || l.Error.Mean < least.Error.Mean) {
			least = l
		}
	}
	return least
}

// LeastWithout returns the smallest error at the largest M as the result without some columns; nil
// if nothing was measured.
func (r *Result) LeastWithout(columns []string) *Without {
	for _, t := range slices.Backward(r.Tables) {
		if least := t.least(); least != nil {
			return &Without{columns, least.Method, least.Error.Mean, t.Constant}
		}
	}
	return nil
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

// counts reports whether an error was measured for the line.
func (l *Line) counts() bool { return l.Repeats > 0 }

func methodNames(lines []*Line) string {
	names := make([]string, len(lines))
	for i, l := range lines {
		names[i] = l.Method
	}
	return strings.Join(names, ", ")
}
