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
	s := &scoring.Sample{
		Rows:    b.rows,
		Dim:     b.dim,
		Targets: scoring.Targets{Outputs: b.outputs},
		HeldOut: make([]bool, b.rows),
	}
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
			s.Targets.Class = append(s.Targets.Class,
				int32(max(0, min(float64(b.outputs)-1, math.Floor(y+float64(b.outputs)/2)))))
		}
		s.HeldOut[i] = scoring.Hash(5, 0, int64(i))%5 == 0
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
	return accumulate(scoring.NewBank(c), fit.x, fit.n, fit.targets, 0)
}

// onlyLearner is the learner of the only member.
func onlyLearner(
	c scoring.Candidates,
	sums *scoring.Sums,
	s *scoring.Sample,
	task scoring.Task,
	o Options,
) *learner {
	l := newLearner(o.shares(c.Count)[0], c, sums, s, task, o)
	l.fit, l.heldOut = split(s)
	return l
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
			l := learn(t, b.candidates(600), b.sample(), b.task,
				Options{Features: 40, RefineSteps: 20, RefineRounds: 1, Progress: func(p Point) {
					seen = append(seen, p)
				}})
			points := l.Report.Points
			if !slices.Equal(seen, points) || points[0].Track != Mixed || points[lastRound].Round != lastRound ||
				points[len(points)-1].Track != Both {
				t.Fatalf("reported %v, in the result %v", seen, points)
			}
			alone, err := Learn(Plain(b.candidates(600)), fitSums(Plain(b.candidates(600)), b.sample()), b.sample(), b.task,
				Options{Features: 40, ChooseOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			best, residual := l.Report.Best(), alone.Report.Best()
			if residual.Kind != ByResidual || best.Kind == ByResidual || best.Loss > 0.8*residual.Loss || !(best.StdErr > 0) {
				t.Errorf("best %+v, residual alone %+v", best, residual)
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
			m := l.Features.Len()
			if m > 40 || m != best.Features || len(l.Selection.S) != m*b.outputs {
				t.Errorf("%d features, %d values of S, %+v", m, len(l.Selection.S), best)
			}
			places := map[[2]int32]bool{}
			for i, index := range l.Selection.Index {
				places[[2]int32{l.Selection.Round[i], index}] = true
				if i > 0 && l.Features.Kind(i) == l.Features.Kind(i-1) && l.Selection.Score[i] > l.Selection.Score[i-1] {
					t.Errorf("feature %d is better than the one before it", i)
				}
				if index < 0 || int(l.Selection.Round[i]) > (Options{RefineSteps: 1, RefineRounds: 1}).AllRounds() {
					t.Errorf("feature %d comes from candidate %d of pool %d", i, index, l.Selection.Round[i])
				}
			}
			if len(places) != m {
				t.Errorf("%d places of %d features", len(places), m)
			}
		})
	}
}

// The guard's loss is the one that a ridge path measures on the published features.
func TestResultIsTheMeasuredWinner(t *testing.T) {
	b := bent{scoring.Regression, 1000, 8, 0.1, 1}
	s := b.sample()
	l := learn(t, b.candidates(400), s, b.task, Options{Features: 30, RefineSteps: 8})
	again := onlyLearner(b.candidates(400), fitSums(b.candidates(400), s), s, b.task, Options{Features: 30})
	v, err := again.judge(l.Features, nil)
	// features in another order
	if err != nil || math.Abs(v.loss-l.Report.Best().Loss) > 1e-4*v.loss || v.kept != l.Features.Len() {
		t.Errorf("%+v, %v; measured %v", v, err, l.Report.Best())
	}
}

