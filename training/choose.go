package training

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// minFreedom is the least share of degrees of freedom (N − df)/N for which generalised cross-validation is
// trusted: its numerator goes down with the square of it and meets rounding near 1e-16.
const minFreedom = 1e-5

// search is the walk over the levels of a grid: ascending levels with the loss of each.
type search struct {
	levels []float64
	losses []float64
	best   int
}

// walk computes the loss of every level of g, goes on below the lowest while that is the best, and drops
// levels whose loss is not finite. Among equal losses the largest level wins: it is the simplest model.
// found is false when no level has a finite loss; the best is then the largest level.
func walk(g Grid, loss func(level float64) float64) (w search, found bool) {
	w.levels = slices.Clone(g.levels())
	for _, level := range w.levels {
		w.losses = append(w.losses, loss(level))
	}
	for _, level := range g.below() {
		if w.pick(); w.best != 0 {
			break
		}
		w.levels = slices.Insert(w.levels, 0, level)
		w.losses = slices.Insert(w.losses, 0, loss(level))
	}
	largest := w.levels[len(w.levels)-1]
	w.dropUnusable()
	if len(w.levels) == 0 {
		return search{levels: []float64{largest}}, false
	}
	w.pick()
	return w, true
}

// pick finds the best level; NaN compares false and is never picked over a number.
func (w *search) pick() {
	w.best = len(w.levels) - 1
	for i := w.best - 1; i >= 0; i-- {
		if w.losses[i] < w.losses[w.best] || math.IsNaN(w.losses[w.best]) {
			w.best = i
		}
	}
}

func (w *search) dropUnusable() {
	kept := 0
	for i, v := range w.losses {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			w.levels[kept], w.losses[kept] = w.levels[i], v
			kept++
		}
	}
	w.levels, w.losses = w.levels[:kept], w.losses[:kept]
}

// atEdge tells whether the best level is the lowest or highest tried, for losses that are not all equal.
func (w *search) atEdge() bool {
	if w.losses == nil || slices.Min(w.losses) == slices.Max(w.losses) {
		return false
	}
	return w.best == 0 || w.best == len(w.levels)-1
}

// meanLoss returns the weighted squared loss of m on the rows of c: (1/N) Σ_n Σ_k weight_k (f_k − y_k)².
func (c *moments) meanLoss(m *Model, weight []float64) float64 {
	sum := 0.0
	for k, v := range c.squaredLosses(m) {
		sum += weight[k] * v
	}
	return sum
}

// squaredLosses returns the mean squared loss of every output of m on the rows of c.
func (c *moments) squaredLosses(m *Model) []float64 {
	var product mat.Dense
	theta := mat.NewDense(m.Outputs, m.Features, m.Theta)
	product.Mul(theta, mat.NewDense(c.features, c.features, c.cov))
	losses := make([]float64, m.Outputs)
	for k := range losses {
		losses[k] = c.squaredLoss(k, theta.RawRowView(k), product.RawRowView(k), m.Intercept[k])
	}
	return losses
}

// gcv returns the generalised cross-validation score of one λ (Golub, Heath, Wahba, Technometrics 21
// (1979)), summed over outputs with their weights:
//
//	(RSS_k/N) / (1 − df/N)²,  df = Σ d/(d+λ) (+1 for an intercept),
//	RSS_k/N = E[y_k²] − Σ v_k² (d+2λ)/(d+λ)²
//
// where v_k = Uᵀb_k and y_k is centred under an intercept. It is +Inf when too few degrees of freedom
// are left to tell.
func (s *system) gcv(e *spectrum, lambda float64) float64 {
	freedom := 1.0
	if s.intercept {
		freedom -= 1 / float64(s.rows)
	}
	residual := make([]float64, s.outputs)
	for k := range residual {
		residual[k] = s.yVar[k]
		if !s.intercept {
			residual[k] += s.yMean[k] * s.yMean[k]
		}
	}
	for i, d := range e.values {
		inverse := e.inverse(i, lambda)
		freedom -= d * inverse / float64(s.rows)
		for k := range residual {
			v := e.rotated.At(k, i)
			residual[k] -= v * v * inverse * (2 - d*inverse)
		}
	}
	if freedom < minFreedom {
		return math.Inf(1)
	}
	sum := 0.0
	for k, r := range residual {
		sum += s.weight[k] * max(r, 0)
	}
	return sum / (freedom * freedom)
}
