package compare

import (
	"context"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
)

var plainMethod = &Method{
	Name: Plain, Title: "plain random features (RKS, RFF)",
	Source:  "Rahimi and Recht, NIPS 2007 and NIPS 2008",
	Summary: "The first M candidates of the pool, drawn independently of the labels.",
	Select: func(_ context.Context, t *Trial) (*Selected, error) {
		return only(firstCandidates(t.Candidates(), t.M)), nil
	},
}

var energyMethod = &Method{
	Name: "energy", Title: "EERF, criterion energy",
	Source:  "Shahrampour, Beirami, Tarokh, AAAI 2018",
	Summary: "The M candidates with the greatest energy Σ_k Ŝ_k²: squared means of label times feature over the sample.",
	Select:  byCriterion(scoring.Energy),
}

var correlationMethod = &Method{
	Name: "correlation", Title: "EERF, criterion correlation",
	Source: "this project, after Shahrampour, Beirami, Tarokh, AAAI 2018",
	Summary: "The M candidates that correlate best with the label: " +
		"energy, centred, per unit of the candidate's variance.",
	Select: byCriterion(scoring.Correlation),
}

var residualMethod = &Method{
	Name: "residual", Title: "EERF, criterion residual",
	Source: "this project, after Shahrampour, Tarokh, NeurIPS 2018",
	Summary: "In three rounds, the candidates that correlate best with the residual of a model on those chosen so far, " +
		"picked one at a time and projected out. A held-out fifth of the sample decides how many of the first are kept.",
	Select: byLearning(adaptive.Options{ChooseOnly: true}),
}

// byCriterion selects candidates of the pool by their sums, as the stream does.
func byCriterion(criterion scoring.Criterion) func(context.Context, *Trial) (*Selected, error) {
	return func(_ context.Context, t *Trial) (*Selected, error) {
		selection, err := scoring.Select(t.Sums(), t.Task, criterion, t.M)
		if err != nil {
			return nil, err
		}
		return only(scoring.NewFeatureSet(t.Candidates(), selection)), nil
	}
}

// firstCandidates is the set of the first m candidates, unranked.
func firstCandidates(c scoring.Candidates, m int) *scoring.FeatureSet {
	selection := scoring.Selection{Index: make([]int32, m), Score: make([]float64, m)}
	for i := range selection.Index {
		selection.Index[i] = int32(i)
	}
	return scoring.NewFeatureSet(c, selection)
}

// pool is the candidates of a repeat with the rows on which they are scored.
type pool struct {
	candidates scoring.Candidates
	list       []int32 // numbers of the training rows in the sample, ascending
	sample     *rows
}

// rows returns the encoded sample.
func (p *pool) rows() (x []float32, rows int, y scoring.Targets) {
	return p.sample.x, p.sample.rows, p.sample.targets
}

// score sums the features of the candidates over the sample.
func (p *pool) score(bank *scoring.Bank) *scoring.Sums {
	x, rows, y := p.rows()
	a := scoring.NewAccumulator(bank, scoring.NewSums(p.candidates.Count, y.Outputs))
	a.Add(x, rows, y)
	return a.Sums()
}
