package training

import (
	"errors"
	"fmt"
	"math"
)

// Products are the first and second moments of rows of D columns (the M features, then the K outputs) about a shift, in
// plain numbers: they can be stored, read again and merged, and lose nothing on the way.
type Products struct {
	// Rows is n.
	Rows int64
	// Shift is what was taken from each column, near its mean, [D].
	Shift []float64
	// Sum is Σ (v_i − Shift_i), [D].
	Sum []float64
	// Product is Σ (v_i − Shift_i)(v_j − Shift_j) for i ≤ j at j·(j+1)/2 + i, [D·(D+1)/2].
	Product []float64
}

// NewProducts returns the moments of no rows of so many columns.
func NewProducts(columns int) *Products {
	if columns < 1 {
		panic(fmt.Sprintf("training: products of %d columns", columns))
	}
	return &Products{
		Shift: make([]float64, columns), Sum: make([]float64, columns),
		Product: make([]float64, columns*(columns+1)/2),
	}
}

// Products returns the moments of the rows so far, which share nothing with s.
func (s *Sums) Products() *Products {
	columns := s.features + s.outputs
	p := NewProducts(columns)
	g := s.gram.Settled()
	p.Rows = s.Rows
	if p.Rows == 0 {
		return p
	}
	for j := range columns {
		// Scales are powers of two, so that dividing by them is exact.
		p.Shift[j], p.Sum[j] = g.Shift(j), g.Sum(j)/g.Scale(j)
		for i := range j + 1 {
			p.Product[j*(j+1)/2+i] = g.At(i, j) / g.Scale(i) / g.Scale(j)
		}
	}
	return p
}

// Columns returns D.
func (p *Products) Columns() int { return len(p.Sum) }

// Mean returns the mean of column i; there must be rows.
func (p *Products) Mean(i int) float64 { return p.Shift[i] + p.Sum[i]/float64(p.Rows) }

// Cov returns the covariance of columns i and j; there must be rows.
func (p *Products) Cov(i, j int) float64 {
	i, j = min(i, j), max(i, j)
	n := float64(p.Rows)
	return p.Product[j*(j+1)/2+i]/n - float64((p.Sum[i]/n)*(p.Sum[j]/n))
}

// Merge adds the rows of other, which is left as it is. Floating-point sums depend on their order: merge partitions in
// partition order to get the same bits again. It panics when the columns differ.
//
// With e the difference of the shifts, Σ (u_i + e_i)(u_j + e_j) = Σ u_i u_j + e_i Σ u_j + e_j Σ u_i + n e_i e_j. Products
// are rounded before they are added, so that no compiler fuses them.
func (p *Products) Merge(other *Products) {
	if p.Columns() != other.Columns() {
		panic(fmt.Sprintf("training: merge of products of %d columns into %d", other.Columns(), p.Columns()))
	}
	if other.Rows == 0 {
		return
	}
	if p.Rows == 0 {
		copy(p.Shift, other.Shift)
	}
	n := float64(other.Rows)
	for j := range p.Sum {
		ej := other.Shift[j] - p.Shift[j]
		column, from := p.Product[j*(j+1)/2:][:j+1], other.Product[j*(j+1)/2:][:j+1]
		for i := range column {
			ei := other.Shift[i] - p.Shift[i]
			column[i] += from[i] + float64(ei*other.Sum[j]) + float64(ej*other.Sum[i]) + float64(n*float64(ei*ej))
		}
	}
	for j := range p.Sum {
		p.Sum[j] += other.Sum[j] + float64(n*(other.Shift[j]-p.Shift[j]))
	}
	p.Rows += other.Rows
}

// Validate returns every fault of moments that came from outside, joined.
func (p *Products) Validate() error {
	columns := p.Columns()
	if columns < 1 || len(p.Shift) != columns || len(p.Product) != columns*(columns+1)/2 {
		return fmt.Errorf("products of %d columns with %d shifts and %d products", columns, len(p.Shift), len(p.Product))
	}
	var faults []error
	if p.Rows < 0 {
		faults = append(faults, fmt.Errorf("row count is %d, want 0 or more", p.Rows))
	}
	for _, list := range []struct {
		name   string
		values []float64
	}{{"shift", p.Shift}, {"sum", p.Sum}, {"product", p.Product}} {
		for i, v := range list.values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				faults = append(faults, fmt.Errorf("%s[%d] is %v, want a finite number: %w", list.name, i, v, ErrNotFinite))
				break
			}
		}
	}
	return errors.Join(faults...)
}
