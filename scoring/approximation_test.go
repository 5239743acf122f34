package scoring

import (
	"math"
	"testing"
)

// exactKernel is a kernel that draws of c approximate: (factor/M) Σ φ(x)φ(x′) tends to of(x, x′).
type exactKernel struct {
	name   string
	c      Candidates
	factor float64
	of     func(x, y []float32) float64
}

// exactKernels are the kernels of every feature map and distribution. The bandwidth is not 1, so
// that a misplaced one shows.
func exactKernels() []exactKernel {
	const sigma = 1.4
	cosine := func(d Distribution) Candidates { return Candidates{Distribution: d, Sigma: sigma, Dim: 4} }
	arc := func(m Map) Candidates { return Candidates{Map: m, Sigma: 1, Dim: 4} }
	return []exactKernel{
		{"gaussian", cosine(Gaussian), 2, gaussianKernel(sigma)},
		{"laplacian", cosine(Cauchy), 2, func(x, y []float32) float64 {
			sum := 0.0
			for i := range x {
				sum += math.Abs(float64(x[i] - y[i]))
			}
			return math.Exp(-sum / sigma)
		}},
		{"cauchy", cosine(Laplace), 2, func(x, y []float32) float64 {
			product := 1.0
			for i := range x {
				r := float64(x[i]-y[i]) / sigma
				product /= 1 + r*r
			}
			return product
		}},
		{"arc-cosine 0", arc(MapArcCosine0), 2, arcCosine(0)},
		{"arc-cosine 1", arc(MapArcCosine1), 2, arcCosine(1)},
		{"arc-cosine 2", arc(MapArcCosine2), 2, arcCosine(2)},
		{"linear", Candidates{Map: MapLinear, Sigma: 1, Dim: 8192}, 1, func(x, y []float32) float64 {
			return dot(x, y) / float64(len(x))
		}},
	}
}

// gaussianKernel is exp(-|Δ|²/2σ²).
func gaussianKernel(sigma float64) func(x, y []float32) float64 {
	return func(x, y []float32) float64 {
		r := l2(x, y) / sigma
		return math.Exp(-r * r / 2)
	}
}

func l2(x, y []float32) float64 { return euclidean(x, y) }

// arcCosine is Cho and Saul's kernel |x|ⁿ|y|ⁿJₙ(θ)/π.
func arcCosine(n int) func(x, y []float32) float64 {
	return func(x, y []float32) float64 {
		norm := math.Sqrt(dot(x, x) * dot(y, y))
		theta := math.Acos(max(-1, min(dot(x, y)/norm, 1)))
		sin, cos := math.Sincos(theta)
		j := [...]float64{math.Pi - theta, sin + (math.Pi-theta)*cos, 3*sin*cos + (math.Pi-theta)*(1+2*cos*cos)}[n]
		return math.Pow(norm, float64(n)) * j / math.Pi
	}
}

// TestFeaturesApproximateTheirKernels: the root mean square error over pairs of points must fall as
// 1/√M, which a bias of any size would flatten.
func TestFeaturesApproximateTheirKernels(t *testing.T) {
	const points, seeds = 12, 10
	for _, k := range exactKernels() {
		t.Run(k.name, func(t *testing.T) {
			counts := []int{32, 256, 2048, 8192}
			if k.c.Map == MapLinear {
				// Sampling without replacement gives the exact kernel once all coordinates are
				// drawn.
				counts = []int{4, 16, 64, 256}
			}
			x := normalRows(17, points, k.c.Dim)
			if k.c.Map != MapLinear {
				for i := range x {
					x[i] *= 0.6
				}
			}
			var logs []float64
			for _, m := range counts {
				squares := 0.0
				for seed := range uint64(seeds) {
					k.c.Seed, k.c.Count = 100+seed, m
					squares += kernelError(k, x, points) / seeds
				}
				logs = append(logs, math.Log(squares)/2)
			}
			slope := fitSlope(counts, logs)
			near(t, "slope", slope, -0.5, 0.09)
			t.Logf("slope %.3f, error with %d features %.4f", slope, counts[3], math.Exp(logs[3]))
		})
	}
}

// kernelError is the mean square error over all pairs of points.
func kernelError(k exactKernel, x []float32, points int) float64 {
	m, dim := k.c.Count, k.c.Dim
	phi := transform(k.c.DrawAll(), x, points)
	sum, pairs := 0.0, 0.0
	for i := range points {
		for j := range i {
			estimate := k.factor / float64(m) * dot(phi[i*m:(i+1)*m], phi[j*m:(j+1)*m])
			e := estimate - k.of(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim])
			sum, pairs = sum+e*e, pairs+1
		}
	}
	return sum / pairs
}

// fitSlope is the least-squares slope of y over log counts.
func fitSlope(counts []int, y []float64) float64 {
	n := float64(len(y))
	sx := 0.0
	sy := 0.0
	sxx := 0.0
	sxy := 0.0
	for i, c := range counts {
		x := math.Log(float64(c))
		sx = sx + x
		sy = sy + y[i]
		sxx = sxx + x*x
		sxy = sxy + x*y[i]
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
