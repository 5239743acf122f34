package status

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/state"
)

// Units of [Spectrum].
const (
	unitCorrelation = "correlation"
	unitNorm        = "norm"
	unitCriterion   = "criterion"
	// unitContribution is what a learned feature contributes to the model that it was learned with.
	unitContribution = "contribution"
)

// spectrumRanks is roughly how many ranks are sent.
const spectrumRanks = 240

// draw returns the spectrum of the exploration's sums; nil if there are none yet.
func (s *scores) draw() *Spectrum {
	if s.spec == nil || s.spectrum != nil {
		return s.spectrum
	}
	var merged *scoring.Sums
	var at time.Time
	partitions := 0
	checkpoints := s.newest()
	for _, partition := range slices.Sorted(maps.Keys(checkpoints)) {
		c := checkpoints[partition]
		if c.Sums == nil { // not of the size that the spec says
			continue
		}
		partitions++
		if at = newestOf(at, c.WrittenAt); merged == nil {
			merged = c.Sums.Clone()
			continue
		}
		merged.Merge(c.Sums)
	}
	if merged == nil {
		return nil
	}
	s.spectrum = spectrumOf(s.spec, merged, s.every)
	s.spectrum.Partitions, s.spectrum.At = partitions, at
	return s.spectrum
}

// spectrumOf ranks sums that are those of one candidate in `every`.
func spectrumOf(spec *wire.Spec, sums *scoring.Sums, every int) *Spectrum {
	ranked := sums.Spectrum(spec.Encoder.Label.Task, spec.Criterion, spec.Candidates.Map, spec.Candidates.Count)
	out := &Spectrum{
		Exploration: spec.Exploration, Unit: unitCorrelation, Rows: sums.Rows, Candidates: spec.Candidates.Count, Every: every,
		Noise: ranked.Noise, CutoffRank: spec.Features,
	}
	if !spec.Criterion.Relative() {
		out.Unit = unitNorm
	}
	if spec.Criterion.NeedsRows() {
		out.CutoffRank = min(scoring.PoolSize(spec.Features, spec.Rounds), spec.Candidates.Count)
	}
	for _, value := range ranked.Value {
		if value > ranked.Noise {
			out.Above += every
		}
	}
	out.Above = min(out.Above, out.Candidates)
	cutoff := min(max(0, (out.CutoffRank-1)/every), len(ranked.Value)-1)
	out.Cutoff = ranked.Value[cutoff]
	for _, i := range someRanks(len(ranked.Value), cutoff) {
		out.Rank = append(out.Rank, float64(i*every+1))
		out.Value = append(out.Value, ranked.Value[i])
		if ranked.Radius != nil {
			out.Low = append(out.Low, max(0, ranked.Value[i]-ranked.Radius[i]))
			out.High = append(out.High, ranked.Value[i]+ranked.Radius[i])
		}
	}
	return out
}

// someRanks returns indices below n, ascending and denser at the start, including the first, the last and with.
func someRanks(n, with int) []int {
	if n <= spectrumRanks {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	ranks := []int{with, n - 1}
	for i := range spectrumRanks {
		ranks = append(ranks, int(math.Round(math.Pow(float64(n), float64(i)/(spectrumRanks-1))))-1)
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// publishedSpectrum is what a published set says of its exploration, whose checkpoints are gone: the values of the kept
// features, in the order in which they were chosen.
func publishedSpectrum(set *state.Set) *Spectrum {
	lineage, m := set.Set.Lineage, set.Set.Set.Features.Len()
	out := &Spectrum{
		Exploration: lineage.Exploration, Unit: spectrumUnit(&lineage), Rows: lineage.Rows, Candidates: m, Every: 1,
		CutoffRank: m, Cutoff: lineage.Cutoff, Above: lineage.AboveNoise, Partitions: len(lineage.Partitions), At: set.Time,
	}
	radius := 0.0
	if !lineage.Criterion.Relative() {
		out.Unit, out.Cutoff = unitNorm, math.Sqrt(lineage.Cutoff)
		if radius = lineage.LargeSampleRadius; set.Set.Candidates.Map.Bounded() {
			radius = lineage.Radius
		}
		radius *= math.Sqrt(float64(len(set.Set.Coding.Gain)))
	}
	for _, i := range someRanks(m, m-1) {
		value := set.Set.Set.Score[i]
		if out.Unit == unitNorm {
			value = math.Sqrt(value)
			out.Low, out.High = append(out.Low, max(0, value-radius)), append(out.High, value+radius)
		}
		out.Rank, out.Value = append(out.Rank, float64(i+1)), append(out.Value, value)
	}
	return out
}

// newestOf is the later of two times.
func newestOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
