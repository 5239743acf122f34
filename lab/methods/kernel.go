package methods

import (
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/scoring"
)

// kernelFunction is a kernel k(x, x′) of two rows of one length.
type kernelFunction func(x, y []float32) float64

// kernelOf returns the kernel that features drawn from c approximate, (kernelFactor/M)·Σ φ(x)·φ(x′)
// → k(x, x′): Gaussian, Laplacian and Cauchy for cosine (Rahimi and Recht, NIPS 2007), arc-cosine
// (Cho and Saul, NIPS 2009), xᵀx′/d for linear. It ignores seed and count, and fails if c is not
// valid.
func kernelOf(c scoring.Candidates) (kernelFunction, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("kernel of candidates: %w", err)
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
	return nil, fmt.Errorf("the %v map has no known kernel", c.Map)
}

// shiftInvariantKernel returns the kernel of the cosine map.
func shiftInvariantKernel(c scoring.Candidates) (kernelFunction, error) {
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
	default:
		return nil, fmt.Errorf("distribution %v has no known kernel", c.Distribution)
	}
}

// kernelFactor returns the factor with which (1/M)·Σ φ(x)·φ(x′) tends to the kernel: 2, or 1 for
// linear.
func kernelFactor(m scoring.Map) float64 {
	if m == scoring.MapLinear {
		return 1
	}
	return 2
}

// cauchyKernel is Π 1/(1 + (Δⱼ/σ)²).
func cauchyKernel(sigma float64) kernelFunction {
	return func(x, y []float32) float64 {
		product := 1.0
		for j, v := range x {
			r := (float64(v) - float64(y[j])) / sigma
			product /= 1 + float64(r*r)
		}
		return product
	}
}

// arcCosineKernel is |x|ⁿ·|x′|ⁿ·Jₙ(θ)/(π·σ²ⁿ), θ the angle between the rows.
func arcCosineKernel(order int, sigma float64) kernelFunction {
	scale := 1 / (math.Pi * math.Pow(sigma, float64(2*order)))
	return func(x, y []float32) float64 {
		norms := math.Sqrt(innerProduct(x, x) * innerProduct(y, y))
		cosine := 0.0 // the cosine for a zero row: with H(0) = ½, it has the kernel of order 0 of orthogonal rows
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
		sum += float64(v) * float64(y[i])
	}
	return sum
}

// kernelMatrix returns k for all pairs of rows of x, row-major [rows·rows]; x is row-major
// [rows·dim].
func kernelMatrix(k kernelFunction, x []float32, rows, dim int) []float64 {
	matrix := make([]float64, rows*rows)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range rows {
		group.Go(func() error {
			for j := range i + 1 {
				v := k(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim])
				matrix[i*rows+j], matrix[j*rows+i] = v, v
			}
			return nil
		})
	}
	_ = group.Wait() // no task returns an error
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
