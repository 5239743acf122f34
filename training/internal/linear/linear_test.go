package linear

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// orders are sizes around those of blocks, strips and groups.
var orders = []int{1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 47, 48, 49, 63, 64, 65, 95, 96, 97, 100, 241}

// secondMoments returns the second moments of random rows in both forms.
func secondMoments(r *rand.Rand, n, rows int) (*Matrix, *mat.SymDense) {
	d := mat.NewDense(rows, n, nil)
	for i := range rows {
		for j := range n {
			d.Set(i, j, r.NormFloat64())
		}
	}
	var s mat.SymDense
	s.SymOuterK(1/float64(rows), d.T())
	m := NewMatrix(n, n)
	for j := range n {
		for i := range j + 1 {
			m.Set(i, j, s.At(i, j))
		}
	}
	return m, &s
}

func randomMatrix(r *rand.Rand, rows, columns int) *Matrix {
	m := NewMatrix(rows, columns)
	for i := range rows {
		for j := range columns {
			m.Set(i, j, r.NormFloat64())
		}
	}
	return m
}

// requireSolution fails unless (a + shift·I)·x is b up to rounding, relative to each row.
func requireSolution(t *testing.T, a *mat.SymDense, shift float64, x, b *Matrix) {
	t.Helper()
	n := x.Rows()
	for k := range x.columns {
		for i := range n {
			got, size := shift*x.At(i, k), math.Abs(b.At(i, k))
			for j := range n {
				got += a.At(i, j) * x.At(j, k)
				size += math.Abs(a.At(i, j) * x.At(j, k))
			}
			if !(math.Abs(got-b.At(i, k)) <= 1e-13*float64(n)*size) {
				t.Fatalf("order %d, row %d of right side %d: %v, want %v within rounding of %v", n, i, k, got, b.At(i, k), size)
			}
		}
	}
}

func TestSolutionMeetsEveryEquation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range orders {
		c := NewCholesky(n)
		for _, outputs := range []int{1, 24, 30} {
			for _, shift := range []float64{0.1, 1e-8, 1e200} {
				a, reference := secondMoments(r, n, n/2+1) // rank-deficient: positive definite by the shift alone
				b := randomMatrix(r, n, outputs)
				x := b.Clone()
				if !c.Factor(a, shift) {
					t.Fatalf("order %d, shift %g: not positive definite", n, shift)
				}
				c.Solve(x)
				requireSolution(t, reference, shift, x, b)
			}
		}
	}
}

func TestInverseTraceEqualsThatOfTheInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, n := range orders {
		a, reference := secondMoments(r, n, 2*n)
		for i := range n {
			reference.SetSym(i, i, reference.At(i, i)+0.1)
		}
		var factor mat.Cholesky
		if !factor.Factorize(reference) {
			t.Fatal("reference not factored")
		}
		var inverse mat.SymDense
		if err := factor.InverseTo(&inverse); err != nil {
			t.Fatal(err)
		}
		c := NewCholesky(n)
		if !c.Factor(a, 0.1) {
			t.Fatal("not positive definite")
		}
		if got, want := c.InverseTrace(), mat.Trace(&inverse); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("order %d: trace %v, want %v", n, got, want)
		}
	}
}

func TestIndefiniteMatricesAreRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range orders {
		for _, bad := range []float64{-1, math.NaN(), math.Inf(1), 0} {
			a, _ := secondMoments(r, n, 2*n)
			at := r.IntN(n)
			for j := range n {
				a.Set(min(at, j), max(at, j), 0)
			}
			a.Set(at, at, bad)
			if NewCholesky(n).Factor(a, 0) {
				t.Errorf("order %d: factored with %v on the diagonal", n, bad)
			}
		}
	}
}

func TestMultiplySymmetricAndNorm(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range orders {
		a, reference := secondMoments(r, n, n+3)
		norm := mat.Norm(reference, 2)
		if got := a.SymmetricNorm(); math.Abs(got/norm-1) > 1e-13 {
			t.Fatalf("order %d: norm %v, want %v", n, got, norm)
		}
		a.Mirror()
		if got := a.SymmetricNorm(); math.Abs(got/norm-1) > 1e-13 {
			t.Fatalf("order %d: norm of both triangles %v, want %v", n, got, norm)
		}
		for _, columns := range []int{1, 24, 25} {
			x := randomMatrix(r, n, columns)
			product := MultiplySymmetric(a, x)
			requireSolution(t, reference, 0, x, product)
		}
	}
}
