package methods

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/scoring"
)

var leverage = &compare.Method{
	Name: "leverage", Title: "empirical leverage scores",
	Source: "Shahrampour and Kolouri, arXiv:1903.08329",
	Summary: "M candidates drawn, without repeats, in proportion to their ridge leverage scores on the sample; " +
		"looked at.",
	Select: byLeverage(func(t *compare.Trial, scores []float64) []int32 {
		return drawWithoutReplacement(scores, t.M, t.Seed)
	}),
}

var leverageTop = &compare.Method{
	Name: "leverage-top", Title: "greatest empirical leverage scores",
	Source:  "after Shahrampour and Kolouri, arXiv:1903.08329",
	Summary: "As leverage, but the M candidates with the greatest scores.",
	Select:  byLeverage(func(t *compare.Trial, scores []float64) []int32 { return scoring.Rank(scores)[:t.M] }),
}

// leverageRows bounds the rows for leverage scores, and thereby the order of the system.
const leverageRows = 2000

// byLeverage selects by the scores of the pool, computed once per repeat. The selected features are
// not weighted, as suits a model with a ridge penalty. The scores use λ = tr G/√N0, the rate for
// which leverage scores are known to work (Rudi and Rosasco, NIPS 2017).
func byLeverage(
	choose func(*compare.Trial, []float64) []int32,
) func(context.Context, *compare.Trial) (*compare.Selected, error) {
	type scored struct {
		scores []float64
		err    error
	}
	return func(_ context.Context, t *compare.Trial) (*compare.Selected, error) {
		all, n, _ := t.Sample()
		x, rows := spread(all, n, t.Candidates().Dim, leverageRows)
		s := compare.Shared(t, "leverage", func() (s scored) {
			s.scores, s.err = leverageScores(t.Candidates(), x, rows, 1/math.Sqrt(float64(rows)))
			return s
		})
		if s.err != nil {
			return nil, s.err
		}
		w := weighting{index: choose(t, s.scores), scale: scaleOf(t.M)}
		for _, i := range w.index {
			w.score = append(w.score, s.scores[i])
		}
		return w.selected(t.Candidates(), rowsNote("scores", rows, n)), nil
	}
}

// leverageScores returns the empirical ridge leverage scores of the candidates,
//
//	s_m = [G·(G + λI)⁻¹]_mm = φ_mᵀ(ΦΦᵀ/N0 + λI)⁻¹φ_m/N0,  G = ΦᵀΦ/N0,  λ = penalty·tr G
//
// where Φ are their features on the rows. Scores are in [0, 1], and greater for candidates that are
// less similar to others. The smaller of the two systems is solved.
func leverageScores(c scoring.Candidates, x []float32, rows int, penalty float64) ([]float64, error) {
	phi := features(c.DrawAll(), x, rows)
	phi.Scale(1/math.Sqrt(float64(rows)), phi)
	factors := mat.Matrix(phi)
	if c.Count < rows {
		factors = phi.T()
	}
	var form mat.SymDense
	form.SymOuterK(1, factors)
	lambda := penalty * mat.Trace(&form)
	if !(lambda > 0) {
		return nil, errors.New("leverage scores: all features are 0 on the rows")
	}
	for i := range form.SymmetricDim() {
		form.SetSym(i, i, form.At(i, i)+lambda)
	}
	var factor mat.Cholesky
	if !factor.Factorize(&form) {
		return nil, fmt.Errorf("leverage scores: the features' moments are not positive definite with penalty %v", penalty)
	}
	if c.Count < rows {
		return primalScores(&factor, lambda)
	}
	return dualScores(&factor, phi), nil
}

// primalScores are 1 − λ·[(G + λI)⁻¹]_mm.
func primalScores(factor *mat.Cholesky, lambda float64) ([]float64, error) {
	var inverse mat.SymDense
	if err := ignoreCondition(factor.InverseTo(&inverse)); err != nil {
		return nil, err
	}
	scores := make([]float64, inverse.SymmetricDim())
	for i := range scores {
		scores[i] = min(max(1-lambda*inverse.At(i, i), 0), 1) // only rounding exceeds these bounds
	}
	return scores, nil
}

// dualScores are |L⁻¹φ_m|²/N0. The solution overwrites phi.
func dualScores(factor *mat.Cholesky, phi *mat.Dense) []float64 {
	var lower mat.TriDense
	factor.LTo(&lower)
	blas64.Trsm(blas.Left, blas.NoTrans, 1, lower.RawTriangular(), phi.RawMatrix())
	rows, count := phi.Dims()
	scores := make([]float64, count)
	for r := range rows {
		for i, v := range phi.RawRowView(r) {
			scores[i] += v * v
		}
	}
	return scores
}

// ignoreCondition ignores the warning that a system is nearly singular, because penalties handle
// that.
func ignoreCondition(err error) error {
	var condition mat.Condition
	if errors.As(err, &condition) {
		return nil
	}
	return err
}
