package methods

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/scoring"
)

// Weighting is a choice among candidates with a weight for each.
type Weighting struct {
	// Index is the candidate number of each kept feature, ascending or best first, without repeats.
	Index []int32
	// Weight multiplies each feature; nil means 1.
	Weight []float32
	// Scale multiplies all features.
	Scale float32
	// Score is the score by which each feature was chosen.
	Score []float64
}

// FeatureSet draws the candidates of a weighting.
func (w Weighting) FeatureSet(c scoring.Candidates) *scoring.FeatureSet {
	return &scoring.FeatureSet{
		Features: c.Draw(w.Index), Index: w.Index, Candidates: &c, Weight: w.Weight, Scale: w.Scale, Score: w.Score,
	}
}

// weightedTag separates the random streams that draw by weight from those of candidates.
const weightedTag = "eerf/weighted/01"

// drawIndependently draws m of the numbers 0..len(p)-1 with probabilities in proportion to p, which sums to something
// positive, and returns how often each came, by the stream of the seed.
func drawIndependently(p []float64, m int, seed uint64) []int {
	uniform := scoring.Uniforms(seed, 0, weightedTag)
	below := make([]float64, len(p))
	total, last := 0.0, 0
	for i, v := range p {
		total += v
		below[i] = total
		if v > 0 {
			last = i
		}
	}
	counts := make([]int, len(p))
	for range m {
		u := uniform() * total
		i, _ := slices.BinarySearchFunc(below, u, func(b, u float64) int {
			if b <= u {
				return -1
			}
			return 1
		})
		counts[min(i, last)]++ // u may be rounded up to the total
	}
	return counts
}

// drawWithoutReplacement draws m of the numbers 0..len(p)-1 one after the other, each time in proportion to p among those
// that are left: the m smallest of exponential variables with the rates p (Efraimidis and Spirakis, Information Processing
// Letters 97, 2006). Numbers with p = 0 come when nothing else is left, in their order.
func drawWithoutReplacement(p []float64, m int, seed uint64) []int32 {
	uniform := scoring.Uniforms(seed, 1, weightedTag)
	arrival := make([]float64, len(p))
	order := make([]int32, len(p))
	for i, v := range p {
		wait := -math.Log(uniform())
		order[i], arrival[i] = int32(i), math.Inf(1)
		if v > 0 {
			arrival[i] = wait / v
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(arrival[a], arrival[b]), cmp.Compare(a, b))
	})
	return order[:m:m]
}

// parallel calls work for every chunk of up to size of 0..n-1 and returns when all are done.
func parallel(n, size int, work func(first, next int)) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for first := 0; first < n; first += size {
		group.Go(func() error {
			work(first, min(first+size, n))
			return nil
		})
	}
	_ = group.Wait() // no work fails
}
