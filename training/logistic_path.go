package training

import (
	"context"
	"slices"
)

// logisticPath fits the levels of a grid in turn, from the largest down, and judges each on rows
// left out of the fit.
type logisticPath struct {
	grid    Grid
	solver  solver
	problem *logistic
	heldOut *Rows  // judge the levels
	rungs   []rung // levels tried, descending
	best    rung
	short   bool // the budget ended the search
}

// rung is a level that was tried.
type rung struct {
	answer
	level float64
	loss  float64 // mean log loss on the held-out rows
}

// clearRise is the share by which a loss must exceed the best to end the search. As λ falls,
// held-out losses fall and then rise, and the smallest λ take the longest.
const clearRise = 0.05

// walk tries the levels of the grid, continues below the lowest while it is the best, and ends
// early if the loss rises.
func (p *logisticPath) walk(ctx context.Context) error {
	levels := slices.Clone(p.grid.levels())
	slices.Reverse(levels)
	for _, level := range levels {
		if p.ended() {
			return nil
		}
		if err := p.try(ctx, level); err != nil || p.rising() {
			return err
		}
	}
	for _, level := range p.grid.below() {
		if p.best.level != p.rungs[len(p.rungs)-1].level || p.ended() {
			return nil
		}
		if err := p.try(ctx, level); err != nil {
			return err
		}
	}
	return nil
}

// pathShare is the share of the budget for the choice of λ. The rest is for the final fit.
const pathShare = 0.75

// ended reports whether the budget does not allow another level. One is always tried.
func (p *logisticPath) ended() bool {
	p.short = len(p.rungs) > 0 && p.solver.budget.Exhausted()
	return p.short
}

// rising reports whether the last level was clearly worse than the best. While the largest λ is the
// best, the loss may still fall later: where most rows are older than a change, a model that
// follows them a little is worse than a constant.
func (p *logisticPath) rising() bool {
	return p.best.level < p.rungs[0].level && p.rungs[len(p.rungs)-1].loss > p.best.loss*(1+clearRise)
}

// try fits one level, starting from the last one.
func (p *logisticPath) try(ctx context.Context, level float64) error {
	from := answer{x: p.problem.start}
	if n := len(p.rungs); n > 0 {
		from = p.rungs[n-1].answer
	}
	a, err := p.problem.solve(ctx, from, p.problem.lambdaOf(p.grid, level), p.solver)
	if err != nil {
		return err
	}
	p.solver.budget.Spend(passSeconds(p.heldOut.Len(), p.problem.features, p.problem.columns) / 2)
	r := rung{answer: a, level: level, loss: p.problem.pass(p.heldOut, a.x, false).loss / float64(p.heldOut.Len())}
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
		f.Lambdas = append(f.Lambdas, r.lambda)
		f.HeldOutLoss = append(f.HeldOutLoss, r.loss)
		f.Path = append(f.Path, r.how)
	}
	lowest, highest := f.Levels[0], f.Levels[len(f.Levels)-1]
	f.AtEdge = slices.Min(f.HeldOutLoss) < slices.Max(f.HeldOutLoss) && (f.Level == lowest || f.Level == highest)
}
