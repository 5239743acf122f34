// Package methods has methods that exist only for comparisons: draws of features that are not
// independent (orthogonal, structured, quasi-random), weights that bring the kernel of plain
// features closer to the exact one, learned kernels, and leverage scores. [All] adds them to
// package compare. They are never deployed, so they compute on dense float64 matrices and redraw
// their features each time.
//
// Rows are dense, row-major float32 and finite, as in package scoring. Wrong shapes are mistakes of
// the caller and panic; unusable data is an error. Results depend only on the arguments, not on the
// number of goroutines.
package methods

import "github.com/eerf-stream/eerf/compare"

// All returns the methods in the order of the tables.
func All() []*compare.Method {
	return []*compare.Method{orf, sorf, quasi, stein, leverage, leverageTop, lkrf}
}
