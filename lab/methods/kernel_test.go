package methods

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/eerf-stream/eerf/scoring"
)

// TestFeaturesApproximateTheKernelFunctions compares kernels with the means of two hundred
// thousand features, which are within five standard errors of them, and the matrix of all pairs
// with the kernel of each.
func TestFeaturesApproximateTheKernelFunctions(t *testing.T) {
	const rows, dim = 5, 3
	x := normalRows(2, rows, dim)
	for i := range x {
		x[i] *= 0.6
	}
	for _, c := range kernelCandidates(dim) {
		k, err := kernelOf(c)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		c.Count = 200000
		tolerance := 0.012
		switch c.Map {
		case scoring.MapLinear: // all coordinates
			c.Count, tolerance = dim, 1e-6
		case scoring.MapArcCosine2: // its products have heavy tails
			tolerance = 0.04
		}
		phi, matrix := features(c.DrawAll(), x, rows), kernelMatrix(k, x, rows, dim)
		for i := range rows {
			for j := range rows {
				got := kernelFactor(c.Map) * mat.Dot(phi.RowView(i), phi.RowView(j)) / float64(c.Count)
				near(t, fmt.Sprintf("%v, %v", c.Map, c.Distribution), matrix[i*rows+j], got, tolerance*max(1, 2*got))
			}
		}
	}
}

// kernelCandidates are the candidates of every feature map and distribution with a known kernel. If
// the bandwidth matters, it is not 1, so that a misplaced one is noticed.
func kernelCandidates(dim int) (all []scoring.Candidates) {
	for _, d := range []scoring.Distribution{scoring.Gaussian, scoring.Cauchy, scoring.Laplace} {
		all = append(all, scoring.Candidates{Distribution: d, Sigma: 1.4, Dim: dim, Count: 1})
	}
	for _, m := range []scoring.Map{scoring.MapArcCosine0, scoring.MapArcCosine1, scoring.MapArcCosine2} {
		all = append(all, scoring.Candidates{Map: m, Sigma: 1, Dim: dim, Count: 1})
	}
	return append(all, scoring.Candidates{Map: scoring.MapLinear, Sigma: 1, Dim: dim, Count: 1})
}

// TestArcCosineKernelsScaleWithTheBandwidth covers other bandwidths, because kernelCandidates uses
// 1.
func TestArcCosineKernelsScaleWithTheBandwidth(t *testing.T) {
	for _, m := range []scoring.Map{scoring.MapArcCosine0, scoring.MapArcCosine1, scoring.MapArcCosine2} {
		c := scoring.Candidates{Map: m, Sigma: 1.7, Dim: 3, Count: 200000}
		x := []float32{0.5, -1, 0.3, 0.2, 0.1, 0.9}
		k, err := kernelOf(c)
		if err != nil {
			t.Fatal(err)
		}
		phi := features(c.DrawAll(), x, 2)
		want := k(x[:3], x[3:])
		near(t, m.String(), 2*mat.Dot(phi.RowView(0), phi.RowView(1))/float64(c.Count), want, 0.03*want)
		if v := k(x[:3], []float32{0, 0, 0}); m == scoring.MapArcCosine0 && v != 0.5 || m != scoring.MapArcCosine0 && v != 0 {
			t.Errorf("%v: kernel with a zero row is %v", m, v)
		}
	}
}
