package scoring

import (
	"fmt"
	"slices"

	"github.com/eerf-stream/eerf/training"
)

// AfterGram returns the plan that follows the second moments of the kept features, the pool and the raw outputs, in this
// order of columns, merged over the partitions. It takes from the pool, one by one, the feature that lowers the ridge
// objective most, until the round has its share or no feature's correlation with the residual, both freed of what
// is kept, exceeds the level of noise; then it fits the weights of all kept features again. It fails with [ErrOtherRows]
// and when g is damaged.
func (p *ResidualPlan) AfterGram(g *training.Products) (*ResidualPlan, error) {
	if p.Done || p.Pool == nil {
		panic("scoring: a Gram for a residual plan that does not wait for it")
	}
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("select features: %w", err)
	}
	columns := p.columns()
	if g.Rows != p.Rows || g.Columns() != p.Columns() {
		return nil, fmt.Errorf("select features: %w: a Gram of %d rows and %d columns instead of %d and %d",
			ErrOtherRows, g.Rows, g.Columns(), p.Rows, p.Columns())
	}
	next := *p
	next.Kept = p.Kept.clone()
	fit := newForwardFit(g, len(columns), p.Coding.Gain)
	for i := range p.Kept.Index {
		fit.take(i)
	}
	for range p.wanted() {
		best, loud := fit.best(p.radius())
		if best < 0 {
			break
		}
		if loud {
			next.AboveNoise++
		}
		next.keep(g, best, columns[best], fit.gain(best))
		fit.take(best)
	}
	next.Intercept, next.Weight = fit.weights()
	next.Pool = nil
	found := len(next.Kept.Index) - len(p.Kept.Index)
	next.Done = found == 0 || p.Round == p.Rounds
	if !next.Done {
		next.Round++
	}
	return &next, nil
}

// keep adds the candidate in a column of g to the chosen ones.
func (p *ResidualPlan) keep(g *training.Products, column int, index int32, gain float64) {
	mean, features := g.Mean(column), g.Columns()-p.outputs()
	scores := make([]float64, p.outputs())
	for k := range scores {
		y := features + k
		raw := g.Cov(column, y) + float64(mean*g.Mean(y))
		scores[k] = float64(p.Coding.Gain[k]*raw) + float64(p.Coding.Offset[k]*mean)
	}
	c := &p.Kept
	c.Index, c.Score, c.S = append(c.Index, index), append(c.Score, gain), append(c.S, scores...)
	c.LargeSampleRadius = append(c.LargeSampleRadius,
		p.largeSample(g.Cov(column, column)+float64(mean*mean), scores))
}

// clone returns a copy that shares nothing with c.
func (c *Chosen) clone() Chosen {
	return Chosen{
		Index: slices.Clone(c.Index), Score: slices.Clone(c.Score), S: slices.Clone(c.S),
		LargeSampleRadius: slices.Clone(c.LargeSampleRadius),
	}
}
