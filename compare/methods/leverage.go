package methods

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// maxLeverageOrder bounds the matrix used to solve for leverage scores. At this order it takes some ten seconds and a
// hundred megabytes for ten thousand candidates.
const maxLeverageOrder = 2000

// DefaultLeveragePenalty returns λ for a number of rows, in units of the trace of G: 1/√N0, the rate at which leverage
// scores are known to serve learning (Rudi and Rosasco, "Generalization Properties of Learning with Random Features",
// NIPS 2017).
func DefaultLeveragePenalty(rows int) float64 { return 1 / math.Sqrt(float64(rows)) }

// LeverageScores returns the empirical ridge leverage scores of the candidates,
//
//	s_m = [G·(G + λI)⁻¹]_mm,  G = ΦᵀΦ/N0,  λ = penalty·tr G
//
// where Φ are their features on the rows, of Shahrampour and Kolouri, "On Sampling Random Features From Empirical
// Leverage Scores" (arXiv:1903.08329): within [0, 1], and greater the less a candidate is like others. Labels are
// ignored. x is row-major [rows·Dim].
//
// The order of the system is the number of rows or candidates, whichever is smaller: with fewer rows it is s_m =
// φ_mᵀ(ΦΦᵀ/N0 + λI)⁻¹φ_m/N0, the same number. If both are above 2000, that many evenly spaced rows are used and the
// others left out; used says how many rows count. Products of features have float32 precision, so penalties below 1e-5
// mean little. It fails for a penalty that is not positive and finite, without rows, and if all features are 0 on them.
func LeverageScores(c scoring.Candidates, x []float32, rows int, penalty float64) (scores []float64, used int, err error) {
	return leverageScores(c, x, rows, penalty, maxLeverageOrder)
}

// leverageScores is LeverageScores with a bound on the order.
func leverageScores(c scoring.Candidates, x []float32, rows int, penalty float64, order int) ([]float64, int, error) {
	if err := c.Validate(); err != nil {
		return nil, 0, fmt.Errorf("leverage scores: %w", err)
	}
	if len(x) != rows*c.Dim {
		panic(fmt.Sprintf("methods: %d numbers for %d rows of %d", len(x), rows, c.Dim))
	}
	if rows == 0 {
		return nil, 0, fmt.Errorf("leverage scores: %w", scoring.ErrNoRows)
	}
	if !(penalty > 0) || math.IsInf(penalty, 0) {
		return nil, 0, fmt.Errorf("leverage scores: penalty is %v, want a positive finite number", penalty)
	}
	if rows > order && c.Count > order {
		x, rows = spreadRows(x, rows, c.Dim, order), order
	}
	l := &leverage{features: c.DrawAll(), x: x, rows: rows, penalty: penalty}
	var scores []float64
	var err error
	if c.Count <= rows {
		scores, err = l.primal()
	} else {
		scores, err = l.dual()
	}
	if err != nil {
		return nil, 0, fmt.Errorf("leverage scores: %w", err)
	}
	for i, s := range scores {
		scores[i] = min(max(s, 0), 1) // only rounding goes beyond
	}
	return scores, rows, nil
}

// spreadRows returns count of the rows, evenly spaced.
func spreadRows(x []float32, rows, dim, count int) []float32 {
	some := make([]float32, 0, count*dim)
	for i := range count {
		at := i * rows / count
		some = append(some, x[at*dim:(at+1)*dim]...)
	}
	return some
}

// leverage is one computation of scores.
type leverage struct {
	features *scoring.Features
	x        []float32
	rows     int
	penalty  float64
}

// leverageChunk is how many rows or candidates are featurized at a time.
const leverageChunk = 256

// errNoFeatures says that G is 0.
var errNoFeatures = errors.New("all features are 0 on the rows")

// primal computes 1 − λ·[(G + λI)⁻¹]_mm.
func (l *leverage) primal() ([]float64, error) {
	m, dim := l.features.Len(), l.features.Dim
	t := plainTransformer(l.features)
	sums := training.NewSums(m, 1)
	z, none := make([]float32, leverageChunk*m), make([]float32, leverageChunk)
	for at := 0; at < l.rows; at += leverageChunk {
		n := min(leverageChunk, l.rows-at)
		t.Transform(z[:n*m], l.x[at*dim:(at+n)*dim], n)
		sums.Add(z[:n*m], n, none[:n])
	}
	factor, lambda, err := l.factor(sums, m)
	if err != nil {
		return nil, err
	}
	var inverse mat.SymDense
	if err := ignoreCondition(factor.InverseTo(&inverse)); err != nil {
		return nil, err
	}
	scores := make([]float64, m)
	for i := range scores {
		scores[i] = 1 - float64(lambda*inverse.At(i, i))
	}
	return scores, nil
}

