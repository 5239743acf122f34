package train

import (
	"context"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// halfLives are the numbers of rows of the stream after which a row may count half as much.
var halfLives = []float64{4_000, 16_000, 64_000, 256_000}

// gathered are the rows of a trainer, ready to be fitted.
type gathered struct {
	cells      []aged         // the newest first
	judging    map[*cell]bool // those whose held-out rows judge
	all        dataset
	evaluation *training.EvaluationSample // of the newest held-out rows
	seen       int64                      // held-out rows that the exploration may have seen
	of         *Trainer
}

// gather looks through the cells.
func (t *Trainer) gather() *gathered {
	g := &gathered{of: t, cells: t.agedCells(), judging: map[*cell]bool{}}
	withSeen := t.needsSeen(g.cells)
	for _, c := range t.judging(g.cells, withSeen) {
		g.judging[c.cell] = true
	}
	g.all = g.data(0)
	g.seen = g.all.settle()
	g.evaluation = t.newestHeldOut(g.cells, withSeen)
	return g
}

// needsSeen reports whether too few rows are held out without those that the exploration may have seen.
func (t *Trainer) needsSeen(cells []aged) bool {
	rows := int64(0)
	for _, c := range cells {
		if !c.folded() {
			rows += c.data.heldOut.len()
		}
	}
	return len(t.learnedFrom) > 0 && rows < enoughUnseen
}

// newestHeldOut samples the held-out rows of the newest cells that have enough of them, or of all that can judge, with
// or without those that the exploration may have seen.
func (t *Trainer) newestHeldOut(cells []aged, withSeen bool) *training.EvaluationSample {
	sample := t.newEvaluation()
	for _, c := range t.judging(cells, withSeen) {
		sample.Merge(c.evaluation)
		if withSeen && c.seenEvaluation != nil {
			sample.Merge(c.seenEvaluation)
		}
	}
	return sample
}

// judging returns the cells whose held-out rows judge: the newest that have enough of them.
func (t *Trainer) judging(cells []aged, withSeen bool) (newest []aged) {
	rows := 0
	for _, c := range cells {
		if c.folded() || t.ages && rows >= newestRows {
			continue
		}
		newest = append(newest, c)
		rows += c.heldOutRows(withSeen)
	}
	return newest
}

// data merges the cells, each lane's in order. Rows to fit on count 2^(−age/half-life) times; 0 = all count once.
// Held-out rows that do not judge any more are left out until their cell is folded: they may be of another time.
func (g *gathered) data(halfLife float64) dataset {
	weights := map[*cell]float64{}
	for _, c := range g.cells {
		weights[c.cell] = 1
		if halfLife > 0 {
			weights[c.cell] = math.Exp2(-c.age / halfLife)
		}
	}
	all := g.of.newDataset()
	for _, l := range g.of.lanes {
		for _, c := range l.cells {
			if w := weights[c]; w > leastWeight {
				all.merge(c, w, g.judging[c])
			}
		}
	}
	return all
}

// leastWeight is what rows count at least to be added.
const leastWeight = 0x1p-12

// solve fits all rows and, if there are enough, tries half-lives at the λ that was chosen. One that is better on the
// newest held-out rows than forgetting nothing, by a standard error of the difference, is fitted as well; the best one
// wins. It returns the half-life, 0 = none.
func (g *gathered) solve(ctx context.Context, o training.Options) (*solution, dataset, float64, error) {
	result, err := g.all.solve(ctx, o)
	if err != nil || !g.of.ages || result.OnFit == result.Model {
		return result, g.all, 0, err
	}
	halfLife, err := g.forget(ctx, o, result)
	if err != nil || halfLife == 0 {
		return result, g.all, 0, err
	}
	weighted := g.data(halfLife)
	weighted.settle()
	result, err = weighted.solve(ctx, o)
	return result, weighted, halfLife, err
}

// forget returns the half-life that is better than none, 0 if there is none.
func (g *gathered) forget(ctx context.Context, o training.Options, none *solution) (best float64, err error) {
	z, y, rows := g.evaluation.Rows()
	if rows < training.MinHeldOutRows {
		return 0, nil
	}
	before := training.RowLosses(g.of.coded(none.OnFit), z, y, rows)
	least, total := 0.0, g.cells[len(g.cells)-1].age
	for _, halfLife := range halfLives {
		if total < halfLife/2 {
			break // too few rows to tell it from none
		}
		weighted := g.data(halfLife)
		weighted.settle()
		model, err := weighted.fitAt(ctx, o, none)
		if err != nil {
			return 0, err
		}
		differences := training.RowLosses(g.of.coded(model), z, y, rows)
		for i := range differences {
			differences[i] -= before[i]
		}
		mean, standard := training.MeanAndError(differences)
		if mean < -standard && mean < least {
			best, least = halfLife, mean
		}
	}
	return best, nil
}

// fitAt fits the rows at the λ of another solution.
func (d dataset) fitAt(ctx context.Context, o training.Options, like *solution) (*training.Model, error) {
	if d.fit.rows == nil {
		return training.FitAt(d.fit.sums, o, like.Level)
	}
	return training.FitLogisticAt(ctx, d.fit.rows.Rows, o, like.Level, like.OnFit)
}

// coded returns a fitted model that predicts labels as the held-out rows have them: these are coded with the offset,
// which the fitted ones may not be.
func (t *Trainer) coded(model *training.Model) *training.Model {
	if t.set.Task != scoring.Regression {
		return model
	}
	shifted := *model
	shifted.Intercept = slices.Clone(model.Intercept)
	for k, offset := range t.coding.Offset {
		shifted.Intercept[k] += offset - t.fitOffset[k]
	}
	return &shifted
}
