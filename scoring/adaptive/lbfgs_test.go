package adaptive

import (
	"errors"
	"math"
	"testing"
)

// rosenbrock is Σ 100(x_{i+1} − x_i²)² + (1 − x_i)², whose least value is 0 where all x are 1.
func rosenbrock(gradient, x []float64) (float64, error) {
	clear(gradient)
	f := 0.0
	for i := range len(x) - 1 {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		f += 100*a*a + b*b
		gradient[i] -= 400*a*x[i] + 2*b
		gradient[i+1] += 200 * a
	}
	return f, nil
}

func TestLBFGSKeepsToItsBounds(t *testing.T) {
	calls := 0
	count := func(gradient, x []float64) (float64, error) {
		calls++
		return rosenbrock(gradient, x)
	}
	start := []float64{-1.2, 1}
	for _, bound := range []struct{ steps, evaluations, most int }{{3, 100, 40}, {100, 7, 7}, {0, 10, 1}} {
		calls = 0
		l := search{value: count, steps: bound.steps, evaluations: bound.evaluations, step: func(int, []float64) bool {
			return true
		}}
		if err := l.run([]float64{start[0], start[1]}); err != nil || calls > bound.most {
			t.Errorf("%+v: %d evaluations, %v", bound, calls, err)
		}
	}
	calls = 0
	l := search{value: count, steps: 100, evaluations: 100, step: func(n int, _ []float64) bool { return n < 2 }}
	if err := l.run([]float64{start[0], start[1]}); err != nil || calls > 10 {
		t.Errorf("told to stop: %d evaluations, %v", calls, err)
	}
}

// The search steps back from a wall of infinities; an error ends it.
func TestLBFGSStopsAtInfiniteValues(t *testing.T) {
	wall := func(gradient, x []float64) (float64, error) {
		if x[0] > 2 {
			return math.Inf(1), nil
		}
		gradient[0] = x[0] - 1.5
		return 0.5 * gradient[0] * gradient[0], nil
	}
	x := []float64{-10}
	l := search{value: wall, steps: 20, evaluations: 60, step: func(_ int, at []float64) bool { copy(x, at); return true }}
	if err := l.run(x); err != nil || math.Abs(x[0]-1.5) > 1e-9 {
		t.Errorf("at %v, %v", x, err)
	}
	fault := errors.New("fault")
	l = search{value: func([]float64, []float64) (float64, error) { return 0, fault }, steps: 5, evaluations: 5}
	if err := l.run(x); !errors.Is(err, fault) {
		t.Error(err)
	}
}
