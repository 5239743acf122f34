package scoring

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/training"
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
		{"few rows", cosine(3, 80), 6, waves(1, 0.1), 10, 3},
	}
}

func TestResidualIsTheNaiveRefit(t *testing.T) {
	for _, c := range residualCases() {
		t.Run(c.name, func(t *testing.T) {
			x := normalRows(31, c.rows, c.c.Dim)
			targets, task := c.targets(x, c.rows, c.c.Dim)
			bank := NewBank(c.c, BankOptions{})
			got, err := SelectResidual(bank, x, c.rows, targets, task, c.features, c.rounds)
			if err != nil {
				t.Fatal(err)
			}
			s := NewAccumulator(bank, NewSums(c.c.Count, targets.Outputs))
			s.Add(x, c.rows, targets)
			byCorrelation, err := Select(s.Sums(), task, Correlation, c.features)
			if err != nil {
				t.Fatal(err)
			}
			want := newNaive(c, x, targets, got.Coding).choose(c.features, c.rounds)
			t.Logf("%d of %d by residual, %d above the noise: %v", got.ByResidual, c.features, got.AboveNoise, got.Index)
			if !slices.Equal(got.Index[:got.ByResidual], want.index) || got.AboveNoise != want.above {
				t.Fatalf("chose %v (%d above noise), want %v (%d)", got.Index[:got.ByResidual], got.AboveNoise, want.index, want.above)
			}
			checkResidualSelection(t, got, byCorrelation, want, s.Sums())
		})
	}
}

// checkResidualSelection compares the numbers of a selection with the reference, and its rest with correlation.
func checkResidualSelection(t *testing.T, got, byCorrelation Selection, want naiveChoice, s *Sums) {
	t.Helper()
	outputs := s.Outputs()
	scores := s.Scores(got.Coding)
	for i, index := range got.Index {
		for k := range outputs {
			near(t, fmt.Sprintf("S of feature %d", i), got.S[i*outputs+k], scores[int(index)*outputs+k], 1e-5)
		}
		own := scores[int(index)*outputs : int(index+1)*outputs]
		near(t, "large-sample radius", got.LargeSampleRadius[i]/s.largeSampleRadius(int(index), own, Delta), 1, 1e-3)
		if i < got.ByResidual {
			near(t, fmt.Sprintf("gain of feature %d", i), got.Score[i]/want.gain[i], 1, 1e-3)
		}
	}
	var rest []int32
	for _, index := range byCorrelation.Index {
		if !slices.Contains(got.Index[:got.ByResidual], index) {
			rest = append(rest, index)
		}
	}
	if filled := got.Index[got.ByResidual:]; !slices.Equal(filled, rest[:len(filled)]) {
		t.Errorf("filled up with %v, want %v", filled, rest[:len(filled)])
	}
	if got.Radius != byCorrelation.Radius || got.Best != got.Score[0] || got.Cutoff != got.Score[len(got.Score)-1] {
		t.Errorf("radius %v, best %v, cut-off %v", got.Radius, got.Best, got.Cutoff)
	}
}

func TestResidualPassesDoNotDependOnCalls(t *testing.T) {
	c := candidatesOf(MapCosine, 3, 200)
	const rows = 2000
	x := normalRows(5, rows, 3)
	bank := NewBank(c, BankOptions{})
	for _, targets := range []func([]float32, int, int) (Targets, Task){waves(2, 0.2), sides(4)} {
		y, task := targets(x, rows, 3)
		want := runResidual(t, bank, task, 17, x, y, [][]int{{rows}})
		for seed := range uint64(4) {
			got := runResidual(t, bank, task, 17, x, y, [][]int{cuts(seed, rows)})
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("cut %d: other selections", seed)
			}
		}
		if want.ByResidual < 6 {
			t.Fatalf("only %d by residual, the passes are not tested", want.ByResidual)
		}
		// Partitions are merged in their order, however each was cut.
		split := runResidual(t, bank, task, 17, x, y, [][]int{{700}, {0}, {1300}})
		again := runResidual(t, bank, task, 17, x, y, [][]int{cuts(9, 700), {}, cuts(10, 1300)})
		if !reflect.DeepEqual(split, again) {
			t.Fatal("other selections of the same partitions")
		}
	}
}

// cuts returns random sizes of calls that add up to rows.
func cuts(seed uint64, rows int) (sizes []int) {
	rng := rand.New(rand.NewPCG(seed, 8))
	for rows > 0 {
		n := min(rows, rng.IntN(400))
		sizes = append(sizes, n)
		rows -= n
	}
	return sizes
}

