package adaptive

import (
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// memory is the number of pairs of steps and gradient changes in the history of L-BFGS.
const memory = 10

// search minimises a smooth function by gonum's L-BFGS.
type search struct {
	value       func(gradient, x []float64) (float64, error) // +Inf where x is too far away
	steps       int                                          // greatest number of iterations
	evaluations int                                          // greatest number of calls of value
	// called after iteration n, counted from 1; false ends the search
	step func(n int, x []float64) bool

	x, gradient []float64 // the last evaluation
	f           float64
	taken       int // iterations
	fault       error
}

// run starts at x and continues until it converges, reaches a bound, or step returns false. Errors
// of gonum, such as a line search that finds no lower value, end the search as convergence does.
func (s *search) run(x []float64) error {
	s.taken = -1 // gonum announces the start as an iteration
	problem := optimize.Problem{
		Func: func(x []float64) float64 { s.evaluate(x); return s.f },
		Grad: func(gradient, x []float64) { s.evaluate(x); copy(gradient, s.gradient) },
		Status: func() (optimize.Status, error) {
			return optimize.NotTerminated, s.fault
		},
	}
	settings := &optimize.Settings{FuncEvaluations: s.evaluations, Converger: s}
	_, _ = optimize.Minimize(problem, x, settings, &optimize.LBFGS{Store: memory})
	return s.fault
}

// evaluate computes value and gradient, which gonum requests one after the other.
func (s *search) evaluate(x []float64) {
	if s.x != nil && slices.Equal(s.x, x) || s.fault != nil {
		return
	}
	if s.gradient == nil {
		s.gradient = make([]float64, len(x))
	}
	s.x = append(s.x[:0], x...)
	s.f, s.fault = s.value(s.gradient, x)
}

// Init is called by gonum before the search.
func (s *search) Init(int) {}

// Converged is called by gonum after each iteration.
func (s *search) Converged(at *optimize.Location) optimize.Status {
	if s.taken++; s.taken > 0 && !s.step(s.taken, at.X) || s.taken >= s.steps {
		return optimize.Success
	}
	return optimize.NotTerminated
}
