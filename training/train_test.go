package training

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
)

// trainAt trains with one explicit λ, all rows in fit.
func trainAt(t *testing.T, d table, lambda float64, intercept bool) *Fit {
	t.Helper()
	f, err := Train(d.sums(), nil, Options{Intercept: intercept, Grid: ExplicitGrid(lambda)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTrainEqualsNaiveSolutionForEveryLambda(t *testing.T) {
	shapes := []struct{ rows, features, outputs int }{{50, 4, 1}, {400, 30, 3}, {20, 35, 2}, {600, 120, 1}, {3000, 60, 26}}
	for _, shape := range shapes {
		d := randomTable(uint64(shape.features), shape.rows, shape.features, shape.outputs)
		for _, intercept := range []bool{true, false} {
			for _, lambda := range []float64{1e-9, 1e-6, 1e-3, 1, 1e3} {
				name := fmt.Sprintf("%d by %d, intercept %v, lambda %g", shape.rows, shape.features, intercept, lambda)
				t.Run(name, func(t *testing.T) {
					requireNaiveSolution(t, d, lambda, intercept)
				})
			}
		}
	}
}

// requireNaiveSolution compares the model for one λ with the solution from the rows. The rounding
// of the sums is amplified by 1/λ; if λ was raised because of it, the solution is that of the
// raised λ.
func requireNaiveSolution(t *testing.T, d table, lambda float64, intercept bool) {
	t.Helper()
	sys, err := newSystem(d.sums().gram.Settled(), intercept)
	if err != nil {
		t.Fatal(err)
	}
	f := trainAt(t, d, lambda, intercept)
	used := f.Model.Lambda
	if used < lambda || used > max(lambda, 4*sys.rounding) || f.Model.Loss != LossSquared {
		t.Fatalf("lambda %v for %v, sums rounded to %v; loss %q", used, lambda, sys.rounding, f.Model.Loss)
	}
	theta, theta0 := naiveRidge(t, d, used, intercept)
	tolerance := 1e-6 + 2*sys.rounding/used
	requireClose(t, "weights", f.Model.Theta, theta, tolerance)
	requireClose(t, "intercept", f.Model.Intercept, theta0, tolerance)
}

func TestChosenLambdaIsTheLargestOfTheSmallestHeldOutLoss(t *testing.T) {
	d := randomTable(11, 900, 60, 2)
	fit, held := d.part(0, 700), d.part(700, 900)
	for _, intercept := range []bool{true, false} {
		f, err := Train(fit.sums(), held.sums(), Options{Intercept: intercept})
		if err != nil {
			t.Fatal(err)
		}
		if f.Rule != RuleHeldOut || f.FitRows != 700 || f.HeldOutRows != 200 || f.TrainRows != 900 {
			t.Fatalf("fit reports %+v", f)
		}
		variance := variances(t, fit)
		best := len(f.Lambdas) - 1
		for i, lambda := range f.Lambdas {
			theta, theta0 := naiveRidge(t, fit, lambda, intercept)
			m := &Model{Features: d.features, Outputs: d.outputs, Theta: theta, Intercept: theta0}
			loss := 0.0
			for k, v := range rowLoss(m, held) {
				loss += v / variance[k]
			}
			requireClose(t, fmt.Sprintf("held-out loss at lambda %g", lambda), f.HeldOutLoss[i:i+1], []float64{loss}, 1e-5)
		}
		least := slices.Min(f.HeldOutLoss)
		for f.HeldOutLoss[best] > least+0.01*min(least, f.HeldOutLoss[len(f.Lambdas)-1]-least) {
			best--
		}
		if f.Levels[best] != f.Level {
			t.Fatalf("level %g chosen, %g is the largest with the smallest loss", f.Level, f.Levels[best])
		}
		theta, theta0 := naiveRidge(t, fit, f.Lambdas[best], intercept)
		requireClose(t, "weights on the fit rows", f.OnFit.Theta, theta, 1e-5)
		requireClose(t, "intercept on the fit rows", f.OnFit.Intercept, theta0, 1e-5)
		theta, theta0 = naiveRidge(t, d, f.Model.Lambda, intercept)
		requireClose(t, "refitted weights", f.Model.Theta, theta, 1e-5)
		requireClose(t, "refitted intercept", f.Model.Intercept, theta0, 1e-5)
	}
}

func variances(t *testing.T, d table) []float64 {
	t.Helper()
	r := NewRegression(make([]float64, d.outputs))
	r.Add(make([]float32, len(d.y)), d.y, d.rows)
	v := make([]float64, d.outputs)
	for k := range v {
		v[k] = r.outputs[k].coded.centred / float64(d.rows)
	}
	return v
}

func TestTrainingIsTheSameOnAnyNumberOfThreads(t *testing.T) {
	d := randomTable(13, 1500, 200, 3)
	var first *Fit
	for _, threads := range []int{1, 2, 4} {
		previous := runtime.GOMAXPROCS(threads)
		f, err := Train(d.part(0, 1200).sums(), d.part(1200, 1500).sums(), usual)
		runtime.GOMAXPROCS(previous)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = f
		}
		requireSameBits(t, "weights", f.Model.Theta, first.Model.Theta)
		requireSameBits(t, "held-out loss", f.HeldOutLoss, first.HeldOutLoss)
	}
}

func TestTrainRefusesUnusableInput(t *testing.T) {
	if _, err := Train(NewSums(3, 1), NewSums(3, 1), usual); !errors.Is(err, ErrNoRows) {
		t.Errorf("no rows: %v", err)
	}
	if _, err := Train(NewSums(3, 1), nil, usual); !errors.Is(err, ErrNoRows) {
		t.Errorf("no rows at all: %v", err)
	}
	bad := NewSums(1, 1)
	bad.Add([]float32{float32(math.NaN())}, 1, []float32{1})
	if _, err := Train(bad, nil, usual); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
	good := randomTable(15, 10, 1, 1).sums()
	if _, err := Train(good, bad, usual); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN held out: %v", err)
	}
	if _, err := Train(good, nil, Options{Grid: ExplicitGrid()}); err == nil {
		t.Error("empty grid: no error")
	}
	requirePanic(t, "other shape held out", func() { _, _ = Train(good, NewSums(2, 1), usual) })
}
