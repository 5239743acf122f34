package adaptive

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestEigenOfRandomMatrices(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 17, 64, 100} {
		for _, rank := range []int{n, (n + 1) / 2, 1} {
			a := randomPSD(n, rank)
			original := append([]float64(nil), a...)
			values, vectors := eigen(a, n)
			size := 0.0
			for i := range n {
				size += original[i*n+i]
			}
			for i := range n {
				v := vectors[i*n : (i+1)*n]
				for j := range n { // A v = λ v
					if got := dot(original[j*n:(j+1)*n], v) - values[i]*v[j]; math.Abs(got) > 1e-12*size {
						t.Fatalf("n %d, rank %d: row %d of A v − λ v is %g", n, rank, j, got)
					}
				}
				for j := range i + 1 {
					want := 0.0
					if i == j {
						want = 1
					}
					if got := dot(v, vectors[j*n:(j+1)*n]); math.Abs(got-want) > 1e-12 {
						t.Fatalf("n %d, rank %d: vectors %d and %d have the product %g", n, rank, i, j, got)
					}
				}
			}
		}
	}
}

func TestFactorOfRandomMatrices(t *testing.T) {
	for _, n := range []int{1, 2, 7, 40} {
		for _, rank := range []int{n, (n + 1) / 2} {
			a := randomPSD(n, rank)
			l := factor(a, n)
			for i := range n {
				for j := range n {
					if got := dot(l[i*n:(i+1)*n], l[j*n:(j+1)*n]); math.Abs(got-a[i*n+j]) > 1e-5*a[i*n+i]+1e-5*a[j*n+j] {
						t.Fatalf("n %d, rank %d: element %d, %d is %g, want %g", n, rank, i, j, got, a[i*n+j])
					}
				}
			}
		}
	}
}

// randomPSD returns a matrix BᵀB of the given rank.
func randomPSD(n, rank int) []float64 {
	random := rand.New(rand.NewPCG(uint64(n), uint64(rank)))
	b := make([]float64, rank*n)
	for i := range b {
		b[i] = random.NormFloat64()
	}
	a := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for r := range rank {
				a[i*n+j] += b[r*n+i] * b[r*n+j]
			}
		}
	}
	return a
}
