package adaptive

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/scoring"
)

// bent makes rows whose outputs bend along a few directions, which plain candidates seldom meet.
type bent struct {
	task    scoring.Task
	rows    int
	dim     int
	noise   float64
	outputs int
}

// sample draws the rows; every fifth by hash is held out.
func (b bent) sample() *scoring.Sample {
	s := &scoring.Sample{Rows: b.rows, Dim: b.dim, Targets: scoring.Targets{Outputs: b.outputs}, HeldOut: make([]bool, b.rows)}
	for i := range b.rows {
		uniform := scoring.Uniforms(11, uint64(i), "adaptive/testing")
		x := make([]float64, b.dim)
		for j := range x {
			x[j] = 2*math.Sqrt(3)*uniform() - math.Sqrt(3)
			s.X = append(s.X, float32(x[j]))
		}
		y := math.Sin(3*x[0]) + x[1%b.dim]*x[2%b.dim] + b.noise*(uniform()-0.5)
		switch b.task {
		case scoring.Regression:
			for k := range b.outputs {
				s.Targets.Values = append(s.Targets.Values, float32(100*(y*float64(1+k)+x[k%b.dim])))
			}
		case scoring.Binary:
			s.Targets.Values = append(s.Targets.Values, float32(math.Copysign(1, y)))
		case scoring.MultiClass:
			s.Targets.Class = append(s.Targets.Class, int32(max(0, min(float64(b.outputs)-1, math.Floor(y+float64(b.outputs)/2)))))
		}
		s.HeldOut[i] = scoring.HeldOut(scoring.Hash(5, 0, int64(i)))
	}
	return s
}

// candidates describes the candidates of the first round.
func (b bent) candidates(count int) scoring.Candidates {
	return FirstRound(scoring.Candidates{Map: scoring.MapCosine, Sigma: 3, Seed: 9, Dim: b.dim, Count: count})
}

// fitSums are the sums of the rows of a sample that are not held out.
func fitSums(c scoring.Candidates, s *scoring.Sample) *scoring.Sums {
	fit, _ := split(s)
	return accumulate(scoring.NewBank(c, scoring.BankOptions{}), fit.x, fit.n, fit.targets, 0)
}

