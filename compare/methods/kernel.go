package methods

import (
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/scoring"
)

// KernelFunction is a kernel k(x, x′) of two rows of one length.
type KernelFunction func(x, y []float32) float64

// KernelOf returns the kernel that features drawn from c approximate, (KernelFactor/M)·Σ φ(x)·φ(x′) → k(x, x′):
// Gaussian, Laplacian, Cauchy and Matérn of the orders ½, 3/2 and 5/2 for cosine (Rahimi and Recht, NIPS 2007), arc-cosine
// (Cho and Saul, NIPS 2009), xᵀx′/d for linear. How c samples, its seed and its count do not matter. It fails for other
// orders of Matérn, whose kernels have no closed form, and where c is not valid. Of a Mix it is the mean of the kernels of
// its scales.
func KernelOf(c scoring.Candidates) (KernelFunction, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("kernel of candidates: %w", err)
	}
	if len(c.Mix) > 0 {
		return mixedKernel(c)
	}
	switch c.Map {
	case scoring.MapCosine:
		return shiftInvariantKernel(c)
	case scoring.MapArcCosine0:
		return arcCosineKernel(0, c.Sigma), nil
	case scoring.MapArcCosine1:
		return arcCosineKernel(1, c.Sigma), nil
	case scoring.MapArcCosine2:
		return arcCosineKernel(2, c.Sigma), nil
	case scoring.MapLinear:
		return func(x, y []float32) float64 { return innerProduct(x, y) / float64(len(x)) }, nil
	}
	return nil, fmt.Errorf("the kernel of the %v map is not known", c.Map)
}

// shiftInvariantKernel returns the kernel of the cosine map.
func shiftInvariantKernel(c scoring.Candidates) (KernelFunction, error) {
	switch c.Distribution {
	case scoring.Gaussian:
		return func(x, y []float32) float64 {
			r := euclidean(x, y) / c.Sigma
			return math.Exp(-r * r / 2)
		}, nil
	case scoring.Cauchy:
		return func(x, y []float32) float64 { return math.Exp(-manhattan(x, y) / c.Sigma) }, nil
	case scoring.Laplace:
		return cauchyKernel(c.Sigma), nil
	case scoring.Matern:
		return maternKernel(c.Nu, c.Sigma)
	case scoring.Uniform:
	}
	return nil, fmt.Errorf("the kernel of distribution %v is not known", c.Distribution)
}

// mixedKernel is the mean of the kernels at the scales of a Mix, each of which as many candidates have.
func mixedKernel(c scoring.Candidates) (KernelFunction, error) {
	kernels := make([]KernelFunction, len(c.Mix))
	for i, scale := range c.Mix {
		one := c
		one.Mix, one.Sigma = nil, c.Sigma*scale
		var err error
		if kernels[i], err = KernelOf(one); err != nil {
			return nil, err
		}
	}
	return func(x, y []float32) float64 {
		sum := 0.0
		for _, k := range kernels {
			sum += k(x, y)
		}
		return sum / float64(len(kernels))
	}, nil
}

// KernelFactor returns what (1/M)·Σ φ(x)·φ(x′) has to be multiplied by to tend to the kernel: 2, or 1 for linear.
func KernelFactor(m scoring.Map) float64 {
	if m == scoring.MapLinear {
		return 1
	}
	return 2
}

// cauchyKernel is Π 1/(1 + (Δⱼ/σ)²).
func cauchyKernel(sigma float64) KernelFunction {
	return func(x, y []float32) float64 {
		product := 1.0
		for j, v := range x {
			r := (float64(v) - float64(y[j])) / sigma
			product /= 1 + float64(r*r)
		}
		return product
	}
}

// maternKernel returns the closed form for a half-integer order: a polynomial in r = √(2ν)·|Δ|₂/σ times exp(-r).
func maternKernel(nu, sigma float64) (KernelFunction, error) {
	var polynomial func(r float64) float64
	switch nu {
	case 0.5:
		polynomial = func(float64) float64 { return 1 }
	case 1.5:
		polynomial = func(r float64) float64 { return 1 + r }
	case 2.5:
		polynomial = func(r float64) float64 { return 1 + r + float64(r*r)/3 }
	default:
		return nil, fmt.Errorf("the matern kernel of order %v is not known in closed form, want 0.5, 1.5 or 2.5", nu)
	}
	unit := math.Sqrt(2*nu) / sigma
	return func(x, y []float32) float64 {
		r := euclidean(x, y) * unit
		return polynomial(r) * math.Exp(-r)
	}, nil
}

// arcCosineKernel is |x|ⁿ·|x′|ⁿ·Jₙ(θ)/(π·σ²ⁿ), θ the angle between the rows.
func arcCosineKernel(order int, sigma float64) KernelFunction {
	scale := 1 / (math.Pi * math.Pow(sigma, float64(2*order)))
	return func(x, y []float32) float64 {
		norms := math.Sqrt(innerProduct(x, x) * innerProduct(y, y))
		cosine := 0.0 // of a zero row: H(0) = ½ makes the kernel of order 0 that of orthogonal rows
		if norms > 0 {
			cosine = max(-1, min(innerProduct(x, y)/norms, 1))
		}
		return math.Pow(norms, float64(order)) * angular(order, math.Acos(cosine)) * scale
	}
}

// angular returns Jₙ(θ) of Cho and Saul.
func angular(order int, theta float64) float64 {
	sin, cos := math.Sincos(theta)
	switch order {
	case 0:
		return math.Pi - theta
	case 1:
		return sin + float64((math.Pi-theta)*cos)
	}
	return float64(3*sin*cos) + float64((math.Pi-theta)*(1+float64(2*cos*cos)))
}

// innerProduct returns xᵀy in float64.
func innerProduct(x, y []float32) float64 {
	y = y[:len(x)]
	sum := 0.0
	for i, v := range x {
		sum += float64(float64(v) * float64(y[i]))
	}
	return sum
}

// kernelMatrix returns k for all pairs of rows of x, row-major [rows·rows]; x is row-major [rows·dim].
func kernelMatrix(k KernelFunction, x []float32, rows, dim int) []float64 {
	matrix := make([]float64, rows*rows)
	parallel(rows, 8, func(first, next int) {
		for i := first; i < next; i++ {
			for j := range i + 1 {
				v := k(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim])
				matrix[i*rows+j], matrix[j*rows+i] = v, v
			}
		}
	})
	return matrix
}

// manhattan returns |x-y|₁.
func manhattan(x, y []float32) (sum float64) {
	for i, v := range x {
		sum += math.Abs(float64(v) - float64(y[i]))
	}
	return sum
}

// euclidean returns |x-y|₂.
func euclidean(x, y []float32) float64 {
	sum := 0.0
	for i, v := range x {
		d := float64(v) - float64(y[i])
		sum += float64(d * d)
	}
	return math.Sqrt(sum)
}
