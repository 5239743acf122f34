package scoring

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// residualCase is a problem for the residual criterion.
type residualCase struct {
	name             string
	c                Candidates
	rows             int
	targets          func(x []float32, rows, dim int) (Targets, Task)
	features, rounds int
}

// waves is a regression on a few cosines of x, its outputs on scales far from each other.
func waves(outputs int, noise float64) func(x []float32, rows, dim int) (Targets, Task) {
	return func(x []float32, rows, dim int) (Targets, Task) {
		rng := rand.New(rand.NewPCG(3, 4))
		t := Targets{Outputs: outputs}
		for i := range rows {
			row := x[i*dim : (i+1)*dim]
			for k := range outputs {
				y := math.Sin(2*float64(row[0])+float64(k)) + math.Cos(float64(row[1%dim]+row[k%dim])) + noise*rng.NormFloat64()
				t.Values = append(t.Values, float32(y*math.Pow(10, float64(k))+5))
			}
		}
		return t, Regression
	}
}

// sides is a classification by where x lies.
func sides(classes int) func(x []float32, rows, dim int) (Targets, Task) {
	return func(x []float32, rows, dim int) (Targets, Task) {
		t := Targets{Outputs: classes}
		for i := range rows {
			row := x[i*dim : (i+1)*dim]
			turn := math.Atan2(float64(row[0]), float64(row[1]))/(2*math.Pi) + 0.5
			t.Class = append(t.Class, int32(min(turn*float64(classes), float64(classes-1))))
		}
		if classes > 2 {
			return t, MultiClass
		}
		binary := Targets{Outputs: 1}
		for _, class := range t.Class {
			binary.Values = append(binary.Values, float32(2*class-1))
		}
		return binary, Binary
	}
}

func residualCases() []residualCase {
	cosine := func(dim, count int) Candidates { return candidatesOf(MapCosine, dim, count) }
	return []residualCase{
		{"regression", cosine(3, 120), 3000, waves(1, 0.2), 12, 3},
		{"three outputs", cosine(4, 100), 2500, waves(3, 0.3), 9, 3},
		{"M not divisible by R", cosine(3, 90), 3000, waves(1, 0.1), 11, 4},
		{"one round", cosine(3, 90), 3000, waves(1, 0.1), 8, 1},
		{"more rounds than features", cosine(3, 60), 2000, waves(1, 0.1), 2, 5},
		{"binary", cosine(2, 100), 3000, sides(2), 10, 3},
		{"classes", cosine(3, 150), 3000, sides(5), 14, 3},
		{"all candidates", cosine(2, 15), 2000, waves(1, 0.3), 15, 3},
		{"ramp", candidatesOf(MapArcCosine1, 3, 80), 3000, waves(1, 0.2), 9, 3},
		{"coordinates", candidatesOf(MapLinear, 9, 9), 2000, waves(2, 0.1), 5, 2},
		{"noise alone", cosine(3, 80), 800, waves(1, 300), 7, 3},
		{"few rows", cosine(3, 80), 40, waves(1, 0.1), 10, 3},
	}
}

