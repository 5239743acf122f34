package train

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// halfLives are the candidate half-lives: the weight of a row halves after this many rows of the
// stream.
var halfLives = []float64{1_000, 4_000, 16_000, 64_000, 256_000}

// minGainStdErrs is the number of standard errors by which a half-life must be better than no
// half-life, because several are tried on the same rows.
const minGainStdErrs = 2

// gathered are the rows of a trainer and those among them that judge.
type gathered struct {
	trainer    *Trainer
	cells      []aged                     // newest first
	judging    []aged                     // cells with held-out rows that judge
	evaluation *training.EvaluationSample // of the newest held-out rows
}

// gather collects the cells for models with a half-life or, with 0, for models that forget nothing.
func (t *Trainer) gather(halfLife float64) *gathered {
	g := &gathered{trainer: t, cells: t.agedCells()}
	withSeen := t.needsSeen(g.cells)
	g.judging = t.judging(g.cells, withSeen, halfLife)
	g.evaluation = t.heldOutOf(g.judging, withSeen)
	return g
}

// needsSeen reports whether too few rows are held out without the rows that the exploration may
// have seen.
func (t *Trainer) needsSeen(cells []aged) bool {
	rows := int64(0)
	for _, c := range cells {
		if !c.folded() {
			rows += c.data.heldOut.len()
		}
	}
	return len(t.learnedFrom) > 0 && rows < enoughUnseen
}

// heldOutOf samples the held-out rows of cells, with or without the rows that the exploration may
// have seen.
func (t *Trainer) heldOutOf(cells []aged, withSeen bool) *training.EvaluationSample {
	sample := t.newEvaluation()
	for _, c := range cells {
		sample.Merge(c.evaluation)
		if withSeen && c.seenEvaluation != nil {
			sample.Merge(c.seenEvaluation)
		}
	}
	return sample
}

// judging returns the cells with held-out rows that judge a model: the newest cells that have
// enough of them, or all that can judge.
func (t *Trainer) judging(cells []aged, withSeen bool, halfLife float64) (newest []aged) {
	rows, enough := 0, newestRows
	if halfLife > 0 {
		enough = recentRows
	}
	for _, c := range cells {
		if c.folded() || t.ages && rows >= enough {
			continue
		}
		newest = append(newest, c)
		rows += c.heldOutRows(withSeen)
	}
	return newest
}

// data merges the cells of each lane in order. Rows to fit on count 2^(−age/half-life) times, or
// once without a half-life. Held-out rows that no longer judge are left out until their cell is
// folded, because they may follow an old relation.
func (g *gathered) data(halfLife float64) dataset {
	weights, judges := map[*cell]float64{}, map[*cell]bool{}
	for _, c := range g.cells {
		weights[c.cell] = c.weight(halfLife)
	}
	for _, c := range g.judging {
		judges[c.cell] = true
	}
	all := g.trainer.newDataset()
	for _, l := range g.trainer.lanes {
		for _, c := range l.cells {
			if w := weights[c]; w > leastWeight {
				all.merge(c, w, judges[c])
			}
		}
	}
	return all
}

// weights returns the sum of the weights of all rows.
func (g *gathered) weights(halfLife float64) (sum float64) {
	for _, c := range g.cells {
		sum += float64(float64(c.rows) * c.weight(halfLife))
	}
	return sum
}

// weight returns how often each row of the cell counts. A half-life of 0 forgets nothing.
func (c aged) weight(halfLife float64) float64 {
	if halfLife == 0 {
		return 1
	}
	return math.Exp2(-c.age / halfLife)
}

// leastWeight is the least weight of rows that are added.
const leastWeight = 0x1p-8

// solved is a fit with the rows that judge it.
type solved struct {
	*solution
	data       dataset
	evaluation *training.EvaluationSample
	halfLife   float64 // 0 = forgets nothing
	seen       int64   // held-out rows that the exploration may have seen
	economies  []string
}

