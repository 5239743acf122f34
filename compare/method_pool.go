package compare

import (
	"context"

	"github.com/eerf-stream/eerf/scoring"
)

var plainMethod = &Method{
	Name: Plain, Title: "plain random features (RKS, RFF)", Pool: true,
	Source:  "Rahimi and Recht, NIPS 2007 and NIPS 2008",
	Summary: "The first M candidates of the pool, drawn independently, at one bandwidth; labels are not looked at.",
	Select: func(_ context.Context, t *Trial) (*Selected, error) {
		return only(firstCandidates(t.OneBandwidth(), t.M)), nil
	},
}

var energyMethod = &Method{
	Name: "energy", Title: "EERF, criterion energy", Pool: true,
	Source:  "Shahrampour, Beirami, Tarokh, AAAI 2018",
	Summary: "The M candidates with the greatest energy Σ_k Ŝ_k², the squared mean of label times feature over the sample.",
	Select:  byCriterion(scoring.Energy),
}

var correlationMethod = &Method{
	Name: "correlation", Title: "EERF, criterion correlation", Pool: true,
	Source:  "this project, after Shahrampour, Beirami, Tarokh, AAAI 2018",
	Summary: "As energy, with the constant taken out and each candidate judged per unit of its own variance.",
	Select:  byCriterion(scoring.Correlation),
}

// byCriterion selects the best candidates of the pool.
func byCriterion(criterion scoring.Criterion) func(context.Context, *Trial) (*Selected, error) {
	return func(_ context.Context, t *Trial) (*Selected, error) {
		selection, err := scoring.Select(t.Sums(), t.Task, criterion, t.M)
		if err != nil {
			return nil, err
		}
		return ranked(t, selection), nil
	}
}

// ranked are candidates of the pool that stand or fall by their scores.
func ranked(t *Trial, s scoring.Selection) *Selected {
	selected := only(scoring.NewFeatureSet(t.Candidates(), s))
	selected.AboveNoise = &s.AboveNoise
	return selected
}

// firstCandidates is the set of the first m candidates, which nothing has ranked.
func firstCandidates(c scoring.Candidates, m int) *scoring.FeatureSet {
	selection := scoring.Selection{Index: make([]int32, m), Score: make([]float64, m)}
	for i := range selection.Index {
		selection.Index[i] = int32(i)
	}
	return scoring.NewFeatureSet(c, selection)
}
