package training

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// maxCholeskyCondition is the condition number above which a single λ is solved by eigendecomposition
// instead of Cholesky: beyond it the factor's last pivots are mostly rounding.
const maxCholeskyCondition = 1e13

// system is the ridge problem of one set of rows: (A + λI) θ_k = b_k, where A and b are the second moments
// of z and (z, y_k) over the rows, centred under an intercept and raw without one. It is the gradient of
// the objective set to zero; the intercept is then ȳ − θ·z̄ (Hastie, Tibshirani, Friedman, The Elements of
// Statistical Learning, §3.4.1).
type system struct {
	*moments
	intercept bool
	a         []float64 // [M*M], both triangles
	b         []float64 // [K*M], output-major
	scale     float64   // λ of level 1 on the relative grid
	weight    []float64 // [K] what the squared loss of an output is multiplied by when λ is chosen
}

func newSystem(s *Sums, intercept bool) (*system, error) {
	c, err := centre(s)
	if err != nil {
		return nil, err
	}
	sys := &system{moments: c, intercept: intercept, a: c.cov, b: c.cross}
	if !intercept {
		sys.a, sys.b = c.raw()
	}
	sys.scale = meanDiagonal(c.cov, c.features)
	if sys.scale == 0 {
		sys.scale = meanDiagonal(sys.a, c.features) // no feature varies: the raw moments are all there is
	}
	sys.weight = sys.outputWeights()
	return sys, nil
}

// raw returns the second moments about zero.
func (c *moments) raw() (a, b []float64) {
	a = make([]float64, len(c.cov))
	b = make([]float64, len(c.cross))
	for i, zi := range c.zMean {
		for j, zj := range c.zMean {
			a[i*c.features+j] = c.cov[i*c.features+j] + float64(zi*zj)
		}
	}
	for k, y := range c.yMean {
		for j, z := range c.zMean {
			b[k*c.features+j] = c.cross[k*c.features+j] + float64(y*z)
		}
	}
	return a, b
}

func meanDiagonal(a []float64, n int) float64 {
	sum := 0.0
	for i := range n {
		sum += a[i*n+i]
	}
	return sum / float64(n)
}

// outputWeights returns 1/var(y_k). A constant output has no variance: an intercept fits it exactly, so it
// has no say, and without one its mean square takes the place of the variance.
func (s *system) outputWeights() []float64 {
	w := make([]float64, s.outputs)
	for k := range w {
		size := s.yVar[k]
		if size == 0 && !s.intercept {
			size = s.yMean[k] * s.yMean[k]
		}
		if size > 0 {
			w[k] = 1 / size
		}
	}
	return w
}

// model completes weights [K*M], which it takes over, to a model. A feature without a second moment is
// constant (under an intercept) or zero: its weight is zero but for the rounding of the solution.
func (s *system) model(theta []float64, lambda float64) *Model {
	for j := range s.features {
		if s.a[j*s.features+j] == 0 {
			for k := range s.outputs {
				theta[k*s.features+j] = 0
			}
		}
	}
	m := &Model{
		Features: s.features, Outputs: s.outputs, Theta: theta,
		Intercept: make([]float64, s.outputs), Lambda: lambda, Loss: LossSquared,
	}
	if s.intercept {
		for k := range m.Intercept {
			sum := s.yMean[k]
			for j, t := range theta[k*s.features : (k+1)*s.features] {
				sum -= t * s.zMean[j]
			}
			m.Intercept[k] = sum
		}
	}
	return m
}

// solve returns the weights [K*M] for one λ.
func (s *system) solve(lambda float64) ([]float64, error) {
	shifted := mat.NewSymDense(s.features, append([]float64(nil), s.a...))
	for i := range s.features {
		shifted.SetSym(i, i, shifted.At(i, i)+lambda)
	}
	var factor mat.Cholesky
	if factor.Factorize(shifted) && factor.Cond() <= maxCholeskyCondition {
		var theta mat.Dense
		if err := factor.SolveTo(&theta, mat.NewDense(s.outputs, s.features, s.b).T()); err == nil {
			return transposed(&theta), nil
		}
	}
	eigen, err := decompose(s)
	if err != nil {
		return nil, err
	}
	return eigen.weights(lambda), nil
}

// transposed returns the values of m by columns.
func transposed(m *mat.Dense) []float64 {
	rows, columns := m.Dims()
	t := mat.NewDense(columns, rows, nil)
	t.Copy(m.T())
	return t.RawMatrix().Data
}

// spectrum is the eigendecomposition A = U diag(d) Uᵀ with the right-hand sides rotated into it. Every λ
// then costs one product: θ_k = U diag(1/(d+λ)) Uᵀ b_k.
type spectrum struct {
	features, outputs int

	values  []float64  // d, ascending, not negative
	vectors mat.Matrix // U, M×M
	rotated *mat.Dense // bᵀU, K×M
}

func decompose(s *system) (*spectrum, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(s.features, s.a), true) {
		return nil, fmt.Errorf("eigendecomposition of the %d by %d second moments of %d rows did not converge",
			s.features, s.features, s.rows)
	}
	e := &spectrum{
		features: s.features, outputs: s.outputs,
		values: eigen.Values(nil), vectors: eigen.RawQ(), rotated: new(mat.Dense),
	}
	for i, d := range e.values {
		e.values[i] = max(d, 0) // second moments have none below zero: it is rounding
	}
	e.rotated.Mul(mat.NewDense(s.outputs, s.features, s.b), e.vectors)
	return e, nil
}

// inverse returns 1/(d_i+λ). When λ drowns in the rounding of the largest eigenvalue it is the
// pseudo-inverse: eigenvalues that are zero up to rounding contribute nothing, which gives the solution
// of the smallest norm.
func (e *spectrum) inverse(i int, lambda float64) float64 {
	largest := e.values[e.features-1]
	d := e.values[i]
	if lambda <= 2*unit*largest {
		if d <= 2*unit*float64(e.features)*largest {
			return 0
		}
		return 1 / d
	}
	return 1 / (d + lambda)
}

// weights returns θ [K*M] for one λ.
func (e *spectrum) weights(lambda float64) []float64 {
	scaled := mat.DenseCopyOf(e.rotated)
	raw := scaled.RawMatrix().Data
	for i := range e.features {
		inverse := e.inverse(i, lambda)
		for k := range e.outputs {
			raw[k*e.features+i] *= inverse
		}
	}
	theta := mat.NewDense(e.outputs, e.features, nil)
	theta.Mul(scaled, e.vectors.T())
	return theta.RawMatrix().Data
}
