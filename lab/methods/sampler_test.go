package methods

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/eerf-stream/eerf/scoring"
)

// random is the source of these tests.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 5)) }

// Features of every sampler approximate the kernel of independent features, and better than the
// same number of independent ones.
func TestSamplersApproximateTheKernel(t *testing.T) {
	x := normalRows(2, 6, 8)
	for name, draw := range map[string]sampler{"orthogonal": orthogonal, "structured": structured, "halton": halton} {
		for _, d := range []scoring.Distribution{scoring.Gaussian, scoring.Cauchy, scoring.Laplace} {
			if d != scoring.Gaussian && name != "halton" {
				continue
			}
			c := scoring.Candidates{Distribution: d, Sigma: 3, Seed: 1, Dim: 8, Count: 4096}
			k, err := kernelOf(c)
			if err != nil {
				t.Fatal(err)
			}
			omega, phase := draw(c, c.Count, random(1))
			f := drawn(c, omega, phase)
			if err := f.Validate(); err != nil {
				t.Fatal(err)
			}
			phi := features(f, x, 6)
			for i := range 6 {
				for j := range i {
					got := 2 * mat.Dot(phi.RowView(i), phi.RowView(j)) / float64(c.Count)
					near(t, name+" "+d.String(), got, k(x[i*8:i*8+8], x[j*8:j*8+8]), 0.05)
				}
			}
		}
	}
}

// Rows of a block are orthogonal; structured ones, cut out of longer rows, nearly so where nothing
// is cut.
func TestBlocksAreOrthogonal(t *testing.T) {
	for name, draw := range map[string]sampler{"orthogonal": orthogonal, "structured": structured} {
		const dim = 64
		omega, _ := draw(scoring.Candidates{Dim: dim}, 2*dim, random(3))
		for i := range dim {
			for j := range i {
				near(t, name, mat.Dot(omega.RowView(i), omega.RowView(j)), 0, 1e-9)
			}
		}
		length := 0.0
		for i := range 2 * dim {
			length += mat.Dot(omega.RowView(i), omega.RowView(i)) / (2 * dim)
		}
		near(t, name+": squared length", length, dim, 5*math.Sqrt(2*dim/(2*dim))*math.Sqrt(2))
	}
}