// Where most features would only fit noise, the guard keeps few. A choice alone reports its
// selection.
func TestChooseOnlyKeepsUsefulFeatures(t *testing.T) {
	b := bent{scoring.Regression, 1000, 6, 0, 1}
	s := b.sample()
	for i := range s.Targets.Values {
		s.Targets.Values[i] = s.X[i*b.dim] + float32(scoring.Uniforms(3, uint64(i), "adaptive/noise/1")())
	}
	c := Plain(b.candidates(300))
	l := learn(t, c, s, b.task, Options{Features: 100, ChooseOnly: true})
	if m := l.Features.Len(); m > 50 || len(l.Selection.Index) != m || l.Report.Best().Kind != ByResidual ||
		len(l.Report.Points) != 1 {
		t.Errorf("%d features: %+v", m, l.Report)
	}
	want, err := scoring.SelectFrom(scoring.NewBank(c), fitSums(c, s), fitted(s), b.task, scoring.SelectOptions{
		Criterion: scoring.Residual,
		Features:  100,
	})
	if err != nil {
		t.Fatal(err)
	}
	m := l.Features.Len()
	if got := l.Selection; !slices.Equal(got.Index, want.Index[:m]) || !slices.Equal(got.Score, want.Score[:m]) ||
		!l.Features.Equal(c.Draw(got.Index)) {
		t.Errorf("features %v, by residual %v", got.Index, want.Index)
	}
}

// More features are kept unless fewer are better by more than chance, on the same rows.
func TestPrefixMustBeatMoreFeaturesByTwoStandardErrors(t *testing.T) {
	const worst = math.MaxFloat64
	for _, c := range []struct {
		fewer, more []float64
		beats       bool
	}{
		{[]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}, false},
		{[]float64{1, 2, 3, 4}, []float64{1.1, 2.1, 3.2, 4.1}, true},
		{[]float64{1.1, 2.1, 3.2, 4.1}, []float64{1, 2, 3, 4}, false},
		{[]float64{1, 2, 3, 4}, []float64{9, 1.5, 2, 4}, false}, // by one row
		{[]float64{1, 2}, nil, true},
		{nil, []float64{1, 2}, false},
		{nil, nil, false},
	} {
		heldOut := rows{n: 4, sizes: []float64{1, 1, 1, 1}}
		fewer, more := verdict{loss: worst, losses: c.fewer}, verdict{loss: worst, losses: c.more}
		if got := heldOut.beats(fewer, more); got != c.beats {
			t.Errorf("%v beat %v: %v", c.fewer, c.more, got)
		}
	}
}

// Nine copies of each row change neither the mean of a loss nor its standard error.
func TestCopiesOfHeldOutRowsAreNoEvidence(t *testing.T) {
	const copies = 9
	s := steps(300)
	s.HeldOut = make([]bool, s.Rows)
	for i := range s.HeldOut {
		s.HeldOut[i] = i%5 == 0
	}
	repeated := &scoring.Sample{Dim: s.Dim, Targets: scoring.Targets{Outputs: 1}}
	for i := range s.Rows {
		times := 1
		if s.HeldOut[i] {
			times = copies
		}
		for range times {
			repeated.Rows++
			repeated.X = append(repeated.X, s.X[i*s.Dim:(i+1)*s.Dim]...)
			repeated.Targets.Values = append(repeated.Targets.Values, s.Targets.Values[i])
			repeated.HeldOut = append(repeated.HeldOut, s.HeldOut[i])
			repeated.Identities = append(repeated.Identities, uint64(i))
		}
	}
	constant := func(int) float64 { return 0.5 }
	_, single := split(s)
	_, several := split(repeated)
	once := single.verdict(1, []float64{1}, constant)
	often := several.verdict(1, []float64{1}, constant)
	if math.Abs(often.loss-once.loss) > 1e-12 || math.Abs(often.standardError-once.standardError) > 1e-12 {
		t.Errorf("loss %v ± %v, of copies %v ± %v", once.loss, once.standardError, often.loss, often.standardError)
	}
}

// fitted is the rows of a sample that are not held out.
func fitted(s *scoring.Sample) *scoring.Sample {
	fit, _ := split(s)
	return &scoring.Sample{X: fit.x, Rows: fit.n, Dim: fit.dim, Targets: fit.targets}
}

// steps makes rows whose outputs jump at thresholds, which cosines cannot draw.
func steps(rows int) *scoring.Sample {
	b := bent{scoring.Regression, rows, 5, 0, 1}
	s := b.sample()
	for i := range rows {
		x, y := s.X[i*5:(i+1)*5], float32(0)
		if x[3] > 0.7 {
			y += 2
		}
		if x[0] > -0.3 && x[4] < 0.2 {
			y++
		}
		s.Targets.Values[i] = y + max(0, x[2]-0.5)
	}
	return s
}

