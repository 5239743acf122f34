package training

import (
	"math"
	"slices"
)

// minFreedom is the least share of degrees of freedom (N − df)/N at which generalised
// cross-validation is trusted. The numerator of its score falls with the square of that share and
// reaches the rounding of the sums, about 1e-7 of E[y²].
const minFreedom = 1e-2

// search is a search over the levels of a grid: ascending levels with the loss of each.
type search struct {
	levels []float64
	losses []float64
	best   int
}

// walk computes the loss of every level of g, continues below the lowest level while it is the
// best, and drops levels with a loss that is not finite. Among losses within [tolerance] of the
// least, the largest level wins, because it gives the simplest model. found is false if no level
// has a finite loss; the best is then the largest level.
func walk(g Grid, losses func(levels []float64) ([]float64, error)) (w search, found bool, err error) {
	w.levels = slices.Clone(g.levels())
	w.losses, err = losses(w.levels)
	if err != nil {
		return search{}, false, err
	}
	for _, level := range g.below() {
		if w.pick(); w.best != 0 {
			break
		}
		loss, err := losses([]float64{level})
		if err != nil {
			return search{}, false, err
		}
		w.levels = slices.Insert(w.levels, 0, level)
		w.losses = slices.Insert(w.losses, 0, loss...)
	}
	largest := w.levels[len(w.levels)-1]
	w.dropUnusable()
	if len(w.levels) == 0 {
		return search{levels: []float64{largest}}, false, nil
	}
	w.pick()
	return w, true, nil
}

// tolerance is the excess allowed to the loss of a larger λ over the least loss, as a share of the
// least loss or of its gain over the largest λ, whichever is smaller. Held-out rows cannot
// distinguish levels of a flat path, and the weights of a smaller λ do more harm on an unusual row:
// on keggdirected a single test row doubled the error.
const tolerance = 0.01

// pick finds the best level. NaN compares false and is never preferred to a number.
func (w *search) pick() {
	w.best = len(w.levels) - 1
	for i := w.best - 1; i >= 0; i-- {
		if w.losses[i] < w.losses[w.best] || math.IsNaN(w.losses[w.best]) {
			w.best = i
		}
	}
	least, last := w.losses[w.best], w.losses[len(w.losses)-1]
	most := least + float64(tolerance*min(least, last-least))
	for w.best+1 < len(w.losses) && w.losses[w.best+1] <= most {
		w.best++
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

// atEdge reports whether the best level is the lowest or highest tried, for losses that are not all
// equal. Levels whose λ was raised to the same minimum have the same loss and count as one.
func (w *search) atEdge() bool {
	if w.losses == nil || slices.Min(w.losses) == slices.Max(w.losses) {
		return false
	}
	return w.losses[w.best] == w.losses[0] || w.best == len(w.levels)-1
}

// meanLosses returns the weighted squared loss of each answer on the rows of c: (1/N) Σ_n Σ_k
// weight_k (f_k − y_k)².
func (c *moments) meanLosses(answers []solution, weight []float64) []float64 {
	models := make([]*Model, len(answers))
	for i, a := range answers {
		models[i] = a.model
	}
	sums := make([]float64, len(answers))
	for i, v := range c.squaredLosses(models...) {
		sums[i/c.outputs] += float64(weight[i%c.outputs] * v)
	}
	return sums
}

// gcv returns the generalised cross-validation score of each λ (Golub, Heath, Wahba, Technometrics
// 21 (1979)), summed over outputs with their weights:
//
//	(RSS_k/N) / (1 − df/N)²,  df = M − λ tr (A+λI)⁻¹ (+1 for an intercept),
//	RSS_k/N = E[y_k²] − θ_k·b_k − λ‖θ_k‖²
//
// where y_k is centred if there is an intercept. It is +Inf if too few degrees of freedom are left.
func (s *system) gcv(answers []solution) []float64 {
	scores := make([]float64, len(answers))
	for i, a := range answers {
		scores[i] = s.gcvOf(a)
	}
	return scores
}

func (s *system) gcvOf(a solution) float64 {
	freedom := 1 - (float64(s.features)-float64(a.model.Lambda*a.inverseTrace))/float64(s.rows)
	if s.intercept {
		freedom -= 1 / float64(s.rows)
	}
	if freedom < minFreedom {
		return math.Inf(1)
	}
	sum := 0.0
	for k := range s.outputs {
		sum += float64(s.weight[k] * max(s.residual(k, a.model), 0))
	}
	return sum / (freedom * freedom)
}

// residual returns RSS_k/N of a solution of s.
func (s *system) residual(k int, m *Model) float64 {
	sum := s.yVar[k]
	if !s.intercept {
		sum += float64(s.yMean[k] * s.yMean[k])
	}
	b := s.b[k*s.features : (k+1)*s.features]
	for j, t := range m.Theta[k*s.features : (k+1)*s.features] {
		sum -= float64(t * (b[j] + float64(m.Lambda*t)))
	}
	return sum
}
