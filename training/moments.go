package training

import (
	"fmt"

	"github.com/eerf-stream/eerf/training/internal/gram"
	"github.com/eerf-stream/eerf/training/internal/kernel"
	"github.com/eerf-stream/eerf/training/internal/linear"
)

// unit is the unit roundoff of float32.
const unit = 0x1p-24

// moments are the centred second moments of rows, each divided by the number of rows.
type moments struct {
	rows     float64 // each with its weight
	features int
	outputs  int
	zMean    []float64      // [M]
	yMean    []float64      // [K]
	cov      *linear.Matrix // M×M: cov(z_i, z_j), the upper triangle
	cross    []float64      // [K*M] cov(y_k, z_j), output-major
	yVar     []float64      // [K]
	constant int            // number of features that do not vary
}

// centre computes the moments of sums. With coded values c = (v − shift)·scale, cov(a, b) = (Σ c_a
// c_b/N − c̄_a c̄_b)/(scale_a scale_b). A variance that may consist of rounding errors alone counts
// as zero, with all its covariances: such a feature or output is constant. Products are rounded
// before they are added, here as everywhere in this package, so that no compiler fuses them and
// every processor has the same bits.
func centre(g *gram.Moments) (*moments, error) {
	c := &moments{
		rows: g.Rows(), features: g.Features(), outputs: g.Outputs(),
		zMean: make([]float64, g.Features()),
		yMean: make([]float64, g.Outputs()),
		cov:   linear.NewMatrix(g.Features(), g.Features()),
		cross: make([]float64, g.Outputs()*g.Features()),
		yVar:  make([]float64, g.Outputs()),
	}
	if !finite(g.Values()) {
		return nil, fmt.Errorf("sums of %v rows: %w", c.rows, ErrNotFinite)
	}
	if c.rows == 0 {
		c.constant = c.features
		return c, nil
	}
	for j := range c.zMean {
		c.zMean[j] = columnMean(g, j)
	}
	for k := range c.yMean {
		c.yMean[k] = columnMean(g, c.features+k)
	}
	c.fill(newCentred(g))
	return c, nil
}

// columnMean returns the mean of column i of g over its rows, at least one.
func columnMean(g *gram.Moments, i int) float64 {
	return g.Shift(i) + g.Sum(i)/g.Rows()/g.Scale(i)
}

// centred reads covariances from sums.
type centred struct {
	sums *gram.Moments
	rows float64
	mean []float64 // of the coded values of each column
	unit []float64 // 1/scale of a column that varies, else 0
}

// newCentred determines which columns vary. Sums of blocks have a relative error of at most
// kernel.BlockRows·2⁻²⁴ if all their terms have one sign (Higham, Accuracy and Stability of
// Numerical Algorithms, §4.2), and the squared mean twice that. Sums that merging moved to another
// shift only have the rounding of float64, for which wide leaves room.
func newCentred(g *gram.Moments) *centred {
	const tolerance, wide = 3 * kernel.BlockRows * unit, 0x1p-40
	columns := g.Features() + g.Outputs()
	c := &centred{
		sums: g,
		rows: g.Rows(),
		mean: make([]float64, columns),
		unit: make([]float64, columns),
	}
	for i := range c.mean {
		c.mean[i] = g.Sum(i) / c.rows
		square := g.At(i, i) / c.rows
		variance := square - float64(c.mean[i]*c.mean[i])
		if variance > float64(tolerance*g.Multiplied(i)/c.rows)+float64(wide*square) {
			c.unit[i] = 1 / g.Scale(i)
		}
	}
	return c
}

// cov returns the covariance of columns i <= j, zero if one of them is constant.
func (c *centred) cov(i, j int) float64 {
	return (c.sums.At(i, j)/c.rows - float64(c.mean[i]*c.mean[j])) * c.unit[i] * c.unit[j]
}

// copyCov sets dst to the covariances of column i with columns from on, which are in one panel.
func (c *centred) copyCov(dst []float64, i, from int) {
	row := c.sums.Row(i, from/kernel.PanelColumns)[from%kernel.PanelColumns:][:len(dst)]
	mean, units := c.mean[from:][:len(dst)], c.unit[from:][:len(dst)]
	for j, v := range row {
		dst[j] = (v/c.rows - float64(c.mean[i]*mean[j])) * c.unit[i] * units[j]
	}
}

// fill computes all covariances.
func (c *moments) fill(from *centred) {
	for _, u := range from.unit[:c.features] {
		if u == 0 {
			c.constant++
		}
	}
	for j := 0; j < c.features; j += kernel.StripColumns {
		width := min(kernel.StripColumns, c.features-j)
		for i := range j + width {
			before := max(i-j, 0) // columns left of the diagonal
			from.copyCov(c.cov.Row(i, j/kernel.StripColumns)[before:width], i, j+before)
		}
	}
	for k := range c.outputs {
		for j := range c.features {
			c.cross[k*c.features+j] = from.cov(j, c.features+k)
		}
		c.yVar[k] = from.cov(c.features+k, c.features+k)
	}
}

// squaredLosses returns the mean squared loss of every output of models on the rows of c, model by
// model. It fills the lower triangle of cov.
func (c *moments) squaredLosses(models ...*Model) []float64 {
	theta := linear.NewMatrix(c.features, len(models)*c.outputs)
	for i, m := range models {
		m.copyWeights(theta, i*c.outputs)
	}
	c.cov.Mirror()
	product := linear.MultiplySymmetric(c.cov, theta)
	var losses []float64
	for i, m := range models {
		for k := range c.outputs {
			losses = append(losses, c.squaredLoss(m, k, product, i*c.outputs+k))
		}
	}
	return losses
}

// squaredLoss returns (1/N) Σ (f(z) − y)² of output k of m, where a column of product is cov(z)·θ.
// With f̄ = intercept + θ·z̄ it is θᵀcov(z)θ − 2θ·cov(z, y) + var(y) + (ȳ − f̄)², which loses fewer
// digits than the same expression in raw moments.
func (c *moments) squaredLoss(m *Model, k int, product *linear.Matrix, column int) float64 {
	spread := c.yVar[k]
	bias := c.yMean[k] - m.Intercept[k]
	cross := c.cross[k*c.features : (k+1)*c.features]
	for j, t := range m.Theta[k*c.features : (k+1)*c.features] {
		spread += float64(t * (product.At(j, column) - float64(2*cross[j])))
		bias -= float64(t * c.zMean[j])
	}
	return max(spread, 0) + float64(bias*bias)
}
