package linear

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/eerf-stream/eerf/internal/fmapeak"
	"github.com/eerf-stream/eerf/internal/simd"
)

// report reports the operations per second (one call does flops) and their share of the float64 peak, which is half
// of that of float32.
func report(b *testing.B, flops float64) {
	rate := flops * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate/1e9, "GF/s")
	b.ReportMetric(2*rate/fmapeak.Float32(simd.Best()), "of-peak64")
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{100, 500, 1000, 2000} {
		a, _ := secondMoments(rand.New(rand.NewPCG(1, 1)), n, 100)
		c, x := NewCholesky(n), NewMatrix(n, 1)
		cube := float64(n) * float64(n) * float64(n)
		b.Run(fmt.Sprintf("factor/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				c.Factor(a, 1)
			}
			report(b, cube/3)
		})
		b.Run(fmt.Sprintf("solve/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				c.Solve(x)
			}
			report(b, 2*float64(n)*float64(n))
		})
		b.Run(fmt.Sprintf("trace/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				c.InverseTrace()
			}
			report(b, cube/3)
		})
	}
}

// BenchmarkGonum is the same work done by gonum: its blocked factorisation, and the eigendecomposition that would
// solve for every λ at once (4/3·n³ operations for the tridiagonal form and many more for the vectors).
func BenchmarkGonum(b *testing.B) {
	for _, n := range []int{100, 500, 1000} {
		_, a := secondMoments(rand.New(rand.NewPCG(1, 1)), n, 2*n)
		cube := float64(n) * float64(n) * float64(n)
		b.Run(fmt.Sprintf("factor/n=%d", n), func(b *testing.B) {
			var c mat.Cholesky
			for b.Loop() {
				c.Factorize(a)
			}
			report(b, cube/3)
		})
		b.Run(fmt.Sprintf("eigen/n=%d", n), func(b *testing.B) {
			var e mat.EigenSym
			for b.Loop() {
				e.Factorize(a, true)
			}
			report(b, cube*4/3)
		})
	}
}
