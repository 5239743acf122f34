package training

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestProductsAreTheMomentsOfTheRows(t *testing.T) {
	d := randomTable(3, 400, 50, 3)
	p := d.sums().Products()
	columns := d.features + d.outputs
	value := func(row, column int) float64 {
		if column < d.features {
			return float64(d.z[row*d.features+column])
		}
		return float64(d.y[row*d.outputs+column-d.features])
	}
	mean := make([]float64, columns)
	for i := range columns {
		for row := range d.rows {
			mean[i] += value(row, i) / float64(d.rows)
		}
	}
	cov := func(i, j int) (sum float64) {
		for row := range d.rows {
			sum += (value(row, i) - mean[i]) * (value(row, j) - mean[j]) / float64(d.rows)
		}
		return sum
	}
	if p.Rows != int64(d.rows) || p.Columns() != columns || p.Validate() != nil {
		t.Fatalf("%d rows, %d columns, %v", p.Rows, p.Columns(), p.Validate())
	}
	for j := range columns {
		for i := range j + 1 {
			size := math.Sqrt(cov(i, i) * cov(j, j))
			if got := p.Cov(i, j); math.Abs(got-cov(i, j)) > 1e-6*size || p.Cov(j, i) != got {
				t.Fatalf("covariance of %d and %d is %v, want %v", i, j, got, cov(i, j))
			}
		}
		if off := math.Abs(p.Mean(j) - mean[j]); off > 1e-6*math.Sqrt(cov(j, j)) {
			t.Fatalf("mean of %d is off by %v", j, off)
		}
	}
}

func TestProductsMerge(t *testing.T) {
	d := randomTable(4, 700, 20, 2)
	whole := d.sums().Products()
	merged := NewProducts(22)
	for _, part := range [][2]int{{0, 0}, {0, 90}, {90, 90}, {90, 500}, {500, 700}} {
		merged.Merge(d.part(part[0], part[1]).sums().Products())
	}
	if merged.Rows != whole.Rows {
		t.Fatalf("%d rows", merged.Rows)
	}
	for j := range 22 {
		for i := range j + 1 {
			size := math.Sqrt(whole.Cov(i, i) * whole.Cov(j, j))
			if off := math.Abs(merged.Cov(i, j) - whole.Cov(i, j)); off > 1e-6*size {
				t.Errorf("covariance of %d and %d is off by %v", i, j, off)
			}
		}
	}
	empty := NewProducts(22)
	before := slices.Clone(merged.Product)
	if merged.Merge(empty); !slices.Equal(merged.Product, before) {
		t.Error("rows that are not there changed the sums")
	}
	defer func() {
		if message, ok := recover().(string); !ok || !strings.HasPrefix(message, "training: ") {
			t.Errorf("panic %v", message)
		}
	}()
	merged.Merge(NewProducts(3))
}

func TestProductsFromOutsideAreChecked(t *testing.T) {
	for name, damage := range map[string]func(*Products){
		"rows":     func(p *Products) { p.Rows = -1 },
		"columns":  func(p *Products) { p.Sum = nil },
		"shifts":   func(p *Products) { p.Shift = p.Shift[1:] },
		"triangle": func(p *Products) { p.Product = p.Product[1:] },
		"NaN":      func(p *Products) { p.Product[0] = math.NaN() },
		"infinity": func(p *Products) { p.Sum[1] = math.Inf(1) },
	} {
		p := randomTable(1, 9, 2, 1).sums().Products()
		if damage(p); p.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
