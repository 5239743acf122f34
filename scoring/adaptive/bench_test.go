package adaptive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/eerf-stream/eerf/internal/cputime"
	"github.com/eerf-stream/eerf/scoring"
)

// benchRows draws rows whose output is a wave along a few directions, which refinement keeps
// improving. Every fifth is held out.
func benchRows(rows, dim int) *scoring.Sample {
	const directions = 24
	rng := rand.New(rand.NewPCG(1, 2))
	s := &scoring.Sample{X: make([]float32, rows*dim), Rows: rows, Dim: dim, HeldOut: make([]bool, rows)}
	s.Targets = scoring.Targets{Outputs: 1, Values: make([]float32, rows)}
	along := make([]float64, directions*dim)
	for i := range along {
		along[i] = 1.5 * rng.NormFloat64() / math.Sqrt(float64(dim))
	}
	for i := range rows {
		x := s.X[i*dim : (i+1)*dim]
		for j := range x {
			x[j] = float32(rng.NormFloat64())
		}
		for k := range directions {
			t := 0.0
			for j, v := range x {
				t += along[k*dim+j] * float64(v)
			}
			s.Targets.Values[i] += float32(math.Sin(t + float64(k)))
		}
		s.HeldOut[i] = i%5 == 0
	}
	return s
}

// benchProblem is the input of Learn and of its parts.
type benchProblem struct {
	candidates scoring.Candidates
	sums       *scoring.Sums
	sample     *scoring.Sample
	options    Options
}

func newBenchProblem(rows, dim, m0, m int) *benchProblem {
	p := &benchProblem{
		sample:  benchRows(rows, dim),
		options: Options{Features: m, RefineSteps: DefaultRefineSteps, RefineRounds: DefaultRefineRounds},
	}
	p.candidates = FirstRound(scoring.Candidates{Sigma: math.Sqrt(float64(dim)), Seed: 1, Dim: dim, Count: m0})
	fit, _ := split(p.sample)
	p.sums = accumulate(scoring.NewBank(p.candidates), fit.x, fit.n, fit.targets, 0)
	return p
}

// learner returns a learner after its first round, with the features of that.
func (p *benchProblem) learner(b *testing.B) (*learner, *scoring.Features) {
	b.Helper()
	l := onlyLearner(p.candidates, p.sums, p.sample, scoring.Regression, p.options)
	bank := scoring.NewBank(p.candidates)
	chosen, err := l.selectFrom(bank, p.sums, nil)
	if err != nil {
		b.Fatal(err)
	}
	return l, bank.Draw(chosen.Index)
}

// BenchmarkLearn is a whole call at the size of a usual exploration on one core (part=all), one
// that refines once, without a round in the refinement (part=once), and the parts of them: the
// scores of a pool, the choice from it by residual, G, the next pool with its bandwidths, the
// bandwidths alone, one evaluation of the objective and one measurement by the guard. Times are of
// the processor, so that other programs on the machine matter less. lab/scripts/learn_peer.py does
// the same with numpy.
func BenchmarkLearn(b *testing.B) {
	rows := 10000
	dim := 77
	m0 := 4000
	m := 200
	if testing.Short() {
		rows = 500
		dim = 7
		m0 = 200
		m = 20
	}
	p := newBenchProblem(rows, dim, m0, m)
	run := func(part string, call func(b *testing.B)) {
		b.Run(fmt.Sprintf("part=%s/rows=%d/dim=%d/candidates=%d/features=%d/procs=1", part, rows, dim, m0, m),
			func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				began := cputime.Process()
				call(b)
				if used := cputime.Process() - began; used > 0 {
					b.ReportMetric(float64(used)/float64(b.N), "ns/op")
				}
			})
	}
	run("all", func(b *testing.B) { p.benchmarkAll(b, DefaultRefineRounds) })
	run("once", func(b *testing.B) { p.benchmarkAll(b, 0) })
	l, f := p.learner(b)
	bank := scoring.NewBank(p.candidates)
	other := scoring.NewBank(p.candidates) // whose turn it is has to be computed
	bends, err := l.gradients(f)
	if err != nil {
		b.Fatal(err)
	}
	o := newObjective(l, f)
	from := &point{features: f, origins: make([]origin, f.Len())}
	order := make([]int32, f.Len())
	for i := range order {
		order[i] = int32(i)
	}
	at, gradient := parameters(f), make([]float64, len(f.Omega)+f.Len())
	for _, part := range []struct {
		name string
		call func() error
	}{
		{"score", func() error { bank, other = other, bank; l.fitSums(bank); return nil }},
		{"choose", func() error { _, err := l.selectFrom(bank, p.sums, nil); return err }},
		{"gradients", func() error { _, err := l.gradients(f); return err }},
		{"pool", func() error { l.draw(poolOf{Mixed, 1, []*point{from}, bends}); return nil }},
		{"bandwidths", func() error { l.bandwidths(l.turns(bends)); return nil }},
		{"evaluate", func() error { _, err := o.value(gradient, at); return err }},
		{"judge", func() error { l.last = summed{}; _, err := l.judge(f, order); return err }},
	} {
		run(part.name, func(b *testing.B) {
			for b.Loop() {
				if err := part.call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchmarkAll measures Learn with that many rounds in the refinement, and reports the result.
func (p *benchProblem) benchmarkAll(b *testing.B, rounds int) {
	var last *Learned
	options := p.options
	options.RefineRounds = rounds
	for b.Loop() {
		learned, err := Learn(p.candidates, p.sums, p.sample, scoring.Regression, options)
		if err != nil {
			b.Fatal(err)
		}
		last = learned
	}
	steps := 0
	for _, p := range last.Report.Points {
		if p.Kind == ByStep {
			steps += guardedSteps
		}
	}
	b.ReportMetric(float64(steps), "steps")
	b.ReportMetric(last.Report.Best().Loss, "loss")
}
