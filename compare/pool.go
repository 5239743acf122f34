package compare

import "github.com/eerf-stream/eerf/scoring"

// pool is the candidates of a repeat with what methods share of them.
type pool struct {
	candidates scoring.Candidates
	sample     *rows
	encoded    []float32 // the sample's rows; nil until they are asked for
}

// score sums the features of the candidates over the sample.
func (p *pool) score(bank *scoring.Bank) *scoring.Sums {
	a := scoring.NewAccumulator(bank, scoring.NewSums(p.candidates.Count, p.sample.targets.Outputs))
	a.Add(p.sample.x, p.sample.rows, p.sample.targets)
	return a.Sums()
}
