package adaptive

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/cespare/xxhash/v2"
	"gonum.org/v1/gonum/mat"
)

// randomPSD returns a matrix BᵀB of the given rank.
func randomPSD(n, rank int) *mat.SymDense {
	random := rand.New(rand.NewPCG(uint64(n), uint64(rank)))
	b := mat.NewDense(rank, n, nil)
	for r := range rank {
		for j := range n {
			b.Set(r, j, random.NormFloat64())
		}
	}
	a := new(mat.SymDense)
	a.SymOuterK(1, b.T())
	return a
}

func TestFactorTimesIdentityIsAFactor(t *testing.T) {
	for _, n := range []int{1, 2, 7, 40} {
		for _, rank := range []int{n, (n + 1) / 2} {
			a, identity := randomPSD(n, rank), mat.NewDense(n, n, nil)
			for i := range n {
				identity.Set(i, i, 1)
			}
			var product mat.Dense
			l := factorTimes(a, identity)
			product.Mul(l.T(), l)
			if rows, _ := l.Dims(); rows != rank || !mat.EqualApprox(&product, a, 1e-10) {
				t.Errorf("n %d, rank %d: %d rows, whose product is %v", n, rank, rows, mat.Formatted(&product))
			}
		}
	}
	if l := factorTimes(mat.NewSymDense(3, nil), mat.NewDense(3, 2, nil)); mat.Norm(l, 2) != 0 {
		t.Error("a factor of zero is not zero")
	}
}

// decompositionsHash returns a hash of gonum's decompositions of matrices large enough for its
// blocks, which it shares out among goroutines, and of a search.
func decompositionsHash(t *testing.T) string {
	t.Helper()
	h := xxhash.New()
	write := func(v []float64) {
		if err := binary.Write(h, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{5, 100, 333} {
		a := randomPSD(n, n)
		values, vectors, err := eigen(a)
		if err != nil {
			t.Fatal(err)
		}
		write(values)
		write(vectors.RawMatrix().Data)
		write(factorTimes(randomPSD(n, (n+1)/2), vectors).RawMatrix().Data)
	}
	x := make([]float64, 50)
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	s := search{value: rosenbrock, steps: 40, evaluations: 60, step: func(_ int, x []float64) bool {
		write(x)
		return true
	}}
	if err := s.run(x); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
