package adaptive

import (
	"errors"

	"gonum.org/v1/gonum/mat"
)

// eigen returns the eigenvalues of a symmetric matrix and its eigenvectors as columns.
func eigen(a *mat.SymDense) (values []float64, vectors *mat.Dense, err error) {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil, nil, errors.New("the eigenvalues of the gradients did not converge")
	}
	vectors = new(mat.Dense)
	e.VectorsTo(vectors)
	return e.Values(nil), vectors, nil
}

// factorTimes returns LᵀB for a positive semidefinite matrix A = LLᵀ, with as many rows as the rank
// of A, at least one.
func factorTimes(a *mat.SymDense, b *mat.Dense) *mat.Dense {
	var c mat.PivotedCholesky
	c.Factorize(a, -1)
	_, columns := b.Dims()
	pivoted := mat.NewDense(a.SymmetricDim(), columns, nil)
	for i, p := range c.ColumnPivots(nil) {
		pivoted.SetRow(i, b.RawRowView(p))
	}
	pivoted.Mul(c.RawU(), pivoted)
	return pivoted.Slice(0, max(c.Rank(), 1), 0, columns).(*mat.Dense)
}

// symmetric returns (A + Aᵀ)/2 for a matrix that is symmetric up to rounding.
func symmetric(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return s
}
