package scoring

import (
	"math"
	"slices"
)

// Spectrum is the criterion's values of candidates, the best first, on a scale that people can read:
//
//	Energy                 ‖Ŝ‖ = √energy; the norm of the expectation is within Radius of it
//	Correlation, Residual  √(Σ_k cov(y_k, φ)²/var(φ) / Σ_k var(y_k)), from 0 to 1; with one output |corr(y, φ)|
//
// Both scales rank candidates as the criterion does.
type Spectrum struct {
	// Index is the number of each candidate among those summed, Value what it has, falling.
	Index []int32
	Value []float64
	// Radius is, under Energy, that of each value: √K times [HoeffdingRadius] for bounded maps, and times the large-sample
	// radius of the candidate for others. Under the other criteria it is nil: nothing is claimed about expectations.
	Radius []float64
	// Noise is [HoeffdingRadius]: under Correlation and Residual what candidates that have nothing to do with the outputs stay
	// below; under Energy with a bounded map √K times it, and 0 without.
	Noise float64
}

// Spectrum ranks the candidates of s, which may be some of all that are scored, candidates in number: confidence is in all of
// them at once. Without rows every value is 0.
func (s *Sums) Spectrum(task Task, criterion Criterion, m Map, candidates int) Spectrum {
	if candidates < s.Candidates() {
		panic("scoring: spectrum of more candidates than there are")
	}
	values := CriterionValues(s, task, criterion)
	order := Rank(values)
	spectrum := Spectrum{Index: order, Value: make([]float64, len(order))}
	unit := 1.0
	if criterion.Relative() {
		unit = s.codedVariance(task)
	}
	for i, candidate := range order {
		if unit > 0 {
			spectrum.Value[i] = math.Sqrt(values[candidate] / unit)
		}
	}
	if s.Rows == 0 {
		return spectrum
	}
	spectrum.Noise = HoeffdingRadius(candidates, s.Outputs(), s.Rows, Delta)
	if !criterion.Relative() {
		s.energyRadius(&spectrum, task, m, candidates)
	}
	return spectrum
}

// energyRadius fills in the radii of ‖Ŝ‖.
func (s *Sums) energyRadius(spectrum *Spectrum, task Task, m Map, candidates int) {
	root := math.Sqrt(float64(s.Outputs()))
	if m.Bounded() {
		spectrum.Noise *= root
		spectrum.Radius = slices.Repeat([]float64{spectrum.Noise}, len(spectrum.Index))
		return
	}
	spectrum.Noise = 0
	outputs, scores := s.Outputs(), s.Scores(s.Coding(task))
	// The union is over all candidates, not only over those summed.
	wider := math.Sqrt(unionLog(candidates, outputs, Delta) / unionLog(s.Candidates(), outputs, Delta))
	spectrum.Radius = make([]float64, len(spectrum.Index))
	for i, candidate := range spectrum.Index {
		own := scores[int(candidate)*outputs : (int(candidate)+1)*outputs]
		spectrum.Radius[i] = root * wider * s.largeSampleRadius(int(candidate), own, Delta)
	}
}

// codedVariance returns Σ_k var(y_k) of the coded outputs.
func (s *Sums) codedVariance(task Task) (sum float64) {
	if s.Rows == 0 {
		return 0
	}
	coding := s.Coding(task)
	for k, gain := range coding.Gain {
		sum += gain * gain * variance(s.Y[k], s.YSq[k], float64(s.Rows))
	}
	return sum
}