func TestThresholdsAreFound(t *testing.T) {
	s, b := steps(2000), bent{scoring.Regression, 2000, 5, 0, 1}
	o := Options{Features: 40, RefineSteps: 12, RefineRounds: 1}
	l := learn(t, b.candidates(800), s, b.task, o)
	o.CosinesOnly = true
	cosines := learn(t, b.candidates(800), s, b.task, o)
	if l.Report.Best().Loss > cosines.Report.Best().Loss/4 || l.Features.Kinds().Box == 0 || cosines.Features.Mixed() {
		t.Errorf("loss %v with %+v, of cosines %v", l.Report.Best(), l.Features.Kinds(), cosines.Report.Best())
	}
	for _, p := range cosines.Report.Points {
		if p.Track != Cosines {
			t.Errorf("%+v", p)
		}
	}
	for j, v := range l.Report.Importance {
		if (v > 0.03) != (j != 1) {
			t.Errorf("importance %v", l.Report.Importance)
		}
	}
}

func TestThresholdsLieBetweenValues(t *testing.T) {
	r := &rows{n: 6, dim: 1, x: []float32{3, 1, 1, math.Nextafter32(1, 2), -2, 3}}
	c := r.column(0)
	if !slices.Equal(c, column{-2, 1, math.Nextafter32(1, 2), 3}) || c.midpoints() != 3 {
		t.Fatal(c)
	}
	if c.midpoint(0) != -0.5 || c.midpoint(1) != math.Nextafter32(1, 2) {
		t.Errorf("midpoints %v, %v", c.midpoint(0), c.midpoint(1))
	}
	for _, want := range []struct {
		v     float32
		above bool
		t     float32
	}{
		{-2, false, -0.5}, {-2, true, -0.5}, {1, false, -0.5}, {1, true, c[2]},
		{3, true, c.midpoint(2)}, {3, false, c.midpoint(2)},
	} {
		if got := c.nearest(want.v, want.above); got != want.t {
			t.Errorf("nearest to %v: %v, want %v", want.v, got, want.t)
		}
	}
	hinges, boxes := bins([]column{c, {0}, {0, 1}}, 1000)
	if len(hinges) != 4 || len(boxes) != 4 || hinges[0].Threshold[0] != lowThreshold || boxes[3].Coordinate[0] != 2 ||
		boxes[3].Threshold[0] != 0.5 {
		t.Errorf("bins %v, %v", hinges, boxes)
	}
	hinges, _ = bins([]column{{-8, 0, 1}}, 1000)
	if hinges[0].Threshold[0] != -16 {
		t.Errorf("a column from -8 on as a hinge: %v", hinges[0])
	}
	wide := make(column, 101)
	for i := range wide {
		wide[i] = float32(i)
	}
	_, boxes = bins([]column{wide}, 1000)
	if len(boxes) != 32 || boxes[0].Threshold[0] != 1.5 || boxes[31].Threshold[0] != 98.5 {
		t.Errorf("boxes %v", boxes)
	}
}

// A pool has all its parts, candidates that differ between rows, and equal shares of all event
// columns, independently of their widths.
func TestPoolsHaveAllKinds(t *testing.T) {
	b := bent{scoring.Regression, 600, 6, 0, 1}
	s, c := b.sample(), b.candidates(800)
	for i := range s.Rows {
		s.X[i*6+5] = 1 // constant
	}
	l := onlyLearner(c, fitSums(c, s), s, b.task, Options{Features: 40, Columns: []int32{0, 1, 1, 1, 1, 2}})
	p := l.draw(poolOf{track: Mixed})
	if err := p.features.Validate(); err != nil {
		t.Fatal(err)
	}
	if n := p.features.Kinds(); n != (scoring.KindCounts{Cosine: 200, Ramp: 200, Hinge: 200 + 5*33, Box: 200 + 5*32}) ||
		len(p.bins) != 5*65 || len(p.origins) != p.features.Len() {
		t.Errorf("%+v, %d bins", n, len(p.bins))
	}
	on := make([]int, 6)
	for _, product := range p.features.Products[:200] {
		on[product.Coordinate[0]]++
	}
	if on[5] != 0 || on[0] < 2*on[1] || on[0] < 2*on[4] {
		t.Errorf("hinges by first coordinate %v", on)
	}
	for _, i := range p.bins {
		if product := p.features.Products[int(i)-400]; product.Order != 1 || product.Sign[0] != 1 {
			t.Errorf("bin %+v", product)
		}
	}
	winners := &point{features: p.features.Pick([]int32{0, 1, 200, 400, 401, 565, 800}), origins: make([]origin, 7)}
	bends, err := l.gradients(winners.features)
	if err != nil {
		t.Fatal(err)
	}
	next := l.draw(poolOf{Mixed, 1, []*point{winners}, bends})
	carried := next.features.Pick([]int32{0, 1, 201, 400, 401, 402, 601})
	if n := next.features.Kinds(); !carried.Equal(winners.features) || n != (scoring.KindCounts{
		Cosine: 201,
		Ramp:   199,
		Hinge:  201,
		Box:    199,
	}) {
		t.Errorf("%+v", n)
	}
}

