package compare

import (
	"strings"
	"testing"
)

// errorsOf is a cell of a regression with the errors of its repeats.
func errorsOf(method string, errors ...float64) *cell {
	c := &cell{}
	for i, v := range errors {
		unexplained := 2 * v
		c.runs = append(c.runs, Measurement{Method: method, M: 20, Features: 20, Repeat: i, Error: v, Unexplained: &unexplained})
	}
	return c
}

// judged is the table of cells.
func judged(cells ...*cell) *Result {
	byName := map[string]*cell{}
	table := Table{M: 20}
	for _, c := range cells {
		byName[c.runs[0].Method] = c
		table.Lines = append(table.Lines, c.line(nil, nil))
	}
	table.judge(func(method string) *cell { return byName[method] }, nil)
	r := &Result{Tables: []Table{table}}
	r.Tables[0].Conclusion = r.conclusion(0)
	return r
}

func TestNothingIsBestWithinNoise(t *testing.T) {
	plain, linear := errorsOf(Plain, 10, 12, 11), errorsOf("linear", 50, 50, 51)
	for name, c := range map[string]struct {
		cells []*cell
		best  string
		tied  []string
		says  []string
	}{
		"one is clearly best": {
			[]*cell{plain, linear, errorsOf("adaptive-refined", 2, 3, 2.5)}, "adaptive-refined", nil,
			[]string{"20 learned features (adaptive-refined): 5.0 % unexplained; 20 plain ones: 22.0 % unexplained; a linear model: 101 % unexplained", "adaptive-refined is the best of the 3 methods"},
		},
		"in pairs even a small difference is clear": {
			[]*cell{plain, errorsOf("residual", 9.9, 11.9, 10.91)}, "residual", nil,
			[]string{"20 features of residual: 21.8 % unexplained"},
		},
		"the difference may be chance": {
			[]*cell{plain, linear, errorsOf("residual", 9, 12.5, 10), errorsOf("energy", 15, 16, 15)}, "", []string{Plain, "residual"},
			[]string{"residual is within noise of plain"},
		},
		"plain features are best": {
			[]*cell{plain, linear}, Plain, nil, []string{"20 plain features: 22.0 % unexplained; a linear model"},
		},
		"no random features at all are best": {
			[]*cell{errorsOf("linear", 1, 1, 1.1), plain, errorsOf("energy", 8, 9, 8)}, "linear", nil,
			[]string{"a linear model: 2.1 % unexplained; 20 features of energy: 16.7 % unexplained; 20 plain ones"},
		},
		"hindsight does not count": {
			[]*cell{plain, errorsOf("lkrf-best", 1, 1.1, 1), errorsOf("energy", 5, 5, 5.1)}, "energy", nil, nil,
		},
		"one repeat shows nothing": {
			[]*cell{errorsOf(Plain, 10), errorsOf("energy", 1)}, "", []string{Plain, "energy"}, []string{"one repeat: the order may be chance"},
		},
		"equal errors are tied": {
			[]*cell{plain, errorsOf("plain-tuned", 10, 12, 11)}, "", []string{Plain, "plain-tuned"}, nil,
		},
	} {
		r := judged(c.cells...)
		var best string
		var tied []string
		for _, l := range r.Tables[0].Lines {
			if l.Best {
				best += l.Method
			}
			if l.Tied {
				tied = append(tied, l.Method)
			}
		}
		if best != c.best || strings.Join(tied, " ") != strings.Join(c.tied, " ") {
			t.Errorf("%s: best %q and tied %q, want %q and %q", name, best, tied, c.best, c.tied)
		}
		for _, text := range c.says {
			if !strings.Contains(r.Tables[0].Conclusion, text) {
				t.Errorf("%s: the conclusion lacks %q:\n%s", name, text, r.Tables[0].Conclusion)
			}
		}
	}
}

// Errors that differ in every repeat may still come from a few of the test rows that all repeats share.
func TestTestRowsOfAllRepeatsAddNoise(t *testing.T) {
	a, b := errorsOf("residual", 10, 10, 10.1), errorsOf(Plain, 12, 12, 12.1)
	weight := []float64{1, 1, 1, 1}
	a.rowLoss, b.rowLoss = []float64{0, 0, 0, 1.2}, []float64{0, 0, 1.44, 0}
	if clearlyWorse(b, a, weight) {
		t.Error("a difference that hangs on two rows is clear")
	}
	b.rowLoss = []float64{0.06, 0.06, 0.06, 1.26}
	if !clearlyWorse(b, a, weight) {
		t.Error("a difference of all rows is not clear")
	}
}
