package status

import (
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/state"
)

// history lists feature sets and models.
func (p *page) history(s stages.Snapshot, c *cluster) History {
	out := History{Sets: []FeatureSet{}, Models: c.models, ModelsError: c.contents[roleModels]}
	if out.Models == nil {
		out.Models = []Model{}
	}
	for _, set := range s.State.SetsBySequence() {
		shown := describeSet(set)
		shown.Current = s.State.Current != nil && s.State.Current.ID == set.ID
		shown.Model = modelOf(out.Models, set.ID)
		for j := range out.Models {
			if out.Models[j].FeatureSet == set.ID {
				shown.Models++
			}
		}
		out.Sets = append(out.Sets, shown)
	}
	return out
}

// describeSet returns the page's description of a set.
func describeSet(set state.SetEntry) FeatureSet {
	l := set.Lineage
	radius := l.Radius
	if !set.Bounded {
		radius = l.LargeSampleRadius
	}
	return FeatureSet{
		ID: set.ID, Exploration: l.Exploration, Sequence: l.Sequence, Published: set.Time, Features: set.Features,
		Candidates: l.Candidates,
		Rows:       l.Rows,
		Copies:     l.Copies,
		Criterion:  l.Criterion.String(),
		AboveNoise: l.AboveNoise,
		ByResidual: l.ByResidual,
		Radius:     radius, Learned: set.Learned, Best: set.LearnedBest, HeldOutRows: set.HeldOutRows,
	}
}
