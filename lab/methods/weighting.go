package methods

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/scoring"
)

// weighting is a choice among candidates with a weight for each.
type weighting struct {
	index  []int32   // the candidate number of each kept feature, without repeats
	weight []float32 // multiplies each feature; nil means 1
	scale  float32   // multiplies all features
	score  []float64 // the score by which each feature was chosen
}

// set draws the candidates of the weighting.
func (w weighting) set(c scoring.Candidates) *scoring.FeatureSet {
	return &scoring.FeatureSet{Features: c.Draw(w.index), Index: w.index, Weight: w.weight, Scale: w.scale, Score: w.score}
}

func (w weighting) selected(c scoring.Candidates, note string) *compare.Selected {
	return &compare.Selected{Set: w.set(c), Note: note}
}

// rowsNote reports the number of used rows of the sample, "" if all were used.
func rowsNote(what string, used, rows int) string {
	if used == rows {
		return ""
	}
	return fmt.Sprintf("%s from %d of the %d sampled rows", what, used, rows)
}

// spread returns at most count of the rows, evenly spaced.
func spread(x []float32, rows, dim, count int) (some []float32, kept int) {
	if rows <= count {
		return x, rows
	}
	for i := range count {
		at := i * rows / count
		some = append(some, x[at*dim:(at+1)*dim]...)
	}
	return some, count
}

// features returns φ of all rows, [rows·n].
func features(f *scoring.Features, x []float32, rows int) *mat.Dense {
	n := f.Len()
	set := &scoring.FeatureSet{Features: f, Index: make([]int32, n), Score: make([]float64, n), Scale: 1}
	phi := make([]float32, rows*n)
	scoring.NewTransformer(set).Transform(phi, x, rows)
	dense := make([]float64, len(phi))
	for i, v := range phi {
		dense[i] = float64(v)
	}
	return mat.NewDense(rows, n, dense)
}

// weightedTag separates the random streams that draw by weight from the streams of candidates.
const weightedTag = "eerf/weighted/01"

// drawIndependently draws m of the numbers 0..len(p)-1 with probabilities in proportion to p, whose
// sum is positive, and returns the count of each. The seed determines the stream.
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

// drawWithoutReplacement draws m of the numbers 0..len(p)-1 one after the other, each time in
// proportion to p among the remaining ones: the m smallest of exponential variables with the rates
// p (Efraimidis and Spirakis, Information Processing Letters 97, 2006). Numbers with p = 0 come
// last, in order.
func drawWithoutReplacement(p []float64, m int, seed uint64) []int32 {
	uniform := scoring.Uniforms(seed, 1, weightedTag)
	arrival, order := make([]float64, len(p)), make([]int32, len(p))
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
