package adaptive

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/scoring"
)

const (
	// guardedSteps is the number of refinement steps between two measurements.
	guardedSteps = 4
	// patience is the factor by which the loss may exceed the least one so far before the
	// refinement ends. An excess of one standard error, which is larger if few rows are held out,
	// is always allowed.
	patience = 1.05
	// evaluationsPerStep bounds the evaluations of the objective per step.
	evaluationsPerStep = 1.5
)

// refine moves the features of a point. In the last round, candidates along the directions that the
// moved features found replace features that came to coincide with others.
func (l *learner) refine(start *point) error {
	o, p := newObjective(l, start.features), parameters(start.features)
	if l.o.RefineSteps == 0 || len(p) == 0 { // boxes have no parameters
		return nil
	}
	least := Point{Loss: math.Inf(1)}
	var fault error
	search := search{
		value: func(gradient, x []float64) (float64, error) {
			if err := l.stopped(); err != nil {
				return 0, err
			}
			return o.value(gradient, x)
		},
		steps: l.o.RefineSteps, evaluations: int(evaluationsPerStep * float64(l.o.RefineSteps)),
		step: func(n int, x []float64) bool {
			if n%guardedSteps != 0 && n != l.o.RefineSteps {
				return true
			}
			at := Point{Kind: ByStep, Track: start.Track, Round: start.Round, Step: n}
			fault = l.measure(&point{Point: at, features: o.at(x).Clone(), origins: start.origins}, nil)
			if fault != nil {
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

// parameters returns the numbers that the refinement changes: Ω, b and the thresholds of hinges.
func parameters(f *scoring.Features) []float64 {
	var p []float64
	for _, v := range slices.Concat(f.Omega, f.Phase) {
		p = append(p, float64(v))
	}
	for i := range f.Kinds().Hinge {
		for a := range f.Products[i].Order {
			p = append(p, float64(f.Products[i].Threshold[a]))
		}
	}
	return p
}
