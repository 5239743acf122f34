package scoring

import (
	"errors"
	"fmt"
	"math"
)

// ErrOtherRows says that a pass of the residual criterion went over other rows than the first pass.
var ErrOtherRows = errors.New("the rows are not those of the first pass")

// AfterScores returns the plan that follows the scores of the pass in hand, merged over the partitions. The plan is
// done when no candidate's correlation with the residual exceeds the level of noise; else the best by correlation
// that are not kept yet become the pool. It fails where [Select] fails, and with [ErrOtherRows].
func (p *ResidualPlan) AfterScores(s *Sums, task Task) (*ResidualPlan, error) {
	if p.Done || p.Pool != nil {
		panic("scoring: scores for a residual plan that does not wait for them")
	}
	next := *p
	if err := next.begin(s, task); err != nil {
		return nil, err
	}
	values, loud := next.rate(s)
	if !loud {
		next.Done = true
		return &next, nil
	}
	for _, i := range rank(values)[:min(next.PoolSize(), len(values))] {
		if values[i] > 0 {
			next.Pool = append(next.Pool, i)
		}
	}
	return &next, nil
}

// begin checks the sums and takes from those of the first pass what later ones need.
func (p *ResidualPlan) begin(s *Sums, task Task) error {
	if !p.first() {
		if err := s.Validate(); err != nil {
			return fmt.Errorf("select features: %w", err)
		}
		if s.Rows != p.Rows || s.Candidates() != p.Candidates || s.Outputs() != p.outputs() {
			return fmt.Errorf("select features: %w: %d rows, %d candidates and %d outputs instead of %d, %d and %d",
				ErrOtherRows, s.Rows, s.Candidates(), s.Outputs(), p.Rows, p.Candidates, p.outputs())
		}
		return nil
	}
	best, err := Select(s, task, Correlation, p.Features)
	if err != nil {
		return err
	}
	p.Rows, p.Candidates, p.Coding = s.Rows, s.Candidates(), best.Coding
	p.Fill = Chosen{Index: best.Index, Score: best.Score, S: best.S, LargeSampleRadius: best.LargeSampleRadius}
	return nil
}

// rate returns the value of each candidate, Σ_k cov(residual_k, φ)²/var(φ) of coded outputs and 0 for the kept, and
// whether a correlation among them exceeds the level of noise.
func (p *ResidualPlan) rate(s *Sums) (values []float64, loud bool) {
	values = s.correlations(p.Coding)
	for _, i := range p.Kept.Index {
		values[i] = 0
	}
	radius := p.radius()
	for i, v := range values {
		for k := 0; v > 0 && !loud && k < p.outputs(); k++ {
			loud = s.correlation(p.Coding, i, k) > radius
		}
	}
	return values, loud && !math.IsInf(radius, 1)
}
