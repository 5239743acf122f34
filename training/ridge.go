package training

import (
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/training/internal/gram"
	"github.com/eerf-stream/eerf/training/internal/kernel"
	"github.com/eerf-stream/eerf/training/internal/linear"
)

// system is the ridge problem for one set of rows: (A + λI) θ_k = b_k, where A and b are the second
// moments of z and (z, y_k) over the rows, centred with an intercept and raw without one. It is the
// gradient of the objective set to zero. The intercept is then ȳ − θ·z̄ (Hastie, Tibshirani,
// Friedman, The Elements of Statistical Learning, §3.4.1).
type system struct {
	*moments
	intercept bool
	a         *linear.Matrix // M×M, the upper triangle
	b         []float64      // [K*M], output-major
	scale     float64        // λ of level 1 on the relative grid
	rounding  float64        // about the norm of the rounding errors of A
	weight    []float64      // [K] factors of the squared loss of each output when λ is chosen
}

func newSystem(g *gram.Moments, intercept bool) (*system, error) {
	c, err := centre(g)
	if err != nil {
		return nil, err
	}
	sys := &system{moments: c, intercept: intercept, a: c.cov, b: c.cross}
	if !intercept {
		sys.a, sys.b = c.raw()
	}
	sys.scale = meanDiagonal(c.cov)
	if sys.scale == 0 {
		sys.scale = meanDiagonal(sys.a) // no feature varies: only the raw moments are left
	}
	sys.rounding = roundingOf(c)
	if sys.rounding == 0 {
		sys.rounding = unit * sys.scale
	}
	sys.weight = sys.outputWeights()
	return sys, nil
}

// roundingOf estimates the norm of the rounding errors of cov(z). In every block of rows each
// element is off by about one unit in the last place of float32. Over blocks these errors average
// out: 2⁻²⁴‖A‖_F/√blocks.
func roundingOf(c *moments) float64 {
	return unit * c.cov.SymmetricNorm() / math.Sqrt(max(1, float64(c.rows)/kernel.BlockRows))
}

// raw returns the second moments about zero.
func (c *moments) raw() (a *linear.Matrix, b []float64) {
	a = c.cov.Clone()
	b = make([]float64, len(c.cross))
	for j, zj := range c.zMean {
		for i, zi := range c.zMean[:j+1] {
			a.Set(i, j, a.At(i, j)+float64(zi*zj))
		}
	}
	for k, y := range c.yMean {
		for j, z := range c.zMean {
			b[k*c.features+j] = c.cross[k*c.features+j] + float64(y*z)
		}
	}
	return a, b
}

func meanDiagonal(a *linear.Matrix) float64 {
	sum := 0.0
	for i := range a.Rows() {
		sum += a.At(i, i)
	}
	return sum / float64(a.Rows())
}

// outputWeights returns 1/var(y_k). A constant output has no variance: with an intercept it is
// fitted exactly and gets weight 0; without one its mean square replaces the variance.
func (s *system) outputWeights() []float64 {
	w := make([]float64, s.outputs)
	for k := range w {
		size := s.yVar[k]
		if size == 0 && !s.intercept {
			size = float64(s.yMean[k] * s.yMean[k])
		}
		if size > 0 {
			w[k] = 1 / size
		}
	}
	return w
}

// lambda returns the λ for a level. Below a quarter of the rounding of A, λ would fit rounding
// errors, so it is raised to that quarter.
func (s *system) lambda(g Grid, level float64) float64 {
	if g.relative() {
		level *= s.scale
	}
	return max(level, s.rounding/4)
}

// errIndefinite reports that no λ made the second moments positive definite.
func errIndefinite(features int, rows float64) error {
	return fmt.Errorf("second moments of %d features and %v rows are not positive definite", features, rows)
}

// solution is the answer for one λ.
type solution struct {
	model        *Model
	inverseTrace float64 // tr (A + λI)⁻¹, if requested
}

// maxDoublings is how often λ is doubled if A + λI is not positive definite.
const maxDoublings = 64

// solve returns the answer for one λ. factor provides memory. If rounding makes A + λI indefinite,
// or nearly so, λ is doubled until it is definite.
func (s *system) solve(lambda float64, factor *linear.Cholesky, trace bool) (solution, error) {
	if lambda == 0 {
		lambda = 1 // nothing varies: A and b are zero
	}
	for range maxDoublings {
		if !s.factor(lambda, factor) {
			lambda *= 2
			continue
		}
		answer := solution{model: s.model(factor, lambda)}
		if trace {
			answer.inverseTrace = factor.InverseTrace()
		}
		return answer, nil
	}
	return solution{}, errIndefinite(s.features, s.rows)
}

// Ridge fits one λ = level·scale with an intercept. A scale of 0 stands for the mean variance of
// the features. Ridge returns the scale that it used. A λ that would be lost in the rounding of the
// sums is raised. It panics if there are no rows.
func (s *Sums) Ridge(level, scale float64) (model *Model, used float64, err error) {
	if s.Rows == 0 {
		panic("training: ridge on no rows")
	}
	sys, err := newSystem(s.gram.Settled(), true)
	if err != nil {
		return nil, 0, fmt.Errorf("ridge on %d rows: %w", s.Rows, err)
	}
	if scale == 0 {
		scale = sys.scale
	}
	answer, err := sys.solve(max(level*scale, sys.rounding/4), linear.NewCholesky(s.features), false)
	if err != nil {
		return nil, 0, fmt.Errorf("ridge on %d rows: %w", s.Rows, err)
	}
	return answer.model, scale, nil
}

// factor factors A + λI. If rounding could outweigh λ, A + ¾λI must be definite as well, so that a
// margin of a quarter of λ remains.
func (s *system) factor(lambda float64, factor *linear.Cholesky) bool {
	if lambda < s.rounding && !factor.Factor(s.a, 0.75*lambda) {
		return false
	}
	return factor.Factor(s.a, lambda)
}

// model returns the model for λ, given the factor of A + λI.
func (s *system) model(factor *linear.Cholesky, lambda float64) *Model {
	theta := linear.NewMatrix(s.features, s.outputs)
	for k := range s.outputs {
		for j := range s.features {
			theta.Set(j, k, s.b[k*s.features+j])
		}
	}
	factor.Solve(theta)
	m := &Model{
		Features: s.features, Outputs: s.outputs, Lambda: lambda, Loss: LossSquared,
		Theta: make([]float64, s.outputs*s.features), Intercept: make([]float64, s.outputs),
	}
	for k := range s.outputs {
		for j := range s.features {
			// A feature without a second moment is constant (with an intercept) or zero: its weight
			// is rounding.
			if s.a.At(j, j) > 0 {
				m.Theta[k*s.features+j] = theta.At(j, k)
			}
		}
		if s.intercept {
			m.Intercept[k] = s.interceptOf(m.Theta[k*s.features:(k+1)*s.features], k)
		}
	}
	return m
}

// interceptOf returns the intercept ȳ_k − θ·z̄ of output k.
func (s *system) interceptOf(theta []float64, k int) float64 {
	sum := s.yMean[k]
	for j, t := range theta {
		sum -= float64(t * s.zMean[j])
	}
	return sum
}

// copyWeights copies θ to K columns of dst, M×K.
func (m *Model) copyWeights(dst *linear.Matrix, column int) {
	for k := range m.Outputs {
		for j, t := range m.Theta[k*m.Features : (k+1)*m.Features] {
			dst.Set(j, column+k, t)
		}
	}
}
