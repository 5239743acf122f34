package adaptive

import "math"

// lbfgs minimises a smooth function by the limited-memory BFGS method (Nocedal and Wright, Numerical Optimization, 2nd
// edition, §7.2) with a line search that meets the strong Wolfe conditions (§3.5). Sums are plain and in order, because
// gonum's have other bits with its assembly than without.
type lbfgs struct {
	value       func(gradient, x []float64) (float64, error) // +Inf where x is too far away
	steps       int                                          // iterations at most
	evaluations int                                          // calls of value at most
	step        func(n int, x []float64) bool                // called after iteration n, from 1 on; false ends the search

	x, gradient []float64
	f           float64
	pairs       []pair // newest last
}

// pair is a step and the change of the gradient along it.
type pair struct {
	s, y []float64
	rho  float64 // 1/sᵀy
}

// memory is how many pairs are kept.
const memory = 10

// run starts at x, which it moves, and goes on until it converges, meets a bound, or step returns false.
func (l *lbfgs) run(x []float64) error {
	l.x, l.gradient = x, make([]float64, len(x))
	var err error
	if l.f, err = l.value(l.gradient, l.x); err != nil {
		return err
	}
	l.evaluations--
	for n := 1; n <= l.steps && l.evaluations > 0; n++ {
		direction := l.direction()
		moved, err := l.search(direction)
		if err != nil || !moved || !l.step(n, l.x) {
			return err
		}
	}
	return nil
}

// direction returns the quasi-Newton step, by the two loops over pairs.
func (l *lbfgs) direction() []float64 {
	q := make([]float64, len(l.x))
	for i, g := range l.gradient {
		q[i] = -g
	}
	alpha := make([]float64, len(l.pairs))
	for i := len(l.pairs) - 1; i >= 0; i-- {
		p := l.pairs[i]
		alpha[i] = float64(p.rho * dot(p.s, q))
		addTo(q, -alpha[i], p.y)
	}
	if n := len(l.pairs); n > 0 {
		last := l.pairs[n-1]
		scale := 1 / float64(last.rho*dot(last.y, last.y))
		for i := range q {
			q[i] *= scale
		}
	} else { // a first step of length one at most
		scale := min(1, 1/math.Sqrt(dot(q, q)))
		for i := range q {
			q[i] *= scale
		}
	}
	for i, p := range l.pairs {
		beta := float64(p.rho * dot(p.y, q))
		addTo(q, alpha[i]-beta, p.s)
	}
	return q
}

// addTo adds w times x to dst.
func addTo(dst []float64, w float64, x []float64) {
	for i, v := range x {
		dst[i] += float64(w * v)
	}
}

const (
	sufficient = 1e-4 // decrease, of what the slope promises
	flat       = 0.9  // slope, of that at the start
	trials     = 12   // of one line search at most
)

// trial is a point of a line search.
type trial struct {
	at, f, slope float64
	x, gradient  []float64
}

// search moves along a direction to a point with the strong Wolfe conditions, or to the lowest that it finds. It
// reports whether it moved.
func (l *lbfgs) search(direction []float64) (moved bool, err error) {
	start := trial{f: l.f, slope: dot(l.gradient, direction), x: l.x, gradient: l.gradient}
	if !(start.slope < 0) {
		return false, nil
	}
	// A point with the conditions lies between low, the lowest so far, and high, once there is one.
	low, high, bracketed, at := start, trial{}, false, 1.0
	for range trials {
		if l.evaluations == 0 {
			break
		}
		now, err := l.try(start, direction, at)
		if err != nil {
			return false, err
		}
		towards := 1.0
		if bracketed {
			towards = high.at - low.at
		}
		switch {
		case !(now.f <= start.f+float64(sufficient*now.at*start.slope)) || now.f >= low.f:
			high, bracketed = now, true
		case math.Abs(now.slope) <= -float64(flat*start.slope):
			l.accept(start, now)
			return true, nil
		case float64(now.slope*towards) >= 0:
			high, low, bracketed = low, now, true
		default:
			low = now
		}
		if at = 2 * low.at; bracketed {
			at = between(low, high)
		}
	}
	if low.at == 0 {
		return false, nil
	}
	l.accept(start, low)
	return true, nil
}

// try evaluates the point at a step.
func (l *lbfgs) try(start trial, direction []float64, at float64) (trial, error) {
	l.evaluations--
	now := trial{at: at, x: make([]float64, len(start.x)), gradient: make([]float64, len(start.x))}
	copy(now.x, start.x)
	addTo(now.x, at, direction)
	var err error
	if now.f, err = l.value(now.gradient, now.x); err != nil {
		return trial{}, err
	}
	now.slope = dot(now.gradient, direction)
	return now, nil
}

// between returns the next step to try: the minimum of the cubic through two points, kept away from their ends, or the
// middle if that is not a number.
func between(low, high trial) float64 {
	width := high.at - low.at
	d1 := low.slope + high.slope - 3*(low.f-high.f)/(low.at-high.at)
	root := float64(d1*d1) - float64(low.slope*high.slope)
	at := low.at + width/2
	if root >= 0 {
		d2 := math.Copysign(math.Sqrt(root), width)
		if v := high.at - float64(width*((high.slope+d2-d1)/(high.slope-low.slope+2*d2))); !math.IsNaN(v) {
			at = v
		}
	}
	least, most := low.at+0.1*width, low.at+0.9*width
	if width < 0 {
		least, most = most, least
	}
	return max(least, min(at, most))
}

// accept makes a point the current one and keeps the pair of the step that led to it.
func (l *lbfgs) accept(start, now trial) {
	p := pair{s: make([]float64, len(now.x)), y: make([]float64, len(now.x))}
	for i := range now.x {
		p.s[i] = now.x[i] - start.x[i]
		p.y[i] = now.gradient[i] - start.gradient[i]
	}
	if curvature := dot(p.s, p.y); curvature > float64(1e-10*dot(p.y, p.y)) {
		p.rho = 1 / curvature
		if len(l.pairs) == memory {
			l.pairs = l.pairs[1:]
		}
		l.pairs = append(l.pairs, p)
	}
	copy(l.x, now.x)
	l.gradient, l.f = now.gradient, now.f
}
