package status

import (
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/telemetry"
)

// churns remembers how two sets compare, by their ids: to compare takes time, and sets do not change.
type churns map[[2]string]float64

// of is the share of the features of a set that the one before has not.
func (c churns) of(set, before state.Set) float64 {
	key := [2]string{set.ID, before.ID}
	if share, known := c[key]; known {
		return share
	}
	c[key] = telemetry.Churn(set.Set, before.Set)
	return c[key]
}

// keep forgets the comparisons of sets that are not there any more.
func (c churns) keep(sets map[string]state.Set) {
	for key := range c {
		_, a := sets[key[0]]
		if _, b := sets[key[1]]; !a || !b {
			delete(c, key)
		}
	}
}

// history lists feature sets and models.
func (p *page) history(s stages.Snapshot, c *cluster) History {
	out := History{Sets: []FeatureSet{}, Models: c.models, ModelsError: c.contents[roleModels]}
	if out.Models == nil {
		out.Models = []Model{}
	}
	p.churn.keep(s.State.Sets)
	sets := s.State.SetsBySequence()
	for i, set := range sets {
		shown := describeSet(set)
		shown.Current = s.State.Current != nil && s.State.Current.ID == set.ID
		if i+1 < len(sets) {
			churn := p.churn.of(set, sets[i+1])
			shown.Churn = &churn
		}
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

// describeSet says of a set what is shown.
func describeSet(set state.Set) FeatureSet {
	l := set.Set.Lineage
	radius := l.Radius
	if !set.Set.Candidates.Map.Bounded() {
		radius = l.LargeSampleRadius
	}
	shown := FeatureSet{
		ID: set.ID, Exploration: l.Exploration, Sequence: l.Sequence, Published: set.Time, Features: set.Set.Set.Features.Len(),
		Candidates: l.Candidates, Rows: l.Rows, Criterion: l.Criterion.String(), AboveNoise: l.AboveNoise, ByResidual: l.ByResidual,
		Radius: radius, Learned: l.Learned(),
	}
	if l.Learning != nil {
		best := l.Learning.Best()
		shown.Best, shown.HeldOutRows = &best, l.Learning.HeldOutRows
	}
	return shown
}
