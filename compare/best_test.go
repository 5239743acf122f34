package compare

import (
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/training"
)

// errorsOf is a cell of a regression with these errors by repeat. Training takes half a second, and
// a row 2.5 microseconds.
func errorsOf(method string, errors ...float64) *cell {
	c := &cell{}
	for i, v := range errors {
		unexplained := 2 * v
		c.runs = append(c.runs, Measurement{
			Method:          method,
			M:               20,
			Features:        20,
			Repeat:          i,
			Error:           v,
			Measures:        training.Measures{UnexplainedVariance: &unexplained},
			Preprocess:      0.25,
			Train:           0.25,
			RowMicroseconds: 2.5 + float64(i),
		})
	}
	return c
}

// judged is a result with a table of these cells.
func marked(cells ...*cell) *Result {
	byName := map[string]*cell{}
	table := Table{M: 20, Constant: 100}
	for _, c := range cells {
		byName[c.runs[0].Method] = c
		table.Lines = append(table.Lines, c.line(c.runs[0].Method, nil))
	}
	table.judge(func(method string) *cell { return byName[method] })
	r := &Result{Tables: []Table{table}}
	for _, c := range cells {
		r.Runs = append(r.Runs, c.runs...)
	}
	return r
}

func TestNoLineIsBestWithinNoise(t *testing.T) {
	plain, linear := errorsOf(Plain, 10, 12, 11), errorsOf("linear", 50, 50, 51)
	for name, c := range map[string]struct {
		cells []*cell
		best  string
		tied  []string
		says  string
	}{
		"one is clearly best": {
			[]*cell{plain, linear, errorsOf("adaptive-refined", 2, 3, 2.5)}, "adaptive-refined", nil,
			"adaptive-refined has the smallest error, by more than chance: " +
				"a linear model is far behind, so boosted trees are worth trying as well (--trees)",
		},
		"in pairs even a small difference is clear": {
			[]*cell{plain, errorsOf("residual", 9.9, 11.9, 10.91)}, "residual", nil,
			"residual has the smallest error, by more than chance",
		},
		"the difference may be chance": {
			[]*cell{
				plain, linear, errorsOf("residual", 9, 12.5, 10), errorsOf("energy", 15, 16, 15),
			}, "", []string{Plain, "residual"},
			"residual has the smallest error, within chance of plain: " +
				"a linear model is far behind, so boosted trees are worth trying as well (--trees)",
		},
		"plain features are best": {
			[]*cell{plain, errorsOf("linear", 12, 14, 13)}, Plain, nil, "plain has the smallest error, by more than chance",
		},
		"no random features at all are best": {
			[]*cell{errorsOf("linear", 1, 1, 1.1), plain, errorsOf("energy", 8, 9, 8)}, "linear", nil,
			"linear has the smallest error, by more than chance: use a linear model (trainer fit --map linear --clip 0)",
		},
		"a linear model is enough": {
			[]*cell{
				plain, errorsOf("linear", 9, 12, 11), errorsOf("energy", 8.9, 11, 12),
			}, "", []string{Plain, "linear", "energy"},
			"energy has the smallest error, within chance of plain, linear: " +
				"use a linear model (trainer fit --map linear --clip 0)",
		},
		"trees win": {
			[]*cell{plain, linear, errorsOf(Trees, 5, 6, 5.5)},
			Trees, nil, "trees has the smallest error, by more than chance: boosted trees win; plain errs 2 times as much",
		},
		"trees win, and of the others a linear model is enough": {
			[]*cell{plain, errorsOf("linear", 10, 12, 11), errorsOf(Trees, 5, 6, 5.5)},
			Trees, nil, "a linear model is enough (trainer fit --map linear --clip 0)",
		},
		"trees are no better": {
			[]*cell{plain, linear, errorsOf("adaptive-refined", 2, 3, 2.5), errorsOf(Trees, 5, 6, 5.5)}, "adaptive-refined", nil,
			"adaptive-refined has the smallest error, by more than chance: trainer fit makes such a model",
		},
		"one repeat shows nothing": {
			[]*cell{errorsOf(Plain, 10), errorsOf("energy",
				1)}, "", []string{Plain, "energy"}, "energy has the smallest error, but a single repeat cannot rule out chance",
		},
		"equal errors are tied": {
			[]*cell{plain, errorsOf("plain-tuned", 10, 12, 11)},
			"", []string{Plain, "plain-tuned"}, "plain has the smallest error, within chance of plain-tuned",
		},
	} {
		r := marked(c.cells...)
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
		if said := r.Tables[0].Conclusion; !strings.HasSuffix(said, c.says) {
			t.Errorf("%s: %q, want %q", name, said, c.says)
		}
	}
}

// Errors that differ in every repeat may still be due to a few of the test rows that all repeats
// share.
func TestTestRowsOfAllRepeatsAddNoise(t *testing.T) {
	a, b := errorsOf("residual", 10, 10, 10.1), errorsOf(Plain, 12, 12, 12.1)
	a.rowLoss, b.rowLoss = []float64{0, 0, 0, 120}, []float64{0, 0, 144, 0}
	if clearlyWorse(b, a) {
		t.Error("a difference that hangs on two rows is clear")
	}
	b.rowLoss = []float64{6, 6, 6, 126}
	if !clearlyWorse(b, a) {
		t.Error("a difference of all rows is not clear")
	}
}