// dual computes φ_mᵀ(ΦΦᵀ/N0 + λI)⁻¹φ_m/N0 = |L⁻¹φ_m|²/N0.
func (l *leverage) dual() ([]float64, error) {
	sums := training.NewSums(l.rows, 1)
	none := make([]float32, leverageChunk)
	m := l.features.Len()
	for at := 0; at < m; at += leverageChunk {
		n := min(leverageChunk, m-at)
		sums.Add(l.byCandidate(at, n), n, none[:n])
	}
	factor, _, err := l.factor(sums, l.rows)
	if err != nil {
		return nil, err
	}
	var lower mat.TriDense
	factor.LTo(&lower)
	scores := make([]float64, m)
	parallel(m, leverageChunk, func(first, next int) { l.solve(scores[first:next], lower.RawTriangular(), first) })
	return scores, nil
}

// solve sets scores to those of the candidates from first on.
func (l *leverage) solve(scores []float64, lower blas64.Triangular, first int) {
	n := len(scores)
	z := make([]float32, l.rows*n)
	plainTransformer(l.slice(first, first+n)).Transform(z, l.x, l.rows)
	phi := blas64.General{Rows: l.rows, Cols: n, Stride: n, Data: make([]float64, len(z))}
	for i, v := range z {
		phi.Data[i] = float64(v)
	}
	blas64.Trsm(blas.Left, blas.NoTrans, 1, lower, phi)
	for i, v := range phi.Data {
		scores[i%n] += float64(v*v) / float64(l.rows)
	}
}

// byCandidate returns the features of n candidates from first on, row-major [n·rows].
func (l *leverage) byCandidate(first, n int) []float32 {
	z := make([]float32, l.rows*n)
	plainTransformer(l.slice(first, first+n)).Transform(z, l.x, l.rows)
	turned := make([]float32, len(z))
	for r := range l.rows {
		for i, v := range z[r*n : (r+1)*n] {
			turned[i*l.rows+r] = v
		}
	}
	return turned
}

// factor returns the Cholesky factor of S + λI and λ, where S is the sum of products of the first columns, divided by N0:
// G itself or the matrix of rows, which has the same trace.
func (l *leverage) factor(sums *training.Sums, columns int) (factor *mat.Cholesky, lambda float64, err error) {
	moments, err := sums.Covariances()
	if err != nil {
		return nil, 0, err
	}
	share := float64(sums.Rows) / float64(l.rows)
	second := mat.NewSymDense(columns, nil)
	for j := range columns {
		for i := range j + 1 {
			second.SetSym(i, j, share*(moments.Cov(i, j)+float64(moments.Mean(i)*moments.Mean(j))))
		}
	}
	lambda = float64(l.penalty * mat.Trace(second))
	if !(lambda > 0) {
		return nil, 0, errNoFeatures
	}
	for i := range columns {
		second.SetSym(i, i, second.At(i, i)+lambda)
	}
	factor = new(mat.Cholesky)
	if !factor.Factorize(second) {
		return nil, 0, fmt.Errorf("the features' moments are not positive definite with penalty %v", l.penalty)
	}
	return factor, lambda, nil
}

// SampleByLeverage returns m candidates drawn in proportion to their scores, without repeats and unweighted, as suits a
// model with a ridge penalty. It panics if m is not in 1..M0.
func SampleByLeverage(scores []float64, m int, seed uint64) Weighting {
	return leverageWeighting(scores, drawWithoutReplacement(scores, checkChoice(scores, m), seed))
}

// TopByLeverage returns the m candidates with the greatest scores. It panics if m is not in 1..M0.
func TopByLeverage(scores []float64, m int) Weighting {
	return leverageWeighting(scores, scoring.Rank(scores)[:checkChoice(scores, m)])
}

// checkChoice returns m, or panics if that many cannot be chosen.
func checkChoice(scores []float64, m int) int {
	if m < 1 || m > len(scores) {
		panic(fmt.Sprintf("methods: %d of %d candidates", m, len(scores)))
	}
	return m
}

func leverageWeighting(scores []float64, index []int32) Weighting {
	w := Weighting{Index: index, Scale: float32(1 / math.Sqrt(float64(len(index)))), Score: make([]float64, len(index))}
	for k, i := range index {
		w.Score[k] = scores[i]
	}
	return w
}

// plainTransformer returns the transformer to φ itself.
func plainTransformer(f *scoring.Features) *scoring.Transformer {
	n := f.Len()
	return scoring.NewTransformer(&scoring.FeatureSet{Features: f, Index: make([]int32, n), Score: make([]float64, n), Scale: 1}, nil)
}

// slice returns features first..next-1, which share their memory with all.
func (l *leverage) slice(first, next int) *scoring.Features {
	f := l.features
	part := &scoring.Features{Map: f.Map, Dim: f.Dim, Omega: f.Omega[first*f.Width() : next*f.Width()]}
	if f.Phase != nil {
		part.Phase = f.Phase[first:next]
	}
	return part
}