// runResidual takes partitions, each in calls of the given sizes, through all passes.
func runResidual(t *testing.T, bank *Bank, task Task, features int, x []float32, y Targets, partitions [][]int) Selection {
	t.Helper()
	each := func(first int, calls []int, add func(x []float32, rows int, t Targets)) (next int) {
		for _, n := range calls {
			add(x[first*bank.Dim():(first+n)*bank.Dim()], n, y.slice(first, first+n))
			first += n
		}
		return first
	}
	plan := NewResidualPlan(features, 0)
	for !plan.Done {
		first := 0
		var err error
		if plan.Pool == nil {
			merged := NewSums(bank.Len(), y.Outputs)
			for _, calls := range partitions {
				pass := plan.NewScores(bank, NewSums(bank.Len(), y.Outputs))
				first = each(first, calls, pass.Add)
				merged.Merge(pass.Sums())
			}
			plan, err = plan.AfterScores(merged, task)
		} else {
			merged := training.NewProducts(plan.Columns())
			for _, calls := range partitions {
				pass := plan.NewGram(bank)
				first = each(first, calls, pass.Add)
				merged.Merge(pass.Products())
			}
			plan, err = plan.AfterGram(merged)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	return plan.Selection()
}

func TestResidualPassesOverConstantsAndTwins(t *testing.T) {
	// Column 2 is constant, column 3 repeats column 0: neither helps.
	const rows = 1500
	x, noise := normalRows(6, rows, 4), normalRows(7, rows, 1)
	y := Targets{Outputs: 1}
	for i := range rows {
		x[i*4+2], x[i*4+3] = 7, x[i*4]
		y.Values = append(y.Values, x[i*4]+x[i*4+1]/2+noise[i]/8)
	}
	bank := NewBank(candidatesOf(MapLinear, 4, 4), BankOptions{})
	sel, err := SelectResidual(bank, x, rows, y, Regression, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	coordinate := bank.candidates.Draw(sel.Index).Omega
	if sel.ByResidual != 2 || coordinate[0]+coordinate[1] == 3 || coordinate[3] != 2 {
		t.Fatalf("%d by residual, coordinates %v", sel.ByResidual, coordinate)
	}
}

func TestResidualRefusesWhatItCannotUse(t *testing.T) {
	bank := NewBank(candidatesOf(MapCosine, 1, 5), BankOptions{})
	x := normalRows(1, 40, 1)
	constant := Targets{Outputs: 1, Values: make([]float32, 40)}
	if _, err := SelectResidual(bank, x, 40, constant, Regression, 3, 0); !errors.Is(err, ErrConstantLabels) {
		t.Errorf("constant labels: %v", err)
	}
	if _, err := SelectResidual(bank, nil, 0, Targets{Outputs: 1}, Regression, 3, 0); !errors.Is(err, ErrNoRows) {
		t.Errorf("no rows: %v", err)
	}
	for _, m := range []int{0, 6} {
		if _, err := SelectResidual(bank, x, 40, constant, Regression, m, 0); err == nil {
			t.Errorf("%d of 5 candidates accepted", m)
		}
	}
	if _, err := Select(someSums(1, 5), Regression, Residual, 2); err == nil {
		t.Error("one pass accepted")
	}
}

func TestResidualNoticesOtherRows(t *testing.T) {
	const rows = 900
	bank := NewBank(candidatesOf(MapCosine, 2, 50), BankOptions{})
	x := normalRows(2, rows, 2)
	y, task := waves(1, 0.1)(x, rows, 2)
	pass := NewResidualPlan(9, 3).NewScores(bank, NewSums(50, 1))
	pass.Add(x, rows, y)
	plan, err := NewResidualPlan(9, 3).AfterScores(pass.Sums(), task)
	if err != nil {
		t.Fatal(err)
	}
	gram := plan.NewGram(bank)
	gram.Add(x[:2*(rows-1)], rows-1, y.slice(0, rows-1))
	if _, err := plan.AfterGram(gram.Products()); !errors.Is(err, ErrOtherRows) {
		t.Fatalf("a Gram of other rows: %v", err)
	}
	gram.Add(x[2*(rows-1):], 1, y.slice(rows-1, rows))
	if plan, err = plan.AfterGram(gram.Products()); err != nil || plan.Round != 2 || plan.Pool != nil {
		t.Fatalf("plan %+v, error %v", plan, err)
	}
	short := plan.NewScores(bank, NewSums(50, 1))
	short.Add(x[:2*7], 7, y.slice(0, 7))
	if _, err := plan.AfterScores(short.Sums(), task); !errors.Is(err, ErrOtherRows) {
		t.Fatalf("scores of other rows: %v", err)
	}
	panics(t, "scoring: ", func() { plan.NewGram(bank) })
	panics(t, "scoring: ", func() { plan.Selection() })
}
