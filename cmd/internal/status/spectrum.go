package status

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/state"
)

// Units of [Spectrum].
const (
	unitNorm      = "norm"
	unitCriterion = "criterion"
	// unitContribution is the contribution of a learned feature to the model that it was learned
	// with.
	unitContribution = "contribution"
)

// spectrumRanks is the approximate number of ranks that are sent.
const spectrumRanks = 240

// spectrumOf returns the values of a set's features in the order of choice; for mixed kinds, which
// a set stores kind by kind, in falling order.
func spectrumOf(set *state.Set) *Spectrum {
	lineage, m := set.Set.Lineage, set.Set.Set.Features.Len()
	out := &Spectrum{Unit: spectrumUnit(&lineage), Rows: lineage.Rows, Features: m, Above: lineage.AboveNoise}
	features, score := set.Set.Set.Features, set.Set.Set.Score
	if features.Map == scoring.MapCosine {
		kinds := features.Kinds()
		out.Kinds = &kinds
	}
	if features.Mixed() {
		score = slices.Clone(score)
		slices.SortFunc(score, func(a, b float64) int { return cmp.Compare(b, a) })
	}
	radius := lineage.LargeSampleRadius
	if set.Set.Candidates.Map.Bounded() {
		radius = lineage.Radius
	}
	// JSON has only finite numbers, and a set from another program may have negative scores.
	radius = min(radius*math.Sqrt(float64(len(set.Set.Coding.Gain))), math.MaxFloat64/2)
	for _, i := range someRanks(m) {
		value := score[i]
		if out.Unit == unitNorm {
			value = math.Sqrt(max(0, value))
			out.Low, out.High = append(out.Low, max(0, value-radius)), append(out.High, value+radius)
		}
		out.Rank, out.Value = append(out.Rank, float64(i+1)), append(out.Value, value)
	}
	return out
}

// someRanks returns indices below n, ascending and denser at the start, including the first and the
// last.
func someRanks(n int) []int {
	var ranks []int
	for i := range min(n, spectrumRanks) {
		if n > spectrumRanks {
			i = int(math.Round(math.Pow(float64(n), float64(i)/(spectrumRanks-1)))) - 1
		}
		ranks = append(ranks, i)
	}
	return slices.Compact(ranks)
}

// newestOf returns the later of two times.
func newestOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
