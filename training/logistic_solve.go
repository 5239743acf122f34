package training

import (
	"context"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/training/internal/linear"
)

// preconditioner solves with c·A + 2λI for the weights of every column, where A is the second
// moments of the features, and divides the slopes of intercepts by c. The Hessian of the mean loss
// is at most ½(I − 11ᵀ/K) ⊗ A, or ¼A for two classes (Böhning, Annals of the Institute of
// Statistical Mathematics 44 (1992)), and has this form if all rows are equally uncertain. For many
// classes the bound is several times too large, so c is the mean curvature instead.
type preconditioner struct {
	problem   *logistic
	factor    *linear.Cholesky
	curvature float64
	slopes    *linear.Matrix
}

// leastCurvature keeps the preconditioner definite if all rows are certain.
const leastCurvature = 1e-6

func (p *logistic) precondition(curvature, lambda float64, factor *linear.Cholesky) (*preconditioner, error) {
	c := &preconditioner{
		problem:   p,
		factor:    factor,
		curvature: max(curvature, leastCurvature),
		slopes:    linear.NewMatrix(p.features, p.columns),
	}
	// Rounding can make A indefinite. A larger shift then costs iterations at worst.
	shift := max(2*lambda/c.curvature, p.moments.rounding/4)
	for range maxDoublings {
		if factor.Factor(p.moments.a, shift) {
			return c, nil
		}
		shift *= 2
	}
	return nil, errIndefinite(p.features, float64(p.rows.Len()))
}

// apply sets dst to the preconditioned gradient.
func (c *preconditioner) apply(dst, gradient []float64) {
	c.problem.budget.Spend(solveSeconds(c.problem.features, c.problem.columns))
	m, columns := c.problem.features, c.problem.columns
	for k := range columns {
		for j, v := range gradient[k*m : (k+1)*m] {
			c.slopes.Set(j, k, v/c.curvature)
		}
	}
	c.factor.Solve(c.slopes)
	for k := range columns {
		for j := range m {
			dst[k*m+j] = c.slopes.At(j, k)
		}
	}
	for i := columns * m; i < len(gradient); i++ {
		dst[i] = gradient[i] / c.curvature
	}
}

// solver holds the other inputs of solve.
type solver struct {
	factor    *linear.Cholesky // memory for one factorisation
	tolerance float64
	budget    *Budget
}

// answer is the minimum of J for one λ.
type answer struct {
	x      []float64
	lambda float64
	steps  []step // last steps of the descent
	how    Convergence
}

// solve minimises J for one λ, starting from the answer for another λ or from weights alone.
func (p *logistic) solve(ctx context.Context, from answer, lambda float64, with solver) (answer, error) {
	start := &point{x: from.x, gradient: make([]float64, len(from.x))}
	value, curvature := p.evaluate(start.x, start.gradient, lambda)
	start.value = value
	with.budget.Spend(factorSeconds(p.features))
	c, err := p.precondition(curvature, lambda, with.factor)
	if err != nil {
		return answer{}, err
	}
	scaled := make([]float64, len(from.x))
	c.apply(scaled, p.startSlope)
	d := &descent{
		value:        func(x, gradient []float64) float64 { v, _ := p.evaluate(x, gradient, lambda); return v },
		precondition: c.apply,
		tolerance:    with.tolerance,
		budget:       with.budget,
		reference:    math.Sqrt(max(0, inner(scaled, p.startSlope))),
		steps:        c.recast(from.steps, 2*(lambda-from.lambda)),
	}
	x, found, err := d.run(ctx, start)
	found.Lambda = lambda
	return answer{x: x, lambda: lambda, steps: d.steps, how: found}, err
}

// recast turns steps of J for one λ into steps for another, for which the Hessian of the weights
// has more on its diagonal. Their information about the Hessian of the loss stays valid.
func (c *preconditioner) recast(steps []step, more float64) []step {
	var kept []step
	for _, old := range steps {
		s := step{s: old.s, y: slices.Clone(old.y), py: make([]float64, len(old.y))}
		weights := c.problem.columns * c.problem.features
		addMultiple(s.y[:weights], more, s.s[:weights])
		if product := inner(s.s, s.y); product > 0 {
			s.inverse = 1 / product
			c.apply(s.py, s.y)
			kept = append(kept, s)
		}
	}
	return kept
}
