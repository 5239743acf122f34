package training

import (
	"fmt"

	"github.com/eerf-stream/eerf/training/internal/gram"
)

// Covariances are the means and covariances of the columns of some rows: the M features, then the K
// outputs. They refer to the sums and are valid until more rows are added.
type Covariances struct {
	rows    float64
	moments *gram.Moments
}

// Covariances returns the covariances of the rows so far. It fails with [ErrNotFinite], and panics
// without rows.
func (s *Sums) Covariances() (*Covariances, error) {
	if s.Rows == 0 {
		panic("training: covariances of no rows")
	}
	c := &Covariances{rows: float64(s.Rows), moments: s.gram.Settled()}
	if !finite(c.moments.Values()) {
		return nil, fmt.Errorf("sums of %d rows: %w", s.Rows, ErrNotFinite)
	}
	return c, nil
}

// Mean returns the mean of column i.
func (c *Covariances) Mean(i int) float64 {
	return c.moments.Shift(i) + c.moments.Sum(i)/c.moments.Scale(i)/c.rows
}

// Cov returns the covariance of columns i and j. Scales are powers of two, so dividing by them is
// exact; products are rounded before they are subtracted, so that no compiler fuses them.
func (c *Covariances) Cov(i, j int) float64 {
	i, j = min(i, j), max(i, j)
	m := c.moments
	raw := m.At(i, j)/c.rows - float64((m.Sum(i)/c.rows)*(m.Sum(j)/c.rows))
	return raw / m.Scale(i) / m.Scale(j)
}
