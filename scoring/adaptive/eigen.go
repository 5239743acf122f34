package adaptive

import "math"

// dot returns the sum of products, in order.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	sum := 0.0
	for i, v := range a {
		sum += float64(v * b[i])
	}
	return sum
}

// factor returns the lower triangle L of a positive semidefinite matrix, LLᵀ = a [n·n]; a column whose pivot is lost in rounding is
// zero.
func factor(a []float64, n int) []float64 {
	l, largest := make([]float64, n*n), 0.0
	for i := range n {
		largest = max(largest, a[i*n+i])
	}
	least := float64(1e-12 * largest)
	for j := range n {
		pivot := a[j*n+j] - dot(l[j*n:j*n+j], l[j*n:j*n+j])
		if pivot <= least {
			continue
		}
		root := math.Sqrt(pivot)
		l[j*n+j] = root
		for i := j + 1; i < n; i++ {
			l[i*n+j] = (a[i*n+j] - dot(l[i*n:i*n+j], l[j*n:j*n+j])) / root
		}
	}
	return l
}

// eigen returns the eigenvalues of a symmetric matrix [n·n], which it overwrites, and the eigenvectors as rows [n·n]:
// Householder's reduction to three diagonals and the implicit QL method (Bowdler, Martin, Reinsch and Wilkinson, "The
// QR and QL algorithms for symmetric matrices", Numerische Mathematik 11, 1968). Every operation is rounded separately,
// so that all processors agree.
func eigen(a []float64, n int) (values, vectors []float64) {
	d, e := reduce(a, n)
	diagonalize(a, d, e, n)
	return d, a
}
