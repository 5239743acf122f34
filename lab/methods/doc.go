// Package methods has the methods that only a comparison uses: ways to draw features other than independently
// (orthogonal, structured, quasi-random), weights that bring the kernel of plain features closer to the exact one,
// learned kernels, and leverage scores. [All] plugs them into package compare; nothing deploys them, so they compute on
// dense float64 matrices and draw their features anew each time.
//
// Rows are dense, row-major float32 and finite, as in package scoring. Wrong shapes are the caller's mistakes and panic;
// unusable data gives an error. Results depend on the arguments alone, not on the number of goroutines.
package methods

import "github.com/eerf-stream/eerf/compare"

// All returns the methods in the order of the tables.
func All() []*compare.Method {
	return []*compare.Method{orf, sorf, quasi, stein, leverage, leverageTop, lkrf}
}
