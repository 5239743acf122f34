package methods

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/eerf-stream/eerf/scoring"
)

// descend minimises βᵀaβ − 2bᵀβ over β ≥ 0 one number at a time, until they are stable.
func descend(a *mat.SymDense, b []float64) []float64 {
	beta := make([]float64, len(b))
	for range 200000 {
		moved := 0.0
		for i := range beta {
			rest := b[i]
			for j, v := range beta {
				if j != i {
					rest -= a.At(i, j) * v
				}
			}
			next := max(rest/a.At(i, i), 0)
			moved = max(moved, math.Abs(next-beta[i]))
			beta[i] = next
		}
		if moved < 1e-14 {
			break
		}
	}
	return beta
}

func TestNonnegativeMinimumEqualsDescent(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for _, m := range []int{1, 2, 5, 30} {
		for range 20 {
			root := mat.NewDense(m+2, m, nil)
			b := make([]float64, m)
			for i := range m {
				b[i] = rng.NormFloat64()
				for r := range m + 2 {
					root.Set(r, i, rng.NormFloat64()+0.5)
				}
			}
			a := mat.NewSymDense(m, nil)
			a.SymOuterK(1, root.T())
			for i := range m {
				a.SetSym(i, i, a.At(i, i)+0.1)
			}
			want := descend(a, b)
			for _, start := range []bool{false, true} {
				free := make([]bool, m)
				for i := range free {
					free[i] = start
				}
				got, err := nonnegativeMinimum(a, b, free)
				if err != nil {
					t.Fatal(err)
				}
				for i := range want {
					near(t, fmt.Sprintf("β%d of %d", i, m), got[i], want[i], 1e-9)
				}
			}
		}
	}
}

func TestIndefiniteFormsAreRefused(t *testing.T) {
	a := mat.NewSymDense(2, []float64{1, 2, 2, 1})
	if _, err := nonnegativeMinimum(a, []float64{1, 1}, allFree(2)); err == nil {
		t.Error("no error")
	}
}

// TestSteinWeightsMinimiseTheDenseObjective compares them with the solution of n² equations, one
// for each pair of rows, plus m equations for μ.
func TestSteinWeightsMinimiseTheDenseObjective(t *testing.T) {
	const rows, m = 12, 7
	c := scoring.Candidates{Sigma: 1.5, Seed: 3, Dim: 2, Count: 20}
	x := normalRows(5, rows, c.Dim)
	w, fit, err := steinWeights(c, m, x, rows)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernelOf(c)
	if err != nil {
		t.Fatal(err)
	}
	f := c.DrawAll()
	equations, right := mat.NewDense(rows*rows, m, nil), mat.NewVecDense(rows*rows, nil)
	for i := range rows {
		for j := range rows {
			xi, xj := x[i*2:i*2+2], x[j*2:j*2+2]
			right.SetVec(i*rows+j, k(xi, xj))
			for l := range m {
				equations.Set(i*rows+j, l, 2*referencePhi(f, l, xi)*referencePhi(f, l, xj))
			}
		}
	}
	form := mat.NewSymDense(m, nil)
	form.SymOuterK(1, equations.T())
	penalty := fit.Penalty * mat.Trace(form) / m
	for i := range m {
		form.SetSym(i, i, form.At(i, i)+penalty)
	}
	var target mat.VecDense
	target.MulVec(equations.T(), right)
	want := descend(form, target.RawVector().Data)
	for i := range m {
		near(t, fmt.Sprint("β", i), fit.Beta[i], want[i], 1e-5)
	}
	for n, i := range w.index {
		z := float64(w.weight[n] * w.scale)
		near(t, "squared factor", z*z, fit.Beta[i], 1e-6)
	}
	if err := w.set(c).Validate(); err != nil {
		t.Error(err)
	}
}

// TestSteinWeightsImproveTheKernel compares kernel errors on held-out rows, for every kernel, with
// few features.
func TestSteinWeightsImproveTheKernel(t *testing.T) {
	x := normalRows(5, 60, 4)
	for _, c := range kernelCandidates(4) {
		if c.Map == scoring.MapLinear { // a few features already give its kernel
			continue
		}
		c.Seed, c.Count = 7, 30
		_, fit, err := steinWeights(c, c.Count, x, 60)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v: error %.3f, plain %.3f, penalty %g", c, fit.Error, fit.PlainError, fit.Penalty)
		if !(fit.Error < fit.PlainError) {
			t.Errorf("%+v: error %v, plain features %v", c, fit.Error, fit.PlainError)
		}
	}
}

// TestSteinErrorEqualsTheMatrixError compares it with the error over all pairs of rows.
func TestSteinErrorEqualsTheMatrixError(t *testing.T) {
	c := scoring.Candidates{Map: scoring.MapArcCosine1, Sigma: 1, Seed: 3, Dim: 3, Count: 9}
	k, _ := kernelOf(c)
	p := newSteinProblem(k, c, 9, normalRows(1, 11, 3), 11)
	beta := []float64{0.1, 0.2, 0, 0, 0.3, 0, 0.1, 0, 0.1}
	var approximate, difference mat.Dense
	approximate.Product(p.phi, mat.NewDiagDense(9, beta), p.phi.T())
	difference.Sub(p.kernel, &approximate)
	got, err := p.error(beta)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "error", got, mat.Norm(&difference, 2)/mat.Norm(p.kernel, 2), 1e-9)
}

func TestSteinWeightsOfConstantRows(t *testing.T) {
	ramp := scoring.Candidates{Map: scoring.MapArcCosine1, Sigma: 1, Dim: 2, Count: 5}
	for want, test := range map[string]struct {
		c    scoring.Candidates
		rows int
	}{
		"3 rows, want 4":   {scoring.Candidates{Sigma: 1, Dim: 2, Count: 5}, 3},
		"is 0 on the rows": {ramp, 6},
	} {
		_, _, err := steinWeights(test.c, 5, make([]float32, test.rows*2), test.rows)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	// Equal rows have a kernel of ones.
	w, _, err := steinWeights(scoring.Candidates{Sigma: 1, Dim: 2, Count: 5}, 5, make([]float32, 12), 6)
	if err != nil || w.set(scoring.Candidates{Sigma: 1, Dim: 2, Count: 5}).Validate() != nil {
		t.Errorf("equal rows: %v", err)
	}
}
