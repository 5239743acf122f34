package training

import (
	"context"
	"math"
)

const (
	// pathTolerance and lastTolerance are the relative gradients at which a descent has converged.
	// pathTolerance is enough for comparing levels of λ, because in practice losses are then off by
	// at most a thousandth. lastTolerance is for the final model.
	pathTolerance, lastTolerance = 1e-3, 3e-4
	// maxIterations bounds the iterations of a descent.
	maxIterations = 1000
	// memory is the number of steps from which the curvature is estimated.
	memory = 20
	// sufficient and curved are the constants of the Wolfe conditions. noise is the share by which
	// rounding may raise the value.
	sufficient, curved, noise = 1e-4, 0.9, 1e-7
	// maxTrials is the most points that a line search may try.
	maxTrials = 30
)

// Convergence describes a descent.
type Convergence struct {
	Lambda     float64 `json:"lambda"`
	Iterations int     `json:"iterations"`
	// RelativeGradient is the norm of the gradient as a share of that at the constant model, both
	// in the metric of the preconditioner. Its square is roughly the share of the possible gain
	// that is left.
	RelativeGradient float64 `json:"relative_gradient"`
	// Converged reports whether RelativeGradient is small enough. If not, the iterations reached
	// their limit or the rounding of the objective.
	Converged bool `json:"converged"`
	// Stopped reports whether the budget ended the descent.
	Stopped bool `json:"stopped,omitempty"`
}

// descent minimises a convex function by L-BFGS (Nocedal, Wright, Numerical Optimization, §7.2)
// with a preconditioner in place of the initial inverse Hessian, scaled as usual by the last step.
type descent struct {
	value        func(x, gradient []float64) float64
	precondition func(dst, gradient []float64)
	reference    float64 // norm of the gradient at the constant model
	tolerance    float64
	budget       *Budget

	steps []step // last steps, oldest first
	found Convergence
}

// step is s = Δx and y = Δ∇, with Py, y preconditioned.
type step struct {
	s, y, py []float64
	inverse  float64 // 1/s·y
}

// point is a point at which the function was evaluated.
type point struct {
	x, gradient, scaled []float64 // scaled: the preconditioned gradient
	value               float64
}

func (d *descent) at(x []float64) *point {
	p := &point{x: x, gradient: make([]float64, len(x))}
	p.value = d.value(x, p.gradient)
	return p
}

// run descends from now to the minimum.
func (d *descent) run(ctx context.Context, now *point) ([]float64, Convergence, error) {
	d.scale(now)
	for !d.done(now) && d.found.Iterations < maxIterations {
		if err := ctx.Err(); err != nil {
			return nil, d.found, err
		}
		d.found.Stopped = d.budget.Exhausted()
		if d.found.Stopped {
			break
		}
		d.budget.Spend(float64(4*len(d.steps)*len(now.x)) * perVectorTerm)
		next := d.search(now, d.direction(now))
		if next == nil && len(d.steps) > 0 {
			d.steps = nil // their curvature may be wrong here
			next = d.search(now, d.direction(now))
		}
		if next == nil {
			break
		}
		d.scale(next)
		d.remember(now, next)
		d.found.Iterations++
		now = next
	}
	return now.x, d.found, nil
}

func (d *descent) scale(p *point) {
	p.scaled = make([]float64, len(p.x))
	d.precondition(p.scaled, p.gradient)
}

// done measures the gradient at p and reports whether it is small enough.
func (d *descent) done(p *point) bool {
	d.found.RelativeGradient = 0
	if norm := math.Sqrt(max(0, inner(p.gradient, p.scaled))); norm > 0 && d.reference > 0 {
		d.found.RelativeGradient = norm / d.reference
	}
	d.found.Converged = d.found.RelativeGradient <= d.tolerance
	return d.found.Converged
}

// remember keeps the step from one point to another.
func (d *descent) remember(from, to *point) {
	s := step{
		s:  difference(to.x, from.x),
		y:  difference(to.gradient, from.gradient),
		py: difference(to.scaled, from.scaled),
	}
	product := inner(s.s, s.y)
	if !(product > 0) {
		return
	}
	s.inverse = 1 / product
	if len(d.steps) == memory {
		d.steps = append(d.steps[:0], d.steps[1:]...)
	}
	d.steps = append(d.steps, s)
}

// direction returns −H∇, where H estimates the inverse Hessian. The preconditioner is linear and
// its product with every y is known, so it need not be applied again.
func (d *descent) direction(p *point) []float64 {
	q, pq := append([]float64(nil), p.gradient...), append([]float64(nil), p.scaled...)
	alpha := make([]float64, len(d.steps))
	for i := len(d.steps) - 1; i >= 0; i-- {
		s := d.steps[i]
		alpha[i] = s.inverse * inner(s.s, q)
		addMultiple(q, -alpha[i], s.y)
		addMultiple(pq, -alpha[i], s.py)
	}
	gamma := 1.0
	if n := len(d.steps); n > 0 {
		last := d.steps[n-1]
		gamma = 1 / (last.inverse * inner(last.y, last.py))
	}
	for i := range pq {
		pq[i] *= gamma
	}
	for i, s := range d.steps {
		beta := float64(s.inverse * inner(s.y, pq))
		addMultiple(pq, alpha[i]-beta, s.s)
	}
	for i := range pq {
		pq[i] = -pq[i]
	}
	return pq
}

// search looks for a point on the ray that meets the weak Wolfe conditions, by bisection (Lewis,
// Overton, Mathematical Programming 141 (2013)). If the value only changes by rounding, the slope
// alone decides (Hager, Zhang, SIAM Journal on Optimization 16 (2005)). It returns nil if it finds
// no such point.
func (d *descent) search(from *point, direction []float64) *point {
	slope := inner(from.gradient, direction)
	if !(slope < 0) {
		return nil
	}
	low, high := 0.0, math.Inf(1)
	length := 1.0
	for range maxTrials {
		x := append([]float64(nil), from.x...)
		addMultiple(x, length, direction)
		p := d.at(x)
		along := inner(p.gradient, direction)
		lower := p.value <= from.value+float64(sufficient*length*slope) ||
			p.value <= from.value+float64(noise*math.Abs(from.value)) && along <= (2*sufficient-1)*slope
		switch {
		case !lower:
			high = length
		case along < curved*slope:
			low = length
		default:
			return p
		}
		if math.IsInf(high, 1) {
			length *= 2
		} else {
			length = (low + high) / 2
		}
	}
	return nil
}

// inner returns a·b.
func inner(a, b []float64) float64 {
	var sum [4]float64
	b = b[:len(a)]
	i := 0
	for ; i+3 < len(a); i += 4 {
		sum[0] += float64(a[i] * b[i])
		sum[1] += float64(a[i+1] * b[i+1])
		sum[2] += float64(a[i+2] * b[i+2])
		sum[3] += float64(a[i+3] * b[i+3])
	}
	for ; i < len(a); i++ {
		sum[0] += float64(a[i] * b[i])
	}
	return (sum[0] + sum[1]) + (sum[2] + sum[3])
}

func difference(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

// addMultiple adds factor·x to y.
func addMultiple(y []float64, factor float64, x []float64) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] += float64(factor * v)
	}
}
