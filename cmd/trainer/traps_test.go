package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// trap is a generated file on which a careless judge errs.
type trap struct {
	header string
	row    func(r *rand.Rand, i int) string
	rows   int
	more   []string // flags of both commands
	tested int      // rows of a test file, 0 = none
	leak   string   // columns that predict the label nearly alone

	compare string // words of the verdict
	never   string // words that the verdict must lack
	fit     string // words of the first sentence
}

const (
	learned   = "trainer fit --features 16 makes adaptive-refined"
	linearFit = "use a linear model"
	nothing   = "no method is advised"
	beats     = ", a constant has "
	chance    = "a constant"
)

func word(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

// base writes three useless numbers and returns the first.
func base(r *rand.Rand) (text string, a, b float64) {
	a, b = r.NormFloat64(), r.Float64()
	return fmt.Sprintf("%.4f,%.4f,%.4f", a, b, r.ExpFloat64()), a, b
}

var traps = map[string]trap{
	"a rare class that curves predict": {"a,b,c,y", func(r *rand.Rand, _ int) string {
		text, a, _ := base(r)
		return text + "," + word(r.Float64() < 0.01+0.3*max(0, math.Cos(3*a)))
	}, 3000, nil, 0, "", learned, linearFit, beats},
	"a rare class that nothing predicts": {"a,b,c,y", func(r *rand.Rand, _ int) string {
		text, _, _ := base(r)
		return text + "," + word(r.Float64() < 0.04)
	}, 2000, nil, 0, "", nothing, "use ", chance},
	"labels by a coin": {"a,b,c,y", func(r *rand.Rand, _ int) string {
		text, _, _ := base(r)
		return text + "," + word(r.Float64() < 0.5)
	}, 1000, nil, 0, "", nothing, "makes", chance},
	"every row three times, labels by a coin": {"a,b,c,y", func(_ *rand.Rand, i int) string {
		same := rand.New(rand.NewPCG(uint64(i%330), 9))
		text, _, _ := base(same)
		return text + "," + word(same.Float64() < 0.5)
	}, 990, nil, 0, "", nothing, "makes", chance},
	"numbers by chance": {"a,b,c,y", func(r *rand.Rand, _ int) string {
		text, _, _ := base(r)
		return fmt.Sprintf("%s,%.4f", text, r.NormFloat64())
	}, 1000, nil, 0, "", nothing, "makes", chance},
	"numbers with a heavy tail by chance": {"a,b,c,y", func(r *rand.Rand, _ int) string {
		text, _, _ := base(r)
		return fmt.Sprintf("%s,%.4f", text, math.Exp(2*r.NormFloat64()))
	}, 1000, nil, 0, "", nothing, "makes", chance},
	"a line": {"a,b,c,y", func(r *rand.Rand, _ int) string {
		text, a, b := base(r)
		return text + "," + word(a+b+0.5*r.NormFloat64() > 0.5)
	}, 1500, nil, 0, "", linearFit, "makes", beats},
	"a line of numbers": {"a,b,c,y", func(r *rand.Rand, _ int) string {
		text, a, b := base(r)
		return fmt.Sprintf("%s,%.4f", text, 2*a+b+r.NormFloat64())
	}, 1500, nil, 0, "", linearFit, "makes", beats},
	"a curve of numbers": {"a,b,c,y", func(r *rand.Rand, _ int) string {
		text, a, b := base(r)
		return fmt.Sprintf("%s,%.4f", text, math.Cos(3*a)+b+0.3*r.NormFloat64())
	}, 1500, nil, 0, "", "adaptive-refined has the smallest", linearFit, beats},
	"three classes on a circle": {"a,b,c,y", func(r *rand.Rand, _ int) string {
		a, b := 2*r.Float64()-1, 2*r.Float64()-1
		class := min(2, max(0, int(3*math.Hypot(a, b)+0.3*r.NormFloat64())))
		return fmt.Sprintf("%.4f,%.4f,%.4f,c%d", a, b, r.Float64(), class)
	}, 1500, nil, 0, "", "has the smallest log loss", nothing, beats},
	"the label in other units": {"a,b,tax,y", func(r *rand.Rand, _ int) string {
		y := 100 + 20*r.NormFloat64()
		return fmt.Sprintf("%.4f,%.4f,%.2f,%.4f", r.NormFloat64()+y/50, r.Float64(), 0.35*y, y)
	}, 1000, nil, 0, "tax", "has the smallest", nothing, beats},
	"0 for no and 1 to 30 for yes": {"a,b,calls,y", func(r *rand.Rand, _ int) string {
		a, b := r.Float64(), r.Float64()
		left, calls := a+b+r.Float64() > 2, 0
		if left {
			calls = 1 + r.IntN(30)
		}
		return fmt.Sprintf("%.4f,%.4f,%d,%s", a, b, calls, word(left))
	}, 1500, nil, 0, "calls", "has the smallest", nothing, beats},
	"filled for 93 % of the positives": {"a,b,refund,y", func(r *rand.Rand, _ int) string {
		a, b := r.NormFloat64(), r.Float64()
		left, refund := a+r.NormFloat64() > 1, ""
		if left && r.Float64() < 0.93 {
			refund = fmt.Sprintf("%.2f", 100*r.ExpFloat64())
		}
		return fmt.Sprintf("%.4f,%.4f,%s,%s", a, b, refund, word(left))
	}, 1500, nil, 0, "refund", "has the smallest", nothing, beats},
	"a state that is only known later": {"a,b,state,y", func(r *rand.Rand, _ int) string {
		a, b := r.NormFloat64(), r.Float64()
		left := a+r.NormFloat64() > 0
		state := []string{"open", "new"}[r.IntN(2)]
		if left {
			state = []string{"closed", "blocked", "ended"}[r.IntN(3)]
		}
		return fmt.Sprintf("%.4f,%.4f,%s,%s", a, b, state, word(left))
	}, 1200, nil, 0, "state", "has the smallest", nothing, beats},
	"two columns that give the label away together": {"a,first,last,y", func(r *rand.Rand, _ int) string {
		a, first := r.NormFloat64(), 1000*r.ExpFloat64()
		left := a+r.NormFloat64() > 0
		last := first - 5*r.ExpFloat64()
		if left {
			last = first + 5*r.ExpFloat64()
		}
		return fmt.Sprintf("%.4f,%.2f,%.2f,%s", a, first, last+0.01, word(left))
	}, 1500, nil, 0, "first last", "", "", ""},
	"two flags that give the label away together": {"a,p,q,y", func(r *rand.Rand, _ int) string {
		p, q := r.IntN(2), r.IntN(2)
		return fmt.Sprintf("%.4f,%d,%d,%s", r.NormFloat64(), p, q, word(p != q))
	}, 1000, nil, 0, "p q", "", "", ""},
	"a strong but honest column": {"a,score,c,y", func(r *rand.Rand, _ int) string {
		text, a, _ := base(r)
		parts := strings.Split(text, ",")
		parts[1] = fmt.Sprintf("%.4f", 2*a+0.8*r.NormFloat64())
		return strings.Join(parts, ",") + "," + word(2*a+0.4*r.NormFloat64() > 0)
	}, 1500, nil, 0, "", linearFit, nothing, beats},
	"the relation turns in the last rows": {"day,a,b,c,y", func(r *rand.Rand, i int) string {
		text, a, _ := base(r)
		if i >= 1200 { // the judging rows
			a = -a
		}
		return fmt.Sprintf("2026-%02d-%02d,%s,%s", 1+i/280, 1+i/10%28, text, word(2*a+r.NormFloat64() > 0))
	}, 1500, nil, 0, "", "nothing here beats a constant", "use ", "nothing here beats a constant"},
	"rows sorted by the label": {"a,b,c,y", func(r *rand.Rand, i int) string {
		text, a, b := base(r)
		for (a+b+0.5*r.NormFloat64() > 0.5) != (i >= 750) {
			text, a, b = base(r)
		}
		return text + "," + word(i >= 750)
	}, 1500, nil, 0, "", linearFit, nothing, beats},
	"few rows in a test file": {"a,b,c,y", func(r *rand.Rand, _ int) string {
		text, a, _ := base(r)
		return text + "," + word(0.4*a+r.NormFloat64() > 0)
	}, 1500, nil, 12, "", nothing, "use ", ""},
	"a number for every row": {"id,a,b,y", func(r *rand.Rand, i int) string {
		return fmt.Sprintf("%d,%.4f,%.4f,%s", 100000+i, r.NormFloat64(), r.Float64(), word(r.Float64() < 0.3))
	}, 1000, nil, 0, "", nothing, "makes", chance},
	"the same column twice": {"a,b,c,y", func(r *rand.Rand, _ int) string {
		a := r.NormFloat64()
		return fmt.Sprintf("%.4f,%.4f,%.4f,%s", a, a, r.Float64(), word(2*a+r.NormFloat64() > 0))
	}, 1500, nil, 0, "", linearFit, nothing, beats},
	"words whose pairs count": {"a,b,c,y", func(r *rand.Rand, _ int) string {
		a, b := r.IntN(2), r.IntN(2)
		return fmt.Sprintf("%s,%s,%.3f,%s", word(a > 0), word(b > 0), r.Float64(), word((a == b) != (r.Float64() < 0.25)))
	}, 1500, nil, 0, "", "has the smallest log loss", linearFit, beats},
	"rows of customers, whose labels are by a coin": {"customer,age,b,y", func(r *rand.Rand, i int) string {
		customer := rand.New(rand.NewPCG(uint64(i%150), 11))
		age := 18 + 60*customer.Float64()
		return fmt.Sprintf("k%d,%.2f,%.4f,%s", 1000+i%150, age, r.Float64(), word(customer.Float64() < 0.5))
	}, 1200, []string{"--group", "customer", "--exclude", "customer"}, 0, "", nothing, "makes", chance},
	"money as people write it": {"amount,b,c,y", func(r *rand.Rand, _ int) string {
		amount := 3000 * r.Float64()
		yes := r.Float64() < 0.5+0.45*math.Cos(amount/250)
		text := fmt.Sprintf("$%.2f", amount)
		if amount >= 1000 {
			text = fmt.Sprintf("$%d,%06.2f", int(amount)/1000, math.Mod(amount, 1000))
		}
		return fmt.Sprintf("%q,%.4f,%.4f,%s", text, r.NormFloat64(), r.Float64(), word(yes))
	}, 1500, nil, 0, "", learned, linearFit, beats},
	"a dash for missing values": {"age,visits,c,y", func(r *rand.Rand, _ int) string {
		age, visits := 18+900*r.Float64(), r.IntN(30)
		text := fmt.Sprintf("%.0f", age)
		if r.Float64() < 0.03 {
			text = "-"
		}
		return fmt.Sprintf(
			"%s,%d,%.4f,%s",
			text,
			visits,
			r.Float64(),
			word(math.Sin(age/90)+float64(visits)/30+r.Float64() > 1.3),
		)
	}, 1500, nil, 0, "", learned, linearFit, beats},
	"missing values that mean nothing": {"a,b,c,y", func(r *rand.Rand, _ int) string {
		a, b, text := r.NormFloat64(), r.Float64(), ""
		if r.Float64() < 0.7 {
			text = fmt.Sprintf("%.4f", a)
		}
		return fmt.Sprintf("%s,%.4f,%.4f,%s", text, b, r.Float64(), word(a+b+0.5*r.NormFloat64() > 0.5))
	}, 1500, nil, 0, "", "has the smallest log loss", nothing, beats},
}

// The first sentences of compare and fit are right on files with traps; -short takes the small files.
func TestFirstSentences(t *testing.T) {
	for name, c := range traps {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && c.rows > 1000 {
				t.Skip("takes seconds")
			}
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(len(name)), 20))
			write := func(file string, n int) string {
				lines := []string{c.header}
				for i := range n {
					lines = append(lines, c.row(r, i))
				}
				return clitest.File(t, file, strings.Join(lines, "\n")+"\n")
			}
			args := append([]string{"--data", write("rows.csv", c.rows), "--label", "y", "--features", "16"}, c.more...)
			fit := words(tr(t, append([]string{"fit", "--refine-steps", "4"}, args...)...).Want(t, cli.ExitOK).Out)
			args = append(args, "--methods", "plain,linear,adaptive-refined", "--repeats", "4")
			if c.tested > 0 {
				args = append(args, "--test-file", write("test.csv", c.tested))
			}
			compared := words(tr(t, append([]string{"compare"}, args...)...).Want(t, cli.ExitOK).Out)
			for command, said := range map[string]string{"fit": fit, "compare": compared} {
				warned := strings.HasPrefix(said, "warning: column")
				if warned != (c.leak != "") {
					t.Errorf("%s begins with %.200q; leak %q", command, said, c.leak)
				}
				if warned && !strings.Contains(said, " without "+strings.ReplaceAll(c.leak, " ", ", ")+": ") {
					t.Errorf("%s lacks the error without %s: %.500s", command, c.leak, said)
				}
			}
			verdict, _, _ := strings.Cut(compared[strings.Index(compared, "verdict: "):], " columns: ")
			if !strings.Contains(verdict, c.compare) || c.never != "" && strings.Contains(verdict, c.never) {
				t.Errorf("compare: %q, want %q and not %q", verdict, c.compare, c.never)
			}
			first, _, _ := strings.Cut(fit, " held-out rows")
			if !strings.Contains(first, c.fit) || c.fit == chance && strings.Contains(first, beats) &&
				!strings.Contains(first, "nothing here") {
				t.Errorf("fit: %q, want %q", first, c.fit)
			}
		})
	}
}
