package training

import "fmt"

// Evaluate returns the errors of m on the rows of s, from the moments alone and for all of them: the
// same figures as adding every prediction to NewRegression, up to rounding. trainMean is that of
// NewRegression. It panics when the shapes differ and answers ErrNotFinite for sums that are not finite.
func (m *Model) Evaluate(s *Sums, trainMean []float64) (*Regression, error) {
	if m.Features != s.features || m.Outputs != s.outputs || len(trainMean) != m.Outputs {
		panic(fmt.Sprintf("training: model of %d features and %d outputs on sums of %d and %d, with %d means",
			m.Features, m.Outputs, s.features, s.outputs, len(trainMean)))
	}
	c, err := centre(s)
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	r := NewRegression(trainMean)
	if s.Rows == 0 {
		return r, nil
	}
	r.Rows = s.Rows
	for k, loss := range c.squaredLosses(m) {
		o := &r.outputs[k]
		o.squared = loss * float64(s.Rows)
		o.mean = c.yMean[k]
		o.centred = c.yVar[k] * float64(s.Rows)
	}
	return r, nil
}