// solve fits all rows and, if there are enough, looks for a half-life that is better than
// forgetting nothing. The model with that half-life then gets its own λ.
func (t *Trainer) solve(ctx context.Context, o training.Options) (*solved, error) {
	all := o
	if t.ages {
		all.Budget = o.Budget.Within(allShare)
	}
	none, err := t.gather(0).fit(ctx, all, 0)
	if err != nil || !t.ages || none.OnFit == none.Model {
		return none, err
	}
	some := o
	some.Budget = o.Budget.Within(halfLivesShare)
	recent := t.gather(halfLives[0])
	halfLife, short, err := recent.forget(ctx, some, none.onFit())
	if err != nil {
		return nil, err
	}
	best := none
	if halfLife > 0 {
		if best, err = recent.fit(ctx, o, halfLife); err != nil {
			return nil, err
		}
	}
	if short {
		best.economies = append(best.economies, wire.FewerHalfLives)
	}
	return best, nil
}

// Shares of train.learning_time: allShare for the model of all rows, and halfLivesShare of the
// rest for the choice of a half-life.
const allShare, halfLivesShare = 0.5, 0.5

func (g *gathered) fit(ctx context.Context, o training.Options, halfLife float64) (*solved, error) {
	s := &solved{data: g.data(halfLife), evaluation: g.evaluation, halfLife: halfLife}
	s.seen = s.data.settle()
	var err error
	s.solution, err = g.trainer.solveMembers(ctx, s.data, o)
	if err != nil {
		return nil, err
	}
	for _, e := range s.Economies {
		s.economies = append(s.economies, string(e))
	}
	return s, nil
}

// forget returns the half-life with the least loss on the newest held-out rows if it beats
// forgetting nothing by more than noise, otherwise 0.
//
// After a change, a model that forgets nothing chooses the λ of a constant. The shortest half-life
// therefore looks for its own λ from there downwards. The other half-lives keep λ times the sum of
// weights.
func (g *gathered) forget(
	ctx context.Context,
	o training.Options,
	none []*training.Model, // of each member
) (best float64, short bool, err error) {
	z, y, rows := g.evaluation.Rows()
	if rows < training.MinHeldOutRows {
		return 0, false, nil
	}
	losses := func(members []*training.Model) []float64 {
		return training.RowLosses(g.trainer.coded(g.trainer.mean(members)), z, y, rows)
	}
	without, least := losses(none), 0.0
	penalties, found := make([]float64, len(none)), none
	for j, m := range none {
		penalties[j] = m.Lambda * g.weights(0)
	}
	for i, halfLife := range halfLives {
		if g.cells[len(g.cells)-1].age < halfLife {
			break // too few rows to differ from forgetting nothing
		}
		if err := ctx.Err(); err != nil {
			return 0, false, err
		}
		if o.Budget.Exhausted() {
			return best, true, nil
		}
		o.Budget.Spend(g.mergeSeconds())
		weighted, sum := g.data(halfLife), g.weights(halfLife)
		weighted.settle()
		fit := func(share float64) ([]*training.Model, error) {
			lambdas := slices.Clone(penalties)
			floats.Scale(share/sum, lambdas)
			return weighted.fitAt(ctx, o, lambdas, found)
		}
		found, err = fit(1)
		if err != nil {
			return 0, false, err
		}
		of := losses(found)
		for i == 0 && !o.Budget.Exhausted() {
			lower, err := fit(0.1)
			if err != nil {
				return 0, false, err
			}
			next := losses(lower)
			if !(stat.Mean(next, nil) < stat.Mean(of, nil)) {
				break
			}
			floats.Scale(0.1, penalties)
			found, of = lower, next
		}
		floats.Sub(of, without)
		if mean, standard := training.MeanAndError(of); mean < -minGainStdErrs*standard && mean < least {
			best, least = halfLife, mean
		}
	}
	return best, false, nil
}

// mergeSeconds estimates the time of merging all cells.
func (g *gathered) mergeSeconds() float64 {
	if g.trainer.share != nil {
		return 0 // rows are not copied
	}
	one := 0.0
	for _, features := range g.trainer.members {
		one += training.MergeSeconds(len(features), g.trainer.outputs)
	}
	return float64(2*len(g.cells)) * one
}

// coded turns a fitted model into one that predicts labels as the held-out rows have them. Those
// are coded with the offset, which fitted labels may lack.
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