// A round in the refinement starts from the least loss so far, and its choice is always refined.
func TestLastRoundIsRefined(t *testing.T) {
	b := bent{scoring.Regression, 800, 8, 0.1, 1}
	o := Options{Features: 20, RefineSteps: 8, RefineRounds: 2}
	points := learn(t, b.candidates(300), b.sample(), b.task, o).Report.Points
	o.RefineRounds = 0
	before := learn(t, b.candidates(300), b.sample(), b.task, o).Report.Points
	if len(points) < len(before) || !slices.Equal(points[:len(before)], before) {
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

func TestWithoutRefinement(t *testing.T) {
	b := bent{scoring.Regression, 800, 8, 0.1, 1}
	l := learn(t, b.candidates(300), b.sample(), b.task, Options{Features: 20})
	if n := len(l.Report.Points); n != 2*(lastRound+1) {
		t.Errorf("%d points", n)
	}
}

// M0 = M leaves no room for new candidates; fewer rows than features leave little to learn.
func TestSmallestProblems(t *testing.T) {
	for _, b := range []bent{
		{scoring.Regression, 40, 1, 0, 1}, {scoring.Binary, 40, 3, 0, 1}, {scoring.MultiClass, 60, 2, 0, 3},
	} {
		for _, m := range []int{1, 2, 30} {
			l := learn(t, b.candidates(m), b.sample(), b.task, Options{Features: m, RefineSteps: 5, RefineRounds: 2})
			if l.Features.Len() > m {
				t.Errorf("%+v: %d features of %d", b, l.Features.Len(), m)
			}
		}
	}
}

func TestUnusableInputsAreErrors(t *testing.T) {
	b := bent{scoring.Regression, 100, 4, 0, 1}
	s, c := b.sample(), b.candidates(50)
	sums := fitSums(c, s)
	none := *s
	all := *s
	constant := *s
	none.HeldOut = nil
	all.HeldOut = slices.Repeat([]bool{true}, s.Rows)
	constant.Targets = scoring.Targets{Outputs: 1, Values: make([]float32, s.Rows)}
	ramp := c
	cauchy := c
	narrow := c
	ramp.Map = scoring.MapArcCosine1
	cauchy.Distribution = scoring.Cauchy
	narrow.Sigma = -1
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
		if l, err := Learn(test.c, test.sums, test.s, b.task, Options{Features: 10}); err == nil || l != nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// Numbers near the limits of float32 give an error or features, never a panic.
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
		b            bent
		m0, features int
		members      int
	}{
		{bent{scoring.Regression, 2000, 20, 0.1, 1}, 1000, 60, 1},
		{bent{scoring.Regression, 600, 150, 0.1, 1}, 300, 40, 1},
		{bent{scoring.MultiClass, 1000, 10, 0.1, 6}, 600, 100, 1},
		{bent{scoring.MultiClass, 1000, 10, 0.1, 6}, 1200, 200, 4},
	} {
		s, c := test.b.sample(), test.b.candidates(test.m0)
		sums := fitSums(c, s)
		o := Options{Features: test.features, RefineSteps: 8, RefineRounds: 1, Members: test.members}
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

func learnFrom(
	t *testing.T,
	c scoring.Candidates,
	sums *scoring.Sums,
	s *scoring.Sample,
	task scoring.Task,
	o Options,
) {
	t.Helper()
	if _, err := Learn(c, sums, s, task, o); err != nil {
		t.Fatal(err)
	}
}