func learn(t testing.TB, c scoring.Candidates, s *scoring.Sample, task scoring.Task, o Options) *Learned {
	t.Helper()
	l, err := Learn(c, fitSums(c, s), s, task, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Features.Validate(), l.FeatureSet().Validate()); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLearnedFeaturesBeatChosenOnes(t *testing.T) {
	for _, b := range []bent{
		{scoring.Regression, 1500, 12, 0.2, 1},
		{scoring.Regression, 1500, 12, 0.2, 2},
		{scoring.Binary, 1500, 12, 0.2, 1},
		{scoring.MultiClass, 1500, 12, 0.2, 4},
		{scoring.Regression, 600, 70, 0, 1}, // wider than M
	} {
		t.Run(fmt.Sprintf("%v of %d outputs, %d columns", b.task, b.outputs, b.dim), func(t *testing.T) {
			var seen []Point
			l := learn(t, b.candidates(600), b.sample(), b.task, Options{Features: 40, RefineSteps: 20, RefineRounds: 1, Progress: func(p Point) { seen = append(seen, p) }})
			points := l.Report.Points
			if !slices.Equal(seen, points) || points[0].Kind != ByResidual || points[1].Kind != ByRound || points[lastRound+1].Round != lastRound {
				t.Fatalf("reported %v, in the result %v", seen, points)
			}
			best := l.Report.Best()
			if best.Kind == ByResidual || best.Loss > 0.8*points[0].Loss || !(best.StdErr > 0) {
				t.Errorf("best %+v, residual alone %+v", best, points[0])
			}
			for _, p := range points {
				if p.Loss < best.Loss {
					t.Errorf("%+v is better than the winner %+v", p, best)
				}
			}
			if got := l.Report.Rows + l.Report.HeldOutRows; got != int64(b.rows) || l.Report.HeldOutRows < int64(b.rows)/7 {
				t.Errorf("%d rows and %d held out of %d", l.Report.Rows, l.Report.HeldOutRows, b.rows)
			}
			sum := 0.0
			for _, v := range l.Report.Importance {
				sum += v
			}
			if math.Abs(sum-1) > 1e-9 || len(l.Report.Importance) != b.dim || l.Report.Importance[0] < 2/float64(b.dim) {
				t.Errorf("importance %v adds up to %v", l.Report.Importance, sum)
			}
			if !slices.IsSortedFunc(l.Selection.Score, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) || len(l.Selection.S) != 40*b.outputs {
				t.Errorf("scores %v do not fall, %d values of S", l.Selection.Score, len(l.Selection.S))
			}
			places := map[[2]int32]bool{}
			for i, index := range l.Selection.Index {
				places[[2]int32{l.Selection.Round[i], index}] = true
				if index < 0 || index >= 600 || l.Selection.Round[i] > lastRound+2 {
					t.Errorf("feature %d comes from candidate %d of round %d", i, index, l.Selection.Round[i])
				}
			}
			if len(places) != 40 {
				t.Errorf("%d places of 40 features", len(places))
			}
		})
	}
}

// The guard's loss is the one that a ridge path measures on the published features.
func TestTheWinnerIsAsItWasMeasured(t *testing.T) {
	b := bent{scoring.Regression, 1000, 8, 0.1, 1}
	s := b.sample()
	l := learn(t, b.candidates(400), s, b.task, Options{Features: 30, RefineSteps: 8})
	again, err := newLearner(b.candidates(400), fitSums(b.candidates(400), s), s, b.task, Options{Features: 30})
	if err != nil {
		t.Fatal(err)
	}
	loss, _, err := again.judge(l.Features)
	if err != nil || math.Abs(loss-l.Report.Best().Loss) > 1e-4*loss { // features in another order
		t.Errorf("loss %v, %v; measured %v", loss, err, l.Report.Best().Loss)
	}
}

// If there is nothing to learn, the result is that of criterion residual on all rows, partition by partition.
func TestFallsBackToResidual(t *testing.T) {
	b := bent{scoring.Regression, 90, 6, 0, 1}
	for seed := uint64(1); ; seed++ {
		if seed > 40 {
			t.Fatal("residual never won")
		}
		s, c := b.sample(), b.candidates(60)
		for i := range s.Targets.Values { // noise
			s.Targets.Values[i] = float32(scoring.Uniforms(seed, uint64(i), "adaptive/noise/1")())
		}
		s.Parts, c.Seed = []int{50, 0, 40}, seed
		l := learn(t, c, s, b.task, Options{Features: 10, RefineSteps: 8})
		if l.Report.Best().Kind != ByResidual {
			continue
		}
		plain := Plain(c)
		bank, sums, first := scoring.NewBank(plain, scoring.BankOptions{}), scoring.NewSums(60, 1), 0
		for _, n := range s.Parts {
			a := scoring.NewAccumulator(bank, scoring.NewSums(60, 1))
			a.Add(s.X[first*6:(first+n)*6], n, s.Targets.Slice(first, first+n))
			sums.Merge(a.Sums())
			first += n
		}
		want, err := scoring.SelectFrom(bank, sums, &scoring.Sample{X: s.X, Rows: s.Rows, Dim: s.Dim, Targets: s.Targets}, b.task,
			scoring.SelectOptions{Criterion: scoring.Residual, Features: 10})
		if err != nil {
			t.Fatal(err)
		}
		got, set := l.FeatureSet(), scoring.NewFeatureSet(plain, want)
		if !slices.Equal(got.Index, set.Index) || !slices.Equal(got.Round, set.Round) || !slices.Equal(got.Score, set.Score) || !slices.Equal(got.S, set.S) ||
			!slices.Equal(got.Features.Omega, set.Features.Omega) || !slices.Equal(got.Features.Phase, set.Features.Phase) || l.Candidates.Sigma != plain.Sigma {
			t.Errorf("features %v, by residual %v", got.Index, set.Index)
		}
		return
	}
}

// A round in the refinement starts from the least loss so far, and its choice is moved whatever its own loss is.
func TestRefinementGoesOnAfterItsRounds(t *testing.T) {
	b := bent{scoring.Regression, 800, 8, 0.1, 1}
	o := Options{Features: 20, RefineSteps: 8, RefineRounds: 2}
	points := learn(t, b.candidates(300), b.sample(), b.task, o).Report.Points
	o.RefineRounds = 0
	before := learn(t, b.candidates(300), b.sample(), b.task, o).Report.Points
	if !slices.Equal(points[:len(before)], before) {
		t.Fatalf("points %v, without rounds in the refinement %v", points, before)
	}
	var rounds []int
	for i, p := range points[len(before):] {
		if p.Kind == ByRound {
			rounds = append(rounds, p.Round)
		}
		if last := points[len(before)+i-1]; p.Kind == ByStep && (p.Round != last.Round || p.Step != last.Step+guardedSteps) {
			t.Errorf("%+v after %+v", p, last)
		}
	}
	if !slices.Equal(rounds, []int{lastRound + 1, lastRound + 2}) {
		t.Errorf("rounds %v in the refinement", rounds)
	}
}

func TestRoundsOnly(t *testing.T) {
	b := bent{scoring.Regression, 800, 8, 0.1, 1}
	l := learn(t, b.candidates(300), b.sample(), b.task, Options{Features: 20})
	if n := len(l.Report.Points); n != lastRound+2 || l.RefineTime > l.RoundTime {
		t.Errorf("%d points", n)
	}
}

// M0 = M leaves no room for new candidates; fewer rows than features leave little to learn.
func TestSmallest(t *testing.T) {
	for _, b := range []bent{{scoring.Regression, 40, 1, 0, 1}, {scoring.Binary, 40, 3, 0, 1}, {scoring.MultiClass, 60, 2, 0, 3}} {
		for _, m := range []int{1, 2, 30} {
			l := learn(t, b.candidates(m), b.sample(), b.task, Options{Features: m, RefineSteps: 5, RefineRounds: 2})
			if l.Features.Len() != m {
				t.Errorf("%+v: %d features of %d", b, l.Features.Len(), m)
			}
		}
	}
}

func TestRefusesWhatItCannotLearnFrom(t *testing.T) {
	b := bent{scoring.Regression, 100, 4, 0, 1}
	s, c := b.sample(), b.candidates(50)
	sums := fitSums(c, s)
	none, all, constant := *s, *s, *s
	none.HeldOut = nil
	all.HeldOut = slices.Repeat([]bool{true}, s.Rows)
	constant.Targets = scoring.Targets{Outputs: 1, Values: make([]float32, s.Rows)}
	ramp, cauchy, narrow := c, c, c
	ramp.Map, cauchy.Distribution, narrow.Sigma = scoring.MapArcCosine1, scoring.Cauchy, -1
	for name, test := range map[string]struct {
		c    scoring.Candidates
		sums *scoring.Sums
		s    *scoring.Sample
		want string
	}{
		"nothing held out":    {c, sums, &none, "no rows"},
		"everything held out": {c, sums, &all, "no rows"},
		"constant labels":     {c, fitSums(c, &constant), &constant, "constant"},
		"arc-cosine":          {ramp, sums, s, "arccos1"},
		"cauchy":              {cauchy, sums, s, "cauchy"},
		"no bandwidth":        {narrow, sums, s, "sigma"},
		"sums of other rows":  {c, fitSums(c, &none), s, "sums of 100 rows"},
	} {
		if l, err := Learn(test.c, test.sums, test.s, b.task, Options{Features: 10}); err == nil || l != nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// Numbers at the ends of what float32 holds give an error or features, never a panic.
func TestExtremeRows(t *testing.T) {
	b := bent{scoring.Regression, 200, 5, 0, 1}
	for name, spoil := range map[string]func(s *scoring.Sample){
		"huge column":     func(s *scoring.Sample) { scaleColumn(s, 2, 1e30) },
		"tiny column":     func(s *scoring.Sample) { scaleColumn(s, 1, 1e-38) },
		"all rows equal":  func(s *scoring.Sample) { clear(s.X) },
		"huge outputs":    func(s *scoring.Sample) { scaleAll(s.Targets.Values, 1e34) },
		"tiny outputs":    func(s *scoring.Sample) { scaleAll(s.Targets.Values, 1e-38) },
		"one huge output": func(s *scoring.Sample) { s.Targets.Values[3] = math.MaxFloat32 },
	} {
		s := b.sample()
		spoil(s)
		c := b.candidates(80)
		l, err := Learn(c, fitSums(c, s), s, b.task, Options{Features: 12, RefineSteps: 8, RefineRounds: 1})
		if err == nil {
			err = l.FeatureSet().Validate()
		} else {
			t.Logf("%s: %v", name, err)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func scaleColumn(s *scoring.Sample, j int, by float32) {
	for i := range s.Rows {
		s.X[i*s.Dim+j] *= by
	}
}

func scaleAll(v []float32, by float32) {
	for i := range v {
		v[i] *= by
	}
}

func TestBytesBoundTheMemory(t *testing.T) {
	for _, test := range []struct {
		b                 bent
		m0, features, top int
	}{
		{bent{scoring.Regression, 4000, 20, 0.1, 1}, 2000, 100, 12},
		{bent{scoring.Regression, 1000, 300, 0.1, 1}, 500, 50, 12},
		{bent{scoring.MultiClass, 2000, 10, 0.1, 6}, 1000, 200, 12},
	} {
		s, c := test.b.sample(), test.b.candidates(test.m0)
		sums := fitSums(c, s)
		o := Options{Features: test.features, RefineSteps: 12, RefineRounds: 1}
		runtime.GC()
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		most := uint64(0)
		o.Progress = func(Point) {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
		learnFrom(t, c, sums, s, test.b.task, o)
		bound := Bytes(c, test.b.rows, test.b.outputs, o)
		if used := int64(most) - int64(before.HeapAlloc); used > bound || used < bound/50 {
			t.Errorf("%+v: %d bytes in use, bound %d", test, used, bound)
		}
	}
}

func learnFrom(t *testing.T, c scoring.Candidates, sums *scoring.Sums, s *scoring.Sample, task scoring.Task, o Options) {
	t.Helper()
	if _, err := Learn(c, sums, s, task, o); err != nil {
		t.Fatal(err)
	}
}
