package methods

import (
	"errors"

	"gonum.org/v1/gonum/mat"
)

// errNoMinimum reports a quadratic form that is not positive definite to working precision.
var errNoMinimum = errors.New("the quadratic form has no unique minimum")

// nonnegativeMinimum returns the β ≥ 0 that minimises βᵀaβ − 2bᵀβ for a positive definite a, by
// block principal pivoting. Numbers are free or 0, and the free ones solve their equations. Numbers
// that violate the conditions of optimality switch between the two: all at once while their number
// falls, otherwise one by one, which terminates (Kim and Park, "Fast Nonnegative Matrix
// Factorization: An Active-Set-Like Method", SIAM J. Sci. Comput. 33, 2011). free is the starting
// point and is set to the free numbers of the result.
func nonnegativeMinimum(a *mat.SymDense, b []float64, free []bool) ([]float64, error) {
	const patience, rounds = 3, 1000
	least, left := len(b)+1, patience
	for range rounds {
		beta, err := solveFree(a, b, free)
		if err != nil {
			return nil, err
		}
		wrong := violations(a, b, beta, free)
		if len(wrong) == 0 {
			return beta, nil
		}
		switch {
		case len(wrong) < least:
			least, left = len(wrong), patience
		case left > 0:
			left--
		default:
			wrong = wrong[len(wrong)-1:]
		}
		for _, i := range wrong {
			free[i] = !free[i]
		}
	}
	return nil, errNoMinimum
}

// solveFree returns the minimum over the free numbers, 0 for the others.
func solveFree(a *mat.SymDense, b []float64, free []bool) ([]float64, error) {
	var index []int
	for i, f := range free {
		if f {
			index = append(index, i)
		}
	}
	beta := make([]float64, len(b))
	if len(index) == 0 {
		return beta, nil
	}
	part, right := mat.NewSymDense(len(index), nil), mat.NewVecDense(len(index), nil)
	for k, i := range index {
		right.SetVec(k, b[i])
		for l, j := range index[:k+1] {
			part.SetSym(k, l, a.At(i, j))
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(part) {
		return nil, errNoMinimum
	}
	var solution mat.VecDense
	if err := ignoreCondition(factor.SolveVecTo(&solution, right)); err != nil {
		return nil, err
	}
	for k, i := range index {
		beta[i] = solution.AtVec(k)
	}
	return beta, nil
}

// violations returns the free numbers that are negative, and the numbers at 0 that should grow
// because the derivative aβ − b is negative by more than rounding.
func violations(a *mat.SymDense, b, beta []float64, free []bool) []int {
	const rounding = 1e-12
	var derivative mat.VecDense
	derivative.MulVec(a, mat.NewVecDense(len(beta), beta))
	greatest := 0.0
	for _, v := range b {
		greatest = max(greatest, v, -v)
	}
	var wrong []int
	for i, f := range free {
		if f && beta[i] < 0 || !f && derivative.AtVec(i)-b[i] < -rounding*greatest {
			wrong = append(wrong, i)
		}
	}
	return wrong
}
