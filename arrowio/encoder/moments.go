package encoder

import "math"

// maxLearned bounds the values that enter moments: the sum of the squares of 10^20 of them still
// fits float64.
const maxLearned = 1e140

// moment is the running mean and squared deviation of one dimension (Welford, Technometrics 4,
// 1962). Values are added one by one, so it depends only on their order.
type moment struct {
	n        int64
	mean, m2 float64
	lo, hi   float64
}

// add adds a finite value.
func (m *moment) add(v float64) {
	if m.n == 0 {
		m.lo, m.hi = v, v
	}
	m.n++
	m.lo, m.hi = min(m.lo, v), max(m.hi, v)
	d := v - m.mean
	m.mean += d / float64(m.n)
	// The conversion keeps the product from being fused with the sum, which would give other bits
	// on processors that can fuse.
	m.m2 += float64(d * (v - m.mean))
}

// merge adds the moments of other values (Chan, Golub and LeVeque). Its last bits depend on how the
// values were split up.
func (m *moment) merge(other moment) {
	switch {
	case other.n == 0:
		return
	case m.n == 0:
		*m = other
		return
	}
	a, b := float64(m.n), float64(other.n)
	d := other.mean - m.mean
	m.n += other.n
	m.mean += d * b / (a + b)
	m.m2 += other.m2 + d*d*a*b/(a+b)
	m.lo, m.hi = min(m.lo, other.lo), max(m.hi, other.hi)
}

// constant reports whether fewer than two different values were added.
func (m *moment) constant() bool { return m.n == 0 || m.lo == m.hi }

// nearlyConstant reports whether the values differ by no more than rounding.
func (m *moment) nearlyConstant() bool {
	const rounding = 1e-12
	return m.n == 0 || m.hi-m.lo <= rounding*max(math.Abs(m.lo), math.Abs(m.hi))
}

// scale returns the population standard deviation, or 1 if it is unusable as a divisor.
func (m *moment) scale() float64 {
	if m.constant() {
		return 1
	}
	s := math.Sqrt(m.m2 / float64(m.n))
	if !(s > 0) || math.IsInf(s, 0) {
		return 1
	}
	return s
}

// bernoulli returns the mean and the scale of an indicator that was set hits times in n rows.
func bernoulli(hits, n int64) (mean, scale float64) {
	if hits == 0 || hits >= n {
		return float64(count(hits > 0)), 1
	}
	mean = float64(hits) / float64(n)
	return mean, math.Sqrt(mean * (1 - mean))
}

// learnableNumber reports whether a value may enter moments.
func learnableNumber(v float64) bool { return math.Abs(v) <= maxLearned }
