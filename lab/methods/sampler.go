package methods

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/gonum/stat/samplemv"

	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/scoring"
)

var orf = bySampler(orthogonal, refusesButGaussian, &compare.Method{
	Name: "orf", Title: "orthogonal random features (ORF)",
	Source:  "Yu, Suresh, Choromanski, Holtmann-Rice, Kumar, NeurIPS 2016",
	Summary: "M features drawn in blocks of d orthogonal directions with the lengths of Gaussian vectors.",
})

var sorf = bySampler(structured, refusesButGaussian, &compare.Method{
	Name: "sorf", Title: "structured orthogonal random features (SORF)",
	Source:  "Yu, Suresh, Choromanski, Holtmann-Rice, Kumar, NeurIPS 2016",
	Summary: "As orf, with directions from sign changes and Hadamard transforms.",
})

var quasi = bySampler(halton, refusesLinear, &compare.Method{
	Name: "qmc", Title: "quasi-Monte Carlo features",
	Source:  "Avron, Sindhwani, Yang, Mahoney, JMLR 17, 2016",
	Summary: "The first M points of a scrambled Halton sequence through the quantile function of the distribution.",
})

// sampler draws count features for candidates c: the frequencies times σ in omega, row-major
// [count·Dim], and for each a number in [0, 1) that becomes its phase.
type sampler func(c scoring.Candidates, count int, random *rand.Rand) (omega *mat.Dense, phase []float64)

// bySampler completes a method that draws its M features with a sampler.
func bySampler(draw sampler, refuses func(compare.Options) string, m *compare.Method) *compare.Method {
	m.Refuses = refuses
	m.Select = func(_ context.Context, t *compare.Trial) (*compare.Selected, error) {
		c := t.Candidates()
		if c.Dim > maxDim {
			return nil, fmt.Errorf("%d columns: at most %d", c.Dim, maxDim)
		}
		omega, phase := draw(c, t.M, rand.New(rand.NewPCG(t.Seed, samplerTag)))
		set := &scoring.FeatureSet{
			Features: drawn(c, omega, phase), Index: make([]int32, t.M), Score: make([]float64, t.M), Scale: scaleOf(t.M),
		}
		for i := range set.Index {
			set.Index[i] = int32(i)
		}
		return &compare.Selected{Set: set}, nil
	}
	return m
}

const (
	// maxDim bounds the columns: a scrambled Halton sequence has at most 1000 coordinates, one of
	// them the phase.
	maxDim = 999
	// samplerTag separates the draws of samplers from other draws with the same seed.
	samplerTag = 0x6472617773
)

// refusesLinear refuses the linear map, which has no frequencies.
func refusesLinear(o compare.Options) string {
	if o.Map == scoring.MapLinear {
		return "the linear map has no frequencies"
	}
	return ""
}

// refusesButGaussian also refuses distributions that prefer some directions.
func refusesButGaussian(o compare.Options) string {
	if reason := refusesLinear(o); reason != "" {
		return reason
	}
	if o.Distribution != scoring.Gaussian {
		return fmt.Sprintf("orthogonal directions need the gaussian distribution, not %v", o.Distribution)
	}
	return ""
}

// drawn makes features at the bandwidth of c.
func drawn(c scoring.Candidates, omega *mat.Dense, phase []float64) *scoring.Features {
	f := &scoring.Features{Map: c.Map, Dim: c.Dim}
	for _, w := range omega.RawMatrix().Data {
		f.Omega = append(f.Omega, float32(w/c.Sigma))
	}
	if c.Map == scoring.MapCosine {
		for _, u := range phase {
			f.Phase = append(f.Phase, float32(2*math.Pi*math.Min(u, 1-0x1p-20)))
		}
	}
	return f
}

// uniforms returns n numbers in [0, 1).
func uniforms(n int, random *rand.Rand) []float64 {
	u := make([]float64, n)
	for i := range u {
		u[i] = random.Float64()
	}
	return u
}

