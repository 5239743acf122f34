package adaptive

import (
	"math"

	"github.com/eerf-stream/eerf/scoring"
)

const (
	// guardedSteps is how many steps of the refinement go from one measurement to the next.
	guardedSteps = 4
	// patience is by what share the loss of a step may exceed the least one of the steps before the refinement ends; it may always
	// exceed it by a standard error, which on few held-out rows is more.
	patience = 1.05
	// evaluationsPerStep bounds the evaluations of the objective.
	evaluationsPerStep = 1.5
)

// refine moves the features of the best point so far. By what it finds another round is drawn, and what that chose is moved in turn:
// features that went where others are give their places to candidates along what the moved ones have found.
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

// move takes steps from a point on.
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
	search := lbfgs{
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
	all := make([]int32, f.Len())
	for i := range all {
		all[i] = int32(i)
	}
	return f.Pick(all)
}
