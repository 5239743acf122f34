package training

import "fmt"

// unit is the unit roundoff of float64.
const unit = 0x1p-53

// moments are the centred second moments of rows, each divided by the number of rows.
type moments struct {
	rows     int64
	features int
	outputs  int
	zMean    []float64 // [M]
	yMean    []float64 // [K]
	cov      []float64 // [M*M] cov(z_i, z_j), both triangles
	cross    []float64 // [K*M] cov(y_k, z_j), output-major
	yVar     []float64 // [K]
	constant int       // number of features that do not vary
}

// centre computes the moments of s: cov(a, b) = Σab/N − āb̄. A variance that the rounding of the sums
// alone could have made counts as zero, with all its covariances: such a feature or output is constant.
func centre(s *Sums) (*moments, error) {
	g := s.settled()
	if !finite(g.data) {
		return nil, fmt.Errorf("sums of %d rows: %w", s.Rows, ErrNotFinite)
	}
	c := &moments{
		rows: s.Rows, features: s.features, outputs: s.outputs,
		zMean: make([]float64, s.features),
		yMean: make([]float64, s.outputs),
		cov:   make([]float64, s.features*s.features),
		cross: make([]float64, s.outputs*s.features),
		yVar:  make([]float64, s.outputs),
	}
	if s.Rows == 0 {
		c.constant = s.features
		return c, nil
	}
	mean, varies := centredColumns(g, s.Rows)
	copy(c.zMean, mean[:s.features])
	copy(c.yMean, mean[s.features:])
	c.fill(g, varies)
	return c, nil
}

// centredColumns returns the mean of every column of the rows (z, y, 1) but the last, and whether the
// column varies. Second moments summed in blocks of blockRows and then block by block carry a relative
// error of at most (blockRows + N/blockRows + 2)·2⁻⁵³ (Higham, Accuracy and Stability of Numerical
// Algorithms, §4.2), and the squared mean about as much again.
func centredColumns(g packed, rows int64) (mean []float64, varies []bool) {
	n := float64(rows)
	tolerance := 2 * unit * (blockRows + n/blockRows + 2)
	mean = make([]float64, g.size-1)
	varies = make([]bool, g.size-1)
	for i := range mean {
		mean[i] = g.at(i, g.size-1) / n
		square := g.at(i, i) / n
		varies[i] = square-mean[i]*mean[i] > tolerance*square
	}
	return mean, varies
}

// fill computes the covariances of columns that vary; all others stay zero.
func (c *moments) fill(g packed, varies []bool) {
	n := float64(c.rows)
	for i := range c.features {
		if !varies[i] {
			c.constant++
			continue
		}
		row := g.row(i)
		for j := i; j < c.features; j++ {
			if varies[j] {
				v := row[j-i]/n - c.zMean[i]*c.zMean[j]
				c.cov[i*c.features+j] = v
				c.cov[j*c.features+i] = v
			}
		}
		for k := range c.outputs {
			if j := c.features + k; varies[j] {
				c.cross[k*c.features+i] = row[j-i]/n - c.zMean[i]*c.yMean[k]
			}
		}
	}
	for k := range c.outputs {
		if j := c.features + k; varies[j] {
			c.yVar[k] = g.at(j, j)/n - c.yMean[k]*c.yMean[k]
		}
	}
}

// squaredLoss returns (1/N) Σ (f(z) − y)² of output k for f(z) = intercept + θ·z, where hTheta = cov(z)·θ.
// With f̄ = intercept + θ·z̄ it is θᵀcov(z)θ − 2θ·cov(z, y) + var(y) + (ȳ − f̄)², which loses fewer digits
// than the same expression in raw moments.
func (c *moments) squaredLoss(k int, theta, hTheta []float64, intercept float64) float64 {
	spread := c.yVar[k]
	bias := c.yMean[k] - intercept
	cross := c.cross[k*c.features : (k+1)*c.features]
	for j, t := range theta {
		spread += t * (hTheta[j] - 2*cross[j])
		bias -= t * c.zMean[j]
	}
	return max(spread, 0) + bias*bias
}
