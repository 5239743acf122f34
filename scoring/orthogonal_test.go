package scoring

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// referenceOrthogonal is Q of a block as a product of dense reflections.
func referenceOrthogonal(c Candidates, block int) matrix {
	n := c.Dim
	s := newStream(c.Seed, uint64(block), orthogonalTag)
	identity := func(i, j int) float64 {
		if i == j {
			return 1
		}
		return 0
	}
	product, signs := newMatrix(n, identity), make([]float64, n)
	for k := range n {
		w, squares := make([]float64, n), 0.0
		for j := k; j < n; j++ {
			w[j] = s.normal()
			squares += w[j] * w[j]
		}
		signs[k] = -math.Copysign(1, w[k])
		w[k] -= signs[k] * math.Sqrt(squares)
		squares = 0
		for _, v := range w {
			squares += v * v
		}
		product = product.times(newMatrix(n, func(i, j int) float64 { return identity(i, j) - 2*w[i]*w[j]/squares }))
	}
	return newMatrix(n, func(i, j int) float64 { return product.v[i*n+j] * signs[j] })
}

func TestOrthogonalDrawsAreRowsOfTheProduct(t *testing.T) {
	const sigma = 1.3
	for _, dim := range []int{1, 2, 3, 7, 20} {
		c := Candidates{Sampler: Orthogonal, Sigma: sigma, Seed: 7, Dim: dim, Count: 2*dim + 2}
		f := c.DrawAll()
		for i := range c.Count {
			q := referenceOrthogonal(c, i/dim)
			s := newStream(7, uint64(i), candidateTag)
			if got := s.phase(); got != f.Phase[i] {
				t.Errorf("phase %v, want %v", f.Phase[i], got)
			}
			length := math.Sqrt(2 * s.gamma(float64(dim)/2))
			for j := range dim {
				near(t, fmt.Sprintf("dim %d: number %d of candidate %d", dim, j, i), float64(f.Omega[i*dim+j]),
					q.v[j*dim+i%dim]*length/sigma, 1e-6*length)
			}
		}
	}
}

func TestOrthogonalRowsOfABlockAreOrthogonal(t *testing.T) {
	for _, dim := range []int{1, 5, 64, 130} {
		f := Candidates{Sampler: Orthogonal, Sigma: 0.7, Seed: 3, Dim: dim, Count: 2 * dim}.DrawAll()
		row := func(i int) []float32 { return f.Omega[i*dim : (i+1)*dim] }
		for block := range 2 {
			for i := block * dim; i < (block+1)*dim; i++ {
				for j := block * dim; j < i; j++ {
					scale := math.Sqrt(dot(row(i), row(i)) * dot(row(j), row(j)))
					near(t, fmt.Sprintf("dim %d: cosine of ω%d and ω%d", dim, i, j), dot(row(i), row(j))/scale, 0, 1e-6)
				}
			}
		}
	}
}

// kolmogorov is the greatest distance of the values' distribution from a distribution function.
func kolmogorov(values []float64, cdf func(x float64) float64) float64 {
	slices.Sort(values)
	worst := 0.0
	for i, x := range values {
		worst = max(worst, math.Abs(cdf(x)-(float64(i)+0.5)/float64(len(values))))
	}
	return worst
}

// TestOrthogonalDrawsHaveTheirDistribution: each candidate by itself is Gaussian, in every place of a block.
func TestOrthogonalDrawsHaveTheirDistribution(t *testing.T) {
	const dim, sigma, blocks = 6, 1.7, 8000
	f := Candidates{Sampler: Orthogonal, Sigma: sigma, Seed: 4, Dim: dim, Count: blocks * dim}.DrawAll()
	bound := 2.9 / math.Sqrt(blocks)
	for i := range dim {
		squares := make([]float64, blocks)
		for block := range blocks {
			row := f.Omega[(block*dim+i)*dim:][:dim]
			squares[block] = dot(row, row) * sigma * sigma
		}
		chi := func(x float64) float64 { return mathext.GammaIncReg(dim/2, x/2) }
		if d := kolmogorov(squares, chi); d > bound {
			t.Errorf("squared norm of row %d: distance %v from χ², want %v at most", i, d, bound)
		}
		for j := range dim {
			values := make([]float64, blocks)
			for block := range blocks {
				values[block] = float64(f.Omega[(block*dim+i)*dim+j]) * sigma
			}
			normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
			if d := kolmogorov(values, normal); d > bound {
				t.Errorf("number %d of row %d: distance %v from normal, want %v at most", j, i, d, bound)
			}
		}
	}
}

func TestOrthogonalCandidatesDependOnSeedAndIndexAlone(t *testing.T) {
	c := Candidates{Sampler: Orthogonal, Sigma: 1, Seed: 5, Dim: 17, Count: 100}
	all := c.DrawAll()
	for _, indices := range [][]int32{{99}, {0}, {50, 3, 99, 3, 16, 17}} {
		c.Count = int(slices.Max(indices)) + 1
		some := c.Draw(indices)
		for k, i := range indices {
			if !slices.Equal(some.Omega[k*17:(k+1)*17], all.Omega[i*17:(i+1)*17]) || some.Phase[k] != all.Phase[i] {
				t.Errorf("candidate %d changes with what else is drawn", i)
			}
		}
	}
}

func TestOrthogonalGoesWithRoundDistributionsAlone(t *testing.T) {
	for want, c := range map[string]Candidates{
		"sampler orthogonal does not go with distribution cauchy": {Distribution: Cauchy, Dim: 2},
		"does not go with distribution uniform":                   {Map: MapLinear, Distribution: Uniform, Dim: 2},
		"dim is 4097, want at most 4096 for the orthogonal":       {Dim: 1<<12 + 1},
	} {
		c.Sampler, c.Sigma, c.Count = Orthogonal, 1, 1
		err := c.Validate()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %q alone", err, want)
		}
	}
}

// samplerError is the root mean square kernel error of a sampler in units of that of independent draws.
func samplerError(c Candidates, sampler Sampler, seeds int) float64 {
	const points = 10
	k := exactKernel{c: c, factor: 2, of: gaussianKernel(c.Sigma)}
	x := normalRows(17, points, c.Dim)
	for i := range x {
		x[i] *= 0.6
	}
	errors := map[Sampler]float64{}
	for _, k.c.Sampler = range []Sampler{IID, sampler} {
		for k.c.Seed = range uint64(seeds) {
			errors[k.c.Sampler] += kernelError(k, x, points) / float64(seeds)
		}
	}
	return math.Sqrt(errors[sampler] / errors[IID])
}

// TestOrthogonalErrorIsBelowThatOfIID: as of structured draws, and for short rows too, since nothing is approximated.
func TestOrthogonalErrorIsBelowThatOfIID(t *testing.T) {
	for _, dim := range []int{8, 64} {
		c := Candidates{Sigma: math.Sqrt(float64(dim)), Dim: dim, Count: 2 * dim}
		ratio := samplerError(c, Orthogonal, 100)
		if !(ratio < 0.97) {
			t.Errorf("dim %d: root mean square error is %.3f of that of independent draws", dim, ratio)
		}
		t.Logf("dim %d: root mean square error is %.3f of that of independent draws", dim, ratio)
	}
}

func BenchmarkDrawOrthogonal(b *testing.B) {
	for b.Loop() {
		Candidates{Sampler: Orthogonal, Sigma: 1, Seed: 1, Dim: 784, Count: 784}.DrawAll()
	}
}