func TestResidualEqualsNaiveRefitting(t *testing.T) {
	for _, c := range residualCases() {
		t.Run(c.name, func(t *testing.T) {
			x := normalRows(31, c.rows, c.c.Dim)
			targets, task := c.targets(x, c.rows, c.c.Dim)
			bank := NewBank(c.c)
			s := NewAccumulator(bank, NewSums(c.c.Count, targets.Outputs))
			s.Add(x, c.rows, targets)
			var rounds []int
			got, err := SelectFrom(bank, s.Sums(), &Sample{
				X:       x,
				Rows:    c.rows,
				Dim:     c.c.Dim,
				Targets: targets,
			}, task, SelectOptions{
				Criterion: Residual, Features: c.features, Rounds: c.rounds, Progress: func(round int) {
					rounds = append(rounds, round)
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			want := newNaive(c, x, targets, got.Coding).choose(c.features, c.rounds)
			if most := min(c.rounds, c.features); len(rounds) > most || !slices.Equal(rounds, []int{1, 2, 3, 4}[:len(rounds)]) {
				t.Errorf("told of rounds %v, want 1 to %d at most", rounds, most)
			}
			t.Logf("%d of %d, %d above the noise: %v", len(got.Index), c.features, got.AboveNoise, got.Index)
			if !slices.Equal(got.Index, want.index) || got.AboveNoise != want.above {
				t.Fatalf("chose %v (%d above noise), want %v (%d)", got.Index, got.AboveNoise, want.index, want.above)
			}
			checkResidualSelection(t, got, want, s.Sums())
		})
	}
}

// checkResidualSelection compares the numbers of a selection with the reference.
func checkResidualSelection(t *testing.T, got Selection, want naiveChoice, s *Sums) {
	t.Helper()
	outputs := s.Outputs()
	scores := s.Scores(got.Coding)
	for i, index := range got.Index {
		for k := range outputs {
			near(t, fmt.Sprintf("S of feature %d", i), got.S[i*outputs+k], scores[int(index)*outputs+k], 0)
		}
		own := scores[int(index)*outputs : int(index+1)*outputs]
		near(t, "large-sample radius", got.LargeSampleRadius[i], s.largeSampleRadius(int(index), own, Delta), 0)
		if round := got.Round[i]; round < 1 || i > 0 && round < got.Round[i-1] {
			t.Errorf("feature %d came in round %d", i, round)
		}
		near(t, fmt.Sprintf("gain of feature %d", i), got.Score[i]/want.gain[i], 1, 1e-2)
	}
	if got.Radius != HoeffdingRadius(s.Candidates(), outputs, s.Rows, Delta) {
		t.Errorf("radius %v", got.Radius)
	}
}

// Bins are chosen first, half of the features; almost constant candidates are not chosen.
func TestBinsAreChosenFirst(t *testing.T) {
	const rows = 4000
	f := mixedFeatures(3, 40)
	x := normalRows(5, rows, 3)
	y := Targets{Outputs: 1}
	for i := range rows {
		y.Values = append(y.Values, referenceOutput(x[i*3:(i+1)*3]))
	}
	rare := Product{
		Box:        true,
		Order:      1,
		Coordinate: [3]uint16{0},
		Sign:       [3]float32{1},
		Threshold:  [3]float32{float32(slices.Sorted(slices.Values(x))[3*rows-9])},
	}
	f.Products[len(f.Products)-1] = rare // other than 0 in 9 rows at most
	for i := range rows {
		if x[i*3] >= rare.Threshold[0] {
			y.Values[i] += 1000
		}
	}
	bank, bins := NewBankOf(f), []int32{130, 131, 132, 133, 134, 135, 136, 137, 138, 159}
	sel, err := selectSample(bank, &Sample{X: x, Rows: rows, Dim: 3, Targets: y}, Regression, SelectOptions{
		Criterion: Residual,
		Features:  12,
		Bins:      bins,
	})
	if err != nil || len(sel.Index) != 12 {
		t.Fatal(sel.Index, err)
	}
	for i, index := range sel.Index {
		if index == 159 || i < 6 != (sel.Round[i] == 0) || i < 6 && !slices.Contains(bins, index) {
			t.Errorf("feature %d is candidate %d of round %d", i, index, sel.Round[i])
		}
	}
}

// referenceOutput is a function of some columns of a row.
func referenceOutput(x []float32) float32 { return max(x[0], 0) + x[1]*x[2] }

func TestResidualSkipsConstantsAndDuplicates(t *testing.T) {
	// Column 2 is constant, column 3 repeats column 0: neither helps.
	const rows = 1500
	x, noise := normalRows(6, rows, 4), normalRows(7, rows, 1)
	y := Targets{Outputs: 1}
	for i := range rows {
		x[i*4+2], x[i*4+3] = 7, x[i*4]
		y.Values = append(y.Values, x[i*4]+x[i*4+1]/2+noise[i]/8)
	}
	bank := NewBank(candidatesOf(MapLinear, 4, 4))
	sel, err := selectSample(bank, &Sample{X: x, Rows: rows, Dim: 4, Targets: y}, Regression, SelectOptions{
		Criterion: Residual,
		Features:  4,
		Rounds:    2,
	})
	if err != nil {
		t.Fatal(err)
	}
	coordinate := bank.candidates.Draw(sel.Index).Omega
	if coordinate[0]+coordinate[1] == 3 || slices.Contains(coordinate, 2) {
		t.Fatalf("coordinates %v", coordinate)
	}
}

// selectSample is SelectFrom with the sums of the sample.
func selectSample(bank *Bank, sample *Sample, task Task, o SelectOptions) (Selection, error) {
	a := NewAccumulator(bank, NewSums(bank.Len(), sample.Targets.Outputs))
	a.Add(sample.X, sample.Rows, sample.Targets)
	return SelectFrom(bank, a.Sums(), sample, task, o)
}

func TestSelectFromRefusesUnusableInputs(t *testing.T) {
	bank := NewBank(candidatesOf(MapCosine, 1, 5))
	x := normalRows(1, 40, 1)
	constant := Targets{Outputs: 1, Values: make([]float32, 40)}
	by := func(features int) SelectOptions { return SelectOptions{Criterion: Residual, Features: features} }
	if _, err := selectSample(bank, &Sample{
		X:       x,
		Rows:    40,
		Dim:     1,
		Targets: constant,
	}, Regression, by(3)); !errors.Is(err, ErrConstantLabels) {
		t.Errorf("constant labels: %v", err)
	}
	if _, err := selectSample(bank, &Sample{
		X:       nil,
		Rows:    0,
		Dim:     1,
		Targets: Targets{Outputs: 1},
	}, Regression, by(3)); !errors.Is(err, ErrNoRows) {
		t.Errorf("no rows: %v", err)
	}
	y := Targets{Outputs: 1, Values: normalRows(2, 40, 1)}
	for _, m := range []int{0, 6} {
		if _, err := selectSample(bank, &Sample{X: x, Rows: 40, Dim: 1, Targets: y}, Regression, by(m)); err == nil {
			t.Errorf("%d of 5 candidates accepted", m)
		}
	}
	if _, err := Select(someSums(1, 5), Regression, Residual, 2); err == nil {
		t.Error("sums alone accepted")
	}
	if _, err := selectSample(bank, &Sample{X: x, Rows: 40, Dim: 1, Targets: y}, Regression,
		SelectOptions{Criterion: criterionCount, Features: 2}); err == nil {
		t.Error("an unknown criterion accepted")
	}
	a := NewAccumulator(bank, NewSums(5, 1))
	a.Add(x, 40, y)
	if _, err := SelectFrom(bank, a.Sums(), &Sample{
		X:       x[:39],
		Rows:    39,
		Dim:     1,
		Targets: y.Slice(0, 39),
	}, Regression, by(2)); err == nil ||
		!strings.Contains(err.Error(), "40 rows") {
		t.Errorf("a sample of other rows: %v", err)
	}
	panics(t, "scoring: sample of 40 numbers", func() {
		SelectFrom(bank, a.Sums(), &Sample{X: x, Rows: 39, Dim: 1, Targets: y}, Regression, by(2))
	})
}

// plainRows are normal rows whose columns from the fourth on, on which no output depends, are too
// small to drown the others.
func plainRows(seed uint64, rows, dim int) []float32 {
	x := normalRows(seed, rows, dim)
	for i := range x {
		if i%dim > 2 {
			x[i] /= 50
		}
	}
	return x
}

// TestSelectionDoesNotDependOnWorkers also gives it sums that were merged from partitions, as a
// stream does.
func TestSelectionDoesNotDependOnWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const rows, cut = 2500, 900
	for _, c := range []Candidates{candidatesOf(MapCosine, 5, 1500), candidatesOf(MapCosine, 6, 700)} {
		bank := NewBank(c)
		x := plainRows(5, rows, c.Dim)
		for _, targets := range []func([]float32, int, int) (Targets, Task){waves(2, 0.2), sides(4)} {
			y, task := targets(x, rows, c.Dim)
			sums := NewSums(c.Count, y.Outputs)
			for _, part := range [][2]int{{0, cut}, {cut, rows}} {
				a := NewAccumulator(bank, NewSums(c.Count, y.Outputs))
				a.Add(x[part[0]*c.Dim:part[1]*c.Dim], part[1]-part[0], y.Slice(part[0], part[1]))
				sums.Merge(a.Sums())
			}
			var want Selection
			for i, with := range [][2]int{{1, 1}, {2, 1}, {8, 1}, {2, 2}, {8, 2}, {2, 3}, {8, 3}, {2, 0}, {8, 0}} {
				runtime.GOMAXPROCS(with[0])
				got, err := SelectFrom(bank, sums, &Sample{X: x, Rows: rows, Dim: c.Dim, Targets: y}, task, SelectOptions{
					Criterion: Residual, Features: 60, Workers: with[1],
				})
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					want = got
					if len(got.Index) != 60 || slices.Max(got.Round) < 2 {
						t.Fatalf("%d features in %d rounds: not tested", len(got.Index), slices.Max(got.Round))
					}
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%v: another selection with %d processors and %d workers", c.Map, with[0], with[1])
				}
			}
		}
	}
}

// TestSelectBytesBoundTheMemory counts all that a round allocates, collected or not.
func TestSelectBytesBoundTheMemory(t *testing.T) {
	for _, test := range []struct {
		criterion                                        Criterion
		dim, candidates, features, rounds, rows, outputs int
	}{
		{Residual, 16, 4000, 200, 1, 3000, 10},
		{Residual, 300, 500, 100, 1, 2000, 2},
		{Residual, 8, 3000, 300, 3, 5000, 4},
		{Correlation, 8, 3000, 300, 1, 1000, 4},
		{Energy, 8, 3000, 300, 1, 1000, 4},
	} {
		c := candidatesOf(MapCosine, test.dim, test.candidates)
		x := plainRows(1, test.rows, test.dim)
		y, task := waves(test.outputs, 0.1)(x, test.rows, test.dim)
		o := SelectOptions{Criterion: test.criterion, Features: test.features, Rounds: test.rounds}
		var sums *Sums
		if !o.Criterion.NeedsRows() {
			sums = scoreRows(c.DrawAll(), x, test.rows, y)
		}
		var before, after runtime.MemStats
		var sel Selection
		var err error
		runtime.ReadMemStats(&before)
		if o.Criterion.NeedsRows() {
			sample := &Sample{
				X:       slices.Clone(x),
				Rows:    test.rows,
				Dim:     test.dim,
				Targets: Targets{Outputs: test.outputs, Values: slices.Clone(y.Values)},
			}
			sel, err = selectSample(NewBank(c), sample, task, o)
		} else {
			sel, err = SelectFrom(nil, sums.Clone(), nil, task, o)
		}
		runtime.ReadMemStats(&after)
		if err != nil || len(sel.Index) == 0 {
			t.Fatal(sel.Index, err)
		}
		got := int64(after.TotalAlloc - before.TotalAlloc)
		bound := SelectBytes(c, test.rows, test.outputs, o) * int64(test.rounds)
		t.Logf("%+v: %d bytes of %d", test, got, bound)
		if got > bound || test.rounds == 1 && got < bound/2 {
			t.Errorf("%+v: %d bytes allocated, bound %d", test, got, bound)
		}
	}
}
