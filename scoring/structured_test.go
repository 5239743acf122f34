package scoring

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"
)

// matrix is square, row-major float64.
type matrix struct {
	n int
	v []float64
}

func newMatrix(n int, entry func(i, j int) float64) matrix {
	m := matrix{n, make([]float64, n*n)}
	for i := range n {
		for j := range n {
			m.v[i*n+j] = entry(i, j)
		}
	}
	return m
}

// times is the product by the definition.
func (a matrix) times(b matrix) matrix {
	return newMatrix(a.n, func(i, j int) float64 {
		sum := 0.0
		for k := range a.n {
			sum += a.v[i*a.n+k] * b.v[k*a.n+j]
		}
		return sum
	})
}

func TestStructuredDrawsAreRowsOfTheProduct(t *testing.T) {
	for _, dim := range []int{1, 3, 63, 64, 65, 100, 128} {
		n := max(64, 1<<bits.Len(uint(dim-1)))
		c := Candidates{Sampler: Structured, Sigma: 1.3, Seed: 7, Dim: dim, Count: 2*n + 5}
		f := c.DrawAll()
		h := newMatrix(n, func(i, j int) float64 { return 1 - 2*float64(bits.OnesCount(uint(i&j))%2) })
		for block := range 3 {
			// The signs as the words of the stream give them, bit by bit.
			words := newStream(7, uint64(block), structuredTag).words
			var signs []float64
			for len(signs) < 3*n {
				word := words.Uint64()
				for range 64 {
					signs = append(signs, 1-2*float64(word&1))
					word >>= 1
				}
			}
			w := newMatrix(n, func(i, j int) float64 { return 0 })
			for j := range n {
				w.v[j*n+j] = 1
			}
			for k := range 3 {
				d := newMatrix(n, func(i, j int) float64 {
					if i == j {
						return signs[k*n+i]
					}
					return 0
				})
				w = w.times(h).times(d)
			}
			for i := range min(n, c.Count-block*n) {
				for j := range dim {
					got, want := f.Omega[(block*n+i)*dim+j], float32(w.v[i*n+j]/(float64(n)*1.3))
					if got != want {
						t.Fatalf("dim %d: number %d of candidate %d is %v, want %v", dim, j, block*n+i, got, want)
					}
				}
			}
		}
	}
}

func TestStructuredRowsOfABlockAreOrthogonal(t *testing.T) {
	const sigma = 0.7
	for _, dim := range []int{64, 256, 1024} {
		c := Candidates{Sampler: Structured, Sigma: sigma, Seed: 3, Dim: dim, Count: 2 * dim}
		f := c.Draw([]int32{int32(dim), int32(dim + 1), int32(dim + 7), int32(2*dim - 1)})
		for i := range f.Len() {
			for j := range i + 1 {
				want := 0.0
				if i == j {
					want = float64(dim) / sigma / sigma
				}
				got := dot(f.Omega[i*dim:(i+1)*dim], f.Omega[j*dim:(j+1)*dim])
				near(t, fmt.Sprintf("dim %d: ω%d·ω%d", dim, i, j), got, want, 1e-5*float64(dim))
			}
		}
	}
}

func TestStructuredPhasesAreThoseOfIID(t *testing.T) {
	iid := Candidates{Sigma: 1, Seed: 5, Dim: 3, Count: 200}
	structured := iid
	structured.Sampler = Structured
	if !slices.Equal(iid.DrawAll().Phase, structured.DrawAll().Phase) {
		t.Error("phases differ")
	}
}

func TestStructuredCandidatesOfManyBlocksDependOnSeedAndIndexAlone(t *testing.T) {
	c := Candidates{Sampler: Structured, Sigma: 1, Seed: 5, Dim: 70, Count: 700}
	all := c.DrawAll()
	fewer := c
	fewer.Count = 300
	if !slices.Equal(fewer.DrawAll().Omega, all.Omega[:300*70]) {
		t.Error("the first candidates change with the count")
	}
	for _, i := range []int32{699, 0, 128, 127, 699} {
		if !slices.Equal(c.Draw([]int32{i}).Omega, all.Omega[i*70:(i+1)*70]) {
			t.Errorf("candidate %d changes with what else is drawn", i)
		}
	}
	if slices.Equal(all.Omega[:70], all.Omega[128*70:129*70]) {
		t.Error("two blocks have the same rows")
	}
}

func TestStructuredGoesWithGaussianAlone(t *testing.T) {
	base := Candidates{Sampler: Structured, Sigma: 1, Dim: 2, Count: 1}
	for _, m := range []Map{MapCosine, MapArcCosine0, MapArcCosine1, MapArcCosine2} {
		c := base
		c.Map = m
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
	for want, c := range map[string]Candidates{
		"sampler structured does not go with distribution cauchy": {Distribution: Cauchy, Dim: 2},
		"sampler structured does not go with distribution matern": {Distribution: Matern, Nu: 1.5, Dim: 2},
		"does not go with distribution uniform":                   {Map: MapLinear, Distribution: Uniform, Dim: 2},
		"dim is 65537, want at most 65536 for the structured":     {Dim: 1<<16 + 1},
	} {
		c.Sampler, c.Sigma, c.Count = Structured, 1, 1
		err := c.Validate()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %q alone", err, want)
		}
	}
}

// TestStructuredErrorIsBelowThatOfIID: orthogonal rows know more of the kernel than independent ones (Yu et al., theorem 3).
// Random phases, which pairs of a sine and a cosine do not have, hide a part of the gain.
func TestStructuredErrorIsBelowThatOfIID(t *testing.T) {
	const dim, seeds, points = 64, 60, 10
	k := exactKernel{c: Candidates{Sigma: 8, Dim: dim, Count: 2 * dim}, factor: 2, of: gaussianKernel(8)}
	x := normalRows(17, points, dim)
	for i := range x {
		x[i] *= 0.6
	}
	errors := map[Sampler]float64{}
	for _, k.c.Sampler = range []Sampler{IID, Structured} {
		for k.c.Seed = range uint64(seeds) {
			errors[k.c.Sampler] += kernelError(k, x, points) / seeds
		}
	}
	ratio := math.Sqrt(errors[Structured] / errors[IID])
	if !(ratio < 0.97) {
		t.Errorf("root mean square error is %.3f of that of independent draws", ratio)
	}
	t.Logf("root mean square error is %.3f of that of independent draws", ratio)
}
