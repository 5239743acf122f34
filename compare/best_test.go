package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// errorsOf is a cell of a method with these errors by repeat, of test rows that change.
func errorsOf(method string, errors ...float64) *cell {
	c := &cell{}
	for i, v := range errors {
		run := Measurement{Method: method, M: 20, Features: 20, Repeat: i, Error: v}
		c.add(run, &measured{error: v})
	}
	return c
}

// judged returns a table of these cells, in which a constant has the error 100.
func judged(cells ...*cell) Table {
	byName := map[string]*cell{Constant: errorsOf(Constant, slices.Repeat([]float64{100}, len(cells[0].runs))...)}
	table := Table{M: 20, Metric: "error", Constant: 100}
	for _, c := range cells {
		byName[c.runs[0].Method] = c
		table.Lines = append(table.Lines, c.line(c.runs[0].Method, nil))
	}
	table.judge(func(a, b string) bool { return clearlyWorse(byName[a], byName[b]) })
	return table
}

func TestNoLineIsBestWithinNoise(t *testing.T) {
	plain, linear := errorsOf(Plain, 10, 12, 11), errorsOf("linear", 50, 50, 51)
	for name, c := range map[string]struct {
		cells   []*cell
		best    string
		tied    []string
		advised string
		says    string
	}{
		"one is clearly best": {
			[]*cell{plain, linear, errorsOf("adaptive-refined", 2, 3, 2.5)}, "adaptive-refined", nil, "adaptive-refined",
			"adaptive-refined has the smallest error, by more than chance: trainer fit --features 20 makes " +
				"adaptive-refined; a linear model is far behind, so boosted trees are worth trying as well (--trees)",
		},
		"in pairs even a small difference is clear": {
			[]*cell{plain, errorsOf("residual", 9.9, 11.9, 10.91)}, "residual", nil, "residual",
			"residual has the smallest error, by more than chance: trainer fit --criterion residual --features 20 makes it",
		},
		"the difference may be chance": {
			[]*cell{
				plain, linear, errorsOf("residual", 9, 12.5, 10), errorsOf("energy", 15, 16, 15),
			}, "", []string{Plain, "residual"}, "residual",
			"residual has the smallest error, within chance of plain: trainer fit --criterion residual --features 20 " +
				"makes it; a linear model is far behind, so boosted trees are worth trying as well (--trees)",
		},
		"plain features are best": {
			[]*cell{plain, errorsOf("linear", 12, 14, 13)}, Plain, nil, Plain,
			"plain has the smallest error, by more than chance",
		},
		"no random features at all are best": {
			[]*cell{errorsOf("linear", 1, 1, 1.1), plain, errorsOf("energy", 8, 9, 8)}, "linear", nil, "linear",
			"linear has the smallest error, by more than chance: use a linear model (trainer fit --map linear --clip 0)",
		},
		"a linear model is enough": {
			[]*cell{
				plain, errorsOf("linear", 9, 12, 11), errorsOf("energy", 8.9, 11, 12),
			}, "", []string{Plain, "linear", "energy"}, "linear",
			"energy has the smallest error, within chance of plain, linear: " +
				"use a linear model (trainer fit --map linear --clip 0)",
		},
		"trees win": {
			[]*cell{plain, linear, errorsOf(Trees, 5, 6, 5.5)}, Trees, nil, Trees,
			"trees has the smallest error, by more than chance: use boosted trees; " +
				"plain has 94 % of their gain over a constant",
		},
		"trees win, and a linear model only equals the other methods": {
			[]*cell{plain, errorsOf("linear", 10, 12, 11), errorsOf(Trees, 5, 6, 5.5)}, Trees, nil, Trees,
			"use boosted trees; plain has 94 % of their gain over a constant",
		},
		"trees are within chance of learned features, a linear model is not": {
			[]*cell{
				plain, errorsOf("linear", 14, 16, 15), errorsOf("adaptive-refined", 9, 10, 9), errorsOf(Trees, 9, 9, 9),
			}, "", []string{"adaptive-refined", Trees}, "adaptive-refined",
			"trees has the smallest error, within chance of adaptive-refined: " +
				"trainer fit --features 20 makes adaptive-refined",
		},
		"a linear model that loses half of the gain is not enough": {
			[]*cell{errorsOf(Plain, 99, 98, 99), errorsOf("linear", 55, 95, 12), errorsOf("adaptive-refined", 10, 30, 15)},
			"", []string{"linear", "adaptive-refined"}, "adaptive-refined",
			"adaptive-refined has the smallest error, within chance of linear: trainer fit --features 20 makes " +
				"adaptive-refined; a linear model is far behind, so boosted trees are worth trying as well (--trees)",
		},
		"trees are no better": {
			[]*cell{plain, linear, errorsOf("adaptive-refined", 2, 3, 2.5), errorsOf(Trees, 5, 6, 5.5)},
			"adaptive-refined", nil, "adaptive-refined",
			"adaptive-refined has the smallest error, by more than chance: trainer fit --features 20 makes adaptive-refined",
		},
		"one repeat shows nothing": {
			[]*cell{errorsOf(Plain, 10), errorsOf("energy", 1)}, "", []string{Plain, "energy"}, "",
			"energy has the smallest error, but a single repeat cannot rule out chance",
		},
		"equal errors are tied": {
			[]*cell{plain, errorsOf("plain-tuned", 10, 12, 11)}, "", []string{Plain, "plain-tuned"}, Plain,
			"plain has the smallest error, within chance of plain-tuned",
		},
		"nothing beats a constant": {
			[]*cell{errorsOf(Plain, 101, 102, 103), errorsOf("linear", 100, 101, 100)}, "linear", nil, "",
			"nothing here beats a constant (error 100): no method is advised",
		},
		"an error within chance of a constant is no advice": {
			[]*cell{errorsOf(Plain, 101, 102, 103), errorsOf("linear", 99, 101, 99)}, "linear", nil, "",
			"linear has the smallest error, but within chance of a constant: no method is advised",
		},
	} {
		table := judged(c.cells...)
		var best string
		var tied []string
		for _, l := range table.Lines {
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
		if !strings.HasSuffix(table.Conclusion, c.says) || table.Advice != c.advised {
			t.Errorf("%s: %q advises %q, want %q that advises %q", name, table.Conclusion, table.Advice, c.says, c.advised)
		}
	}
}

// Errors that differ in every repeat may still be due to a few of the test rows that all repeats
// share.
func TestTestRowsOfAllRepeatsAddNoise(t *testing.T) {
	with := func(rows ...float32) (a, b *cell) {
		a, b = &cell{fixed: true}, &cell{fixed: true}
		for repeat, v := range []float64{10, 10, 10.1} {
			a.add(Measurement{Repeat: repeat}, &measured{error: v, rowLoss: []float32{0, 0, 0, 40}})
			b.add(Measurement{Repeat: repeat}, &measured{error: v + 2, rowLoss: rows})
		}
		return a, b
	}
	if a, b := with(0, 0, 48, 0); clearlyWorse(b, a) {
		t.Error("a difference that hangs on two rows is clear")
	}
	if a, b := with(2, 2, 2, 42); !clearlyWorse(b, a) || *a.error().Error < 9 {
		t.Errorf("a difference of all rows is not clear, or %v lacks the noise of the rows", *a.error().Error)
	}
}

// Repeats with other test rows share training rows: their differences vary too little.
func TestSharedTrainingRowsAddNoise(t *testing.T) {
	a, b := errorsOf(Plain, 12, 12.2, 12.1, 12.3), errorsOf("linear", 11, 12.1, 11.2, 12.2)
	naive := *a.minus(b).Error
	a.overlap = 0.5
	if got := *a.minus(b).Error; math.Abs(got-naive*math.Sqrt(3)) > 1e-12 {
		t.Errorf("%v with half as many test rows as training rows, %v without correction", got, naive)
	}
}

// The advised method is never clearly worse than the method that the sentence calls best, and
// always clearly better than a constant, whatever the errors.
func TestAdviceFollowsFromTheErrors(t *testing.T) {
	names := []string{Plain, "plain-tuned", "linear", "residual", "adaptive-refined", Trees}
	advised := 0
	for seed := range uint64(3000) {
		random := rand.New(rand.NewPCG(seed, 1))
		noise := math.Exp(3 * random.NormFloat64())
		draw := func(method string, mean float64) *cell {
			c := &cell{fixed: seed%2 == 0, overlap: 0.5}
			for repeat := range 1 + random.IntN(5) {
				rows := make([]float32, 20)
				for i := range rows {
					rows[i] = float32(mean + noise*random.NormFloat64())
				}
				v := mean + noise*random.NormFloat64()/3
				c.add(Measurement{Method: method, Repeat: repeat, Error: v}, &measured{error: v, rowLoss: rows})
			}
			return c
		}
		cells := map[string]*cell{Constant: draw(Constant, 10)}
		table := Table{M: 20, Metric: "error", Constant: cells[Constant].error().Mean}
		for _, name := range names {
			if random.IntN(4) > 0 {
				cells[name] = draw(name, 10+3*random.NormFloat64())
				table.Lines = append(table.Lines, cells[name].line(name, nil))
			}
		}
		table.judge(func(a, b string) bool { return clearlyWorse(cells[a], cells[b]) })
		if table.Advice == "" {
			continue
		}
		advised++
		least := table.least()
		if !strings.HasPrefix(table.Conclusion, least.Method+" ") {
			t.Fatalf("%d: %q, but %s has the smallest error", seed, table.Conclusion, least.Method)
		}
		if clearlyWorse(cells[table.Advice], cells[least.Method]) || !clearlyWorse(cells[Constant], cells[table.Advice]) {
			t.Fatalf("%d: %q advises %s: %+v", seed, table.Conclusion, table.Advice, table.Lines)
		}
		for _, l := range table.Lines {
			if l.Method == table.Advice && (l.Useless || !l.Best && !l.Tied) {
				t.Fatalf("%d: %q advises %+v", seed, table.Conclusion, l)
			}
		}
	}
	if advised < 300 {
		t.Errorf("only %d tables have advice", advised)
	}
}