// orthogonal draws blocks of d rows diag(χ)·Q. Q is a uniformly distributed orthogonal matrix (Haar
// measure), from the QR decomposition of a Gaussian matrix with R's diagonal made positive, and χ
// are the lengths of independent Gaussian vectors.
func orthogonal(c scoring.Candidates, count int, random *rand.Rand) (omega *mat.Dense, phase []float64) {
	omega = mat.NewDense(count, c.Dim, nil)
	gaussian := mat.NewDense(c.Dim, c.Dim, nil)
	var qr mat.QR
	var q, r mat.Dense
	for first := 0; first < count; first += c.Dim {
		data := gaussian.RawMatrix().Data
		for i := range data {
			data[i] = random.NormFloat64()
		}
		qr.Factorize(gaussian)
		q.Reset()
		r.Reset()
		qr.QTo(&q)
		qr.RTo(&r)
		for k := range min(c.Dim, count-first) {
			length := math.Copysign(chi(c.Dim, random), r.At(k, k))
			for j := range c.Dim {
				omega.Set(first+k, j, length*q.At(j, k))
			}
		}
	}
	return omega, uniforms(count, random)
}

// chi draws the length of a Gaussian vector.
func chi(dim int, random *rand.Rand) float64 {
	sum := 0.0
	for range dim {
		v := random.NormFloat64()
		sum += v * v
	}
	return math.Sqrt(sum)
}

// minOrder is the least order of a structured block. Its rows all have the same length, unlike
// Gaussian vectors. Cut out of at least 64 numbers, they are close enough to Gaussian in any
// dimension.
const minOrder = 64

// structured draws the first d numbers of each row of blocks W = 1/n·H·D₁·H·D₂·H·D₃. n is the least
// power of two that is at least d and minOrder, H the unnormalised Hadamard matrix, and D are
// diagonals of random signs.
func structured(c scoring.Candidates, count int, random *rand.Rand) (omega *mat.Dense, phase []float64) {
	n := max(1<<bits.Len(uint(c.Dim-1)), minOrder)
	omega = mat.NewDense(count, c.Dim, nil)
	signs, row := make([]float64, 3*n), make([]float64, n)
	for i := range count {
		if i%n == 0 {
			for k := range signs {
				signs[k] = float64(1 - 2*random.IntN(2))
			}
		}
		for j := range row { // row i mod n of H
			row[j] = float64(1 - 2*(bits.OnesCount(uint(i%n&j))%2))
		}
		for block := range 2 {
			multiply(row, signs[block*n:])
			hadamard(row)
		}
		multiply(row, signs[2*n:])
		for j := range c.Dim {
			omega.Set(i, j, row[j]/float64(n))
		}
	}
	return omega, uniforms(count, random)
}

func multiply(row, by []float64) {
	for j := range row {
		row[j] *= by[j]
	}
}

// hadamard multiplies by the Hadamard matrix.
func hadamard(row []float64) {
	for half := 1; half < len(row); half *= 2 {
		for first := 0; first < len(row); first += 2 * half {
			for j := first; j < first+half; j++ {
				row[j], row[j+half] = row[j]+row[j+half], row[j]-row[j+half]
			}
		}
	}
}

// halton draws the points of a scrambled Halton sequence: the first coordinate is the phase.
func halton(c scoring.Candidates, count int, random *rand.Rand) (omega *mat.Dense, phase []float64) {
	points := mat.NewDense(count, c.Dim+1, nil)
	samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(c.Dim+1, nil), Src: random}.Sample(points)
	omega, phase = mat.NewDense(count, c.Dim, nil), make([]float64, count)
	for i := range count {
		phase[i] = points.At(i, 0)
		for j := range c.Dim {
			omega.Set(i, j, quantile(c.Distribution, min(max(points.At(i, j+1), 0x1p-53), 1-0x1p-53)))
		}
	}
	return omega, phase
}

// quantile is the quantile function of the frequencies at σ = 1.
func quantile(d scoring.Distribution, u float64) float64 {
	switch d {
	case scoring.Gaussian:
		return distuv.UnitNormal.Quantile(u)
	case scoring.Cauchy:
		return math.Tan(math.Pi * (u - 0.5))
	case scoring.Laplace:
		return distuv.Laplace{Scale: 1}.Quantile(u)
	default:
		panic(fmt.Sprintf("methods: distribution %v has no quantile function", d))
	}
}

// scaleOf returns the scale factor of a map with m features, 1/√m.
func scaleOf(m int) float32 { return float32(1 / math.Sqrt(float64(m))) }
