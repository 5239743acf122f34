package training

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/training/internal/linear"
)

// preconditioner solves with c·A + 2λI, A the second moments of the features, for the weights of every column, and
// divides the slopes of intercepts by c. The Hessian of the mean loss is at most ½(I − 11ᵀ/K) ⊗ A (Böhning, Annals of
// the Institute of Statistical Mathematics 44 (1992)), ¼A for two classes, and has this form if all rows are equally
// uncertain; c is the mean curvature in place of the bound, which is several times too large for many classes.
type preconditioner struct {
	*logistic
	factor    *linear.Cholesky
	curvature float64
	slopes    *linear.Matrix
}

// leastCurvature keeps the preconditioner definite if all rows are certain.
const leastCurvature = 1e-6

func (p *logistic) precondition(curvature, lambda float64, factor *linear.Cholesky) (*preconditioner, error) {
	c := &preconditioner{
		logistic: p, factor: factor, curvature: max(curvature, leastCurvature),
		slopes: linear.NewMatrix(p.features, p.columns),
	}
	// Rounding can make A indefinite. More is then added to its diagonal, which at worst costs
	// iterations.
	shift := max(2*lambda/c.curvature, p.rounding/4)
	for range maxDoublings {
		if factor.Factor(p.a, shift) {
			return c, nil
		}
		shift *= 2
	}
	return nil, fmt.Errorf("second moments of %d features and %d rows are not positive definite", p.features, p.rows.Len())
}

// apply sets dst to the preconditioned gradient.
func (c *preconditioner) apply(dst, gradient []float64) {
	m := c.features
	for k := range c.columns {
		for j, v := range gradient[k*m : (k+1)*m] {
			c.slopes.Set(j, k, v/c.curvature)
		}
	}
	c.factor.Solve(c.slopes)
	for k := range c.columns {
		for j := range m {
			dst[k*m+j] = c.slopes.At(j, k)
		}
	}
	for i := c.columns * m; i < len(gradient); i++ {
		dst[i] = gradient[i] / c.curvature
	}
}

// solver is what solve needs besides the problem.
type solver struct {
	factor    *linear.Cholesky // room for one
	tolerance float64
}

// answer is the minimum of J for one λ.
type answer struct {
	x      []float64
	lambda float64
	steps  []step // the last ones that led there
	how    Convergence
}

// solve minimises J for one λ, starting from the answer for another one or from weights alone.
func (p *logistic) solve(ctx context.Context, from answer, lambda float64, with solver) (answer, error) {
	start := &point{x: from.x, gradient: make([]float64, len(from.x))}
	value, curvature := p.evaluate(start.x, start.gradient, lambda)
	start.value = value
	c, err := p.precondition(curvature, lambda, with.factor)
	if err != nil {
		return answer{}, err
	}
	scaled := make([]float64, len(from.x))
	c.apply(scaled, p.startSlope)
	d := &descent{
		value:        func(x, gradient []float64) float64 { v, _ := p.evaluate(x, gradient, lambda); return v },
		precondition: c.apply, tolerance: with.tolerance,
		reference: math.Sqrt(max(0, inner(scaled, p.startSlope))),
		steps:     c.recast(from.steps, 2*(lambda-from.lambda)),
	}
	x, found, err := d.run(ctx, start)
	found.Lambda = lambda
	return answer{x: x, lambda: lambda, steps: d.steps, how: found}, err
}

// recast returns steps of J for one λ as steps for another, for which the Hessian of the weights has more on its
// diagonal: what they say about the Hessian of the loss stays valid.
func (c *preconditioner) recast(steps []step, more float64) []step {
	var kept []step
	for _, old := range steps {
		s := step{s: old.s, y: slices.Clone(old.y), py: make([]float64, len(old.y))}
		weights := c.columns * c.features
		addMultiple(s.y[:weights], more, s.s[:weights])
		if product := inner(s.s, s.y); product > 0 {
			s.inverse = 1 / product
			c.apply(s.py, s.y)
			kept = append(kept, s)
		}
	}
	return kept
}
