package training

import (
	"math"
	"time"

	"github.com/eerf-stream/eerf/training/internal/kernel"
	"github.com/eerf-stream/eerf/training/internal/thin"
)

// Budget bounds the processor time of training by an estimate of its work. It does not look at a
// clock, so the bits of a result do not depend on the speed of a process. A nil Budget is
// unlimited. It belongs to one goroutine.
type Budget struct {
	limit float64  // seconds
	spent *float64 // shared by the budgets within one
}

// NewBudget returns a budget for one training.
func NewBudget(limit time.Duration) *Budget {
	return &Budget{limit: limit.Seconds(), spent: new(float64)}
}

// Within returns a budget that ends when a share of the remaining time is spent. Time spent on it
// is spent on b too.
func (b *Budget) Within(share float64) *Budget {
	if b == nil {
		return nil
	}
	return &Budget{limit: *b.spent + float64(share*max(0, b.limit-*b.spent)), spent: b.spent}
}

// Exhausted reports whether the budget is spent.
func (b *Budget) Exhausted() bool { return b != nil && *b.spent >= b.limit }

// Spend takes time from the budget.
func (b *Budget) Spend(seconds float64) {
	if b != nil {
		*b.spent += seconds
	}
}

// Seconds of one operation on a core with AVX2.
const (
	perProduct     = 0.08e-9 // multiply-add in float32
	perWideProduct = 0.2e-9  // multiply-add in float64
	perExponential = 18e-9
	perVectorTerm  = 1e-9 // element of a vector of the descent, or of merged sums
)

// nominalPasses is the number of passes over the rows for which a budget should suffice: the path
// of λ, the final fit, and those of several half-lives.
const nominalPasses = 300

// AffordableRows returns the number of rows on which the logistic loss can be trained within a
// time, by an estimate for that many features and classes.
func AffordableRows(features, classes int, limit time.Duration) int64 {
	columns := classes
	if classes <= 2 {
		columns = 1
	}
	rows := limit.Seconds() / (nominalPasses * passSeconds(1, features, columns))
	return int64(min(rows, math.MaxInt32))
}

// passSeconds estimates the time of one pass over rows with its gradient.
func passSeconds(rows, features, columns int) float64 {
	padded := float64(kernel.RoundUp(columns, thin.Columns))
	perRow := float64(2*float64(features)*padded*perProduct) + float64(float64(columns)*perExponential)
	return float64(rows) * perRow
}

// factorSeconds estimates the time of a Cholesky factorisation.
func factorSeconds(features int) float64 {
	m := float64(features)
	return m * m * m / 3 * perWideProduct
}

// solveSeconds estimates the time of solving for a number of outputs with a factor.
func solveSeconds(features, outputs int) float64 {
	m := float64(features)
	return float64(2*m*m*float64(kernel.RoundUp(outputs, kernel.StripColumns))) * perWideProduct
}

// MergeSeconds estimates the time of merging sums.
func MergeSeconds(features, outputs int) float64 {
	columns := float64(features + outputs + 1)
	return columns * columns / 2 * perVectorTerm
}

// Economy is a way in which training was shortened to stay within its budget.
type Economy string

// The economies of [Train] and [TrainLogistic].
const (
	FewerLevels     Economy = "levels"     // not all λ were tried
	FewerIterations Economy = "iterations" // a descent ended early
)
