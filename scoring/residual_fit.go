package scoring

import (
	"math"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/training"
)

// forwardFit is ridge regression on a growing set of features: the Cholesky factor of the
// correlation matrix of the taken features plus the ridge, extended to the columns of the others,
// so that the gain of each is known (Golub, Van Loan, Matrix Computations, §4.2; Chen, Billings and
// Luo, "Orthogonal least squares methods", 1989).
//
// Features are standardized, outputs centred and raw. With b the covariances of features and
// outputs after elimination of the taken features, taking feature i lowers the objective of output
// k by b_ik²/d_i.
type forwardFit struct {
	g        *training.Covariances
	workers  int // greatest number of goroutines, which share the features; 0 means GOMAXPROCS
	features int
	squared  []float64 // the squared gain of each output, [K]
	scale    []float64 // 1/standard deviation of each feature, 0 for a constant, [features]

	diagonal []float64 // d, [features]; 0 for taken and constant features
	cross    []float64 // b, output-major [K·features]
	spread   []float64 // the remaining variance of each output, [K]; 0 when it is only rounding

	gains []float64 // scratch memory of best, [features]

	taken  []int       // in the order of choice
	factor [][]float64 // the row of the factor of each taken feature, [features]
	solved [][]float64 // the row of the solution of the forward substitution, [K]
}

// newForwardFit returns the fit without features. The columns of g are the given number of
// features, then the outputs, whose coding has these gains.
func newForwardFit(g *training.Covariances, features int, gain []float64) *forwardFit {
	outputs := len(gain)
	f := &forwardFit{
		g: g, features: features, squared: make([]float64, outputs), scale: make([]float64, features),
		diagonal: make([]float64, features), cross: make([]float64, outputs*features), spread: make([]float64, outputs),
		gains: make([]float64, features),
	}
	for i := range features {
		mean, variance := g.Mean(i), g.Cov(i, i)
		if variance > float64(minRelativeVariance*(variance+float64(mean*mean))) {
			f.scale[i], f.diagonal[i] = 1/math.Sqrt(variance), 1+residualRidge
		}
	}
	for k := range outputs {
		f.squared[k], f.spread[k] = float64(gain[k]*gain[k]), max(g.Cov(features+k, features+k), 0)
		for i := range features {
			f.cross[k*features+i] = float64(g.Cov(i, features+k) * f.scale[i])
		}
	}
	return f
}

// gain returns the fall of the objective, summed over the coded outputs, when feature i is taken.
func (f *forwardFit) gain(i int) float64 {
	if f.diagonal[i] == 0 {
		return 0
	}
	sum := 0.0
	for k, weight := range f.squared {
		b := f.cross[k*f.features+i]
		sum += float64(weight * float64(b*b))
	}
	return sum / f.diagonal[i]
}

// correlation returns the greatest correlation, over the outputs, of feature i with the residual,
// both after elimination of the taken features.
func (f *forwardFit) correlation(i int) float64 {
	if f.diagonal[i] == 0 {
		return 0
	}
	greatest := 0.0
	for k, left := range f.spread {
		if left > 0 && f.squared[k] > 0 {
			greatest = max(greatest, math.Abs(f.cross[k*f.features+i])/math.Sqrt(f.diagonal[i]*left))
		}
	}
	return greatest
}

// best returns the feature with the greatest gain, the first among equals; -1 if no gain is
// positive.
func (f *forwardFit) best() int {
	gains := f.gains
	f.share(len(f.spread), func(first, next int) {
		for i := first; i < next; i++ {
			gains[i] = f.gain(i)
		}
	})
	best, greatest := -1, 0.0
	for i, gain := range gains {
		if gain > greatest {
			best, greatest = i, gain
		}
	}
	return best
}

// share divides the features among goroutines, given the number of products per feature.
func (f *forwardFit) share(products int, work func(first, next int)) {
	const chunk, least = 256, 1 << 15
	workers := f.workers
	if f.features*products < least {
		workers = 1
	}
	parallel.On(workers, f.features, chunk, work)
}

// minRelativeSpread is the variance of a residual, relative to that of its output, that counts as
// rounding.
const minRelativeSpread = 1e-10

// take takes feature i: one more row of the factor, and one step of the elimination of the others.
// A constant feature gets a row of zeros.
func (f *forwardFit) take(i int) {
	row, solved := make([]float64, f.features), make([]float64, len(f.spread))
	f.taken = append(f.taken, i)
	f.factor = append(f.factor, row)
	f.solved = append(f.solved, solved)
	if f.diagonal[i] == 0 {
		row[i] = 1
		return
	}
	root := math.Sqrt(f.diagonal[i])
	for k := range solved {
		solved[k] = f.cross[k*f.features+i] / root
	}
	f.share(len(f.taken)+len(solved), func(first, next int) { f.eliminate(i, root, first, next) })
	row[i], f.diagonal[i] = root, 0
	for k, v := range solved {
		f.spread[k] -= float64(v * v)
		if y := f.features + k; f.spread[k] <= float64(minRelativeSpread*f.g.Cov(y, y)) {
			f.spread[k] = 0
		}
	}
}

// eliminate takes feature i, the root of whose eliminated diagonal is given, out of features
// first..next-1: it fills the last row of the factor and updates diagonal and cross. Taken and
// constant features have zeros in the row.
func (f *forwardFit) eliminate(i int, root float64, first, next int) {
	last := len(f.taken) - 1
	row, diagonal := f.factor[last][first:next], f.diagonal[first:next]
	for j := range row {
		if diagonal[j] > 0 {
			row[j] = float64(f.g.Cov(i, first+j)*f.scale[i]) * f.scale[first+j]
		}
	}
	for _, earlier := range f.factor[:last] {
		factor, earlier := earlier[i], earlier[first:next]
		for j, v := range earlier {
			row[j] -= float64(factor * v)
		}
	}
	for j := range row {
		if diagonal[j] == 0 {
			row[j] = 0
			continue
		}
		row[j] /= root
		// In exact arithmetic at least the ridge remains of every feature.
		diagonal[j] = max(diagonal[j]-float64(row[j]*row[j]), residualRidge/2)
	}
	for k, v := range f.solved[last] {
		cross := f.cross[k*f.features+first : k*f.features+next]
		for j, w := range row {
			cross[j] -= float64(w * v)
		}
	}
}

// weights returns the model of the raw outputs on the taken features: intercepts [K], weights
// [K·taken].
func (f *forwardFit) weights() (intercept, weight []float64) {
	outputs, n := len(f.spread), len(f.taken)
	intercept, weight = make([]float64, outputs), make([]float64, outputs*n)
	for k := range outputs {
		own := weight[k*n : (k+1)*n]
		intercept[k] = f.g.Mean(f.features + k)
		for t := n - 1; t >= 0; t-- {
			sum := f.solved[t][k]
			for later := t + 1; later < n; later++ {
				sum -= float64(f.factor[t][f.taken[later]] * own[later])
			}
			own[t] = sum / f.factor[t][f.taken[t]]
		}
		for t, i := range f.taken {
			own[t] *= f.scale[i]
			intercept[k] -= float64(own[t] * f.g.Mean(i))
		}
	}
	return intercept, weight
}
