package training

import (
	"context"
	"slices"

	"github.com/eerf-stream/eerf/training/internal/linear"
)

// logisticPath fits the levels of a grid in turn, from the largest down, and judges each on left-out rows.
type logisticPath struct {
	grid   Grid
	factor *linear.Cholesky
	folds  []*fold
	rungs  []rung // the levels tried, falling
	best   rung
}

// fold is rows to fit and rows to judge by.
type fold struct {
	problem *logistic
	heldOut *Rows
	last    answer
}

// rung is one level that was tried.
type rung struct {
	level float64
	loss  float64     // mean log loss on left-out rows
	how   Convergence // of the worst fold
	first answer      // of the first fold
}

func (p *logisticPath) add(fit, heldOut *Rows, intercept bool) error {
	problem, err := newLogistic(fit, intercept)
	if err != nil {
		return err
	}
	p.folds = append(p.folds, &fold{problem: problem, heldOut: heldOut, last: answer{x: problem.start}})
	return nil
}

// clearRise is the share by which a loss must exceed the best to end the search. Held-out losses fall and then rise as
// λ falls, and the smallest λ take the longest.
const clearRise = 0.05

// walk tries the levels of the grid, continues below while the lowest is the best, and ends early if the loss rises.
func (p *logisticPath) walk(ctx context.Context) error {
	levels := slices.Clone(p.grid.levels())
	slices.Reverse(levels)
	for _, level := range levels {
		if err := p.try(ctx, level); err != nil || p.rising() {
			return err
		}
	}
	for _, level := range p.grid.below() {
		if p.best.level != p.rungs[len(p.rungs)-1].level {
			return nil
		}
		if err := p.try(ctx, level); err != nil {
			return err
		}
	}
	return nil
}

// rising reports whether the last level was clearly worse than the best.
func (p *logisticPath) rising() bool {
	return p.rungs[len(p.rungs)-1].loss > p.best.loss*(1+clearRise)
}

// try fits one level.
func (p *logisticPath) try(ctx context.Context, level float64) error {
	r := rung{level: level}
	rows := 0
	for i, f := range p.folds {
		a, err := f.problem.solve(ctx, f.last, f.problem.lambdaOf(p.grid, level), solver{p.factor, pathTolerance})
		if err != nil {
			return err
		}
		f.last = a
		r.loss += f.problem.pass(f.heldOut, a.x, false).loss
		rows += f.heldOut.Len()
		if i == 0 {
			r.first = a
		}
		if i == 0 || a.how.RelativeGradient > r.how.RelativeGradient {
			r.how = a.how
		}
	}
	r.loss /= float64(rows)
	p.rungs = append(p.rungs, r)
	if len(p.rungs) == 1 || r.loss < p.best.loss {
		p.best = r
	}
	return nil
}

// report fills in the results for the levels, ascending.
func (p *logisticPath) report(f *LogisticFit) {
	f.Level = p.best.level
	for _, r := range slices.Backward(p.rungs) {
		f.Levels = append(f.Levels, r.level)
		f.Lambdas = append(f.Lambdas, r.first.lambda)
		f.HeldOutLoss = append(f.HeldOutLoss, r.loss)
		f.Path = append(f.Path, r.how)
	}
	lowest, highest := f.Levels[0], f.Levels[len(f.Levels)-1]
	f.AtEdge = slices.Min(f.HeldOutLoss) < slices.Max(f.HeldOutLoss) && (f.Level == lowest || f.Level == highest)
}
