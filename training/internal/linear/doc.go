// Package linear solves symmetric positive definite systems in float64 at the speed of the
// processor's multiply-adds, by a left-looking Cholesky factorisation and its substitutions. All of
// their work is kernel.Subtract on tiles.
//
// A result depends on its input alone. No call starts goroutines: callers that solve many systems
// run one Cholesky in each of theirs.
package linear
