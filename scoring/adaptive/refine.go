package adaptive

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/scoring"
)

const (
	// guardedSteps is the number of refinement steps between two measurements.
	guardedSteps = 4
	// patience is the factor by which the loss may exceed the least one so far before the refinement ends. It may
	// always exceed it by a standard error, which is more if few rows are held out.
	patience = 1.05
	// evaluationsPerStep bounds the evaluations of the objective.
	evaluationsPerStep = 1.5
)

// refine moves the features of the best point so far, draws another round from what it finds, and moves that choice in
// turn. Features that ended up where others are give way to candidates along the directions that the moved ones have
// found.
func (l *learner) refine() error {
	if l.o.RefineSteps == 0 {
		return nil
	}
	if err := l.move(l.best()); err != nil {
		return err
	}
	for round := range l.o.RefineRounds {
		found := l.best()
		if found.Kind == ByResidual { // nothing that was learned is worth drawing by
			return nil
		}
		if err := l.round(lastRound+1+round, found); err != nil {
			return err
		}
		if err := l.move(l.points[len(l.points)-1]); err != nil {
			return err
		}
	}
	return nil
}

// move takes refinement steps from a point.
func (l *learner) move(start *point) error {
	f := start.features
	p := make([]float64, len(f.Omega)+f.Len())
	for i, v := range f.Omega {
		p[i] = float64(v)
	}
	for i, b := range f.Phase {
		p[len(f.Omega)+i] = float64(b)
	}
	o, least := newObjective(l, f), Point{Loss: math.Inf(1)}
	var fault error
	search := search{
		value: o.value, steps: l.o.RefineSteps, evaluations: int(evaluationsPerStep * float64(l.o.RefineSteps)),
		step: func(n int, x []float64) bool {
			if n%guardedSteps != 0 && n != l.o.RefineSteps {
				return true
			}
			at := Point{Kind: ByStep, Round: start.Round, Step: n}
			if fault = l.measure(at, copyOf(o.at(x)), start.chosen); fault != nil {
				return false
			}
			now := l.points[len(l.points)-1].Point
			if now.Loss < least.Loss {
				least = now
			}
			return now.Loss <= max(patience*least.Loss, least.Loss+least.StdErr)
		},
	}
	if err := search.run(p); err != nil {
		return err
	}
	return fault
}

// copyOf returns features that share no memory with f.
func copyOf(f *scoring.Features) *scoring.Features {
	return &scoring.Features{Map: f.Map, Dim: f.Dim, Omega: slices.Clone(f.Omega), Phase: slices.Clone(f.Phase)}
}
