package kernel

import (
	"fmt"
	"math"
)

// MaxFactors is the most factors of a product.
const MaxFactors = 3

// Factors is a product of Count factors, each of one coordinate of a row: of max(0, s·(x_j − t)), or of 1 where s·(x_j − t) ≥ 0 and
// 0 elsewhere if Box is set.
type Factors struct {
	Box        bool
	Count      uint8
	Coordinate [MaxFactors]uint16
	Sign       [MaxFactors]float32 // 1 or -1
	Threshold  [MaxFactors]float32
}

// FactorPanels are packed products. They are not changed after PackFactors and safe for concurrent use.
type FactorPanels struct {
	// Dim is the numbers of a row, Len the number of features.
	Dim, Len int

	features []Factors
}

// PackFactors packs products over rows of dim numbers.
func PackFactors(dim int, features []Factors) *FactorPanels {
	for i, f := range features {
		if f.Count < 1 || f.Count > MaxFactors {
			panic(fmt.Sprintf("kernel: product %d of %d factors", i, f.Count))
		}
		for _, j := range f.Coordinate[:f.Count] {
			if int(j) >= dim {
				panic(fmt.Sprintf("kernel: a factor on coordinate %d of rows of %d", j, dim))
			}
		}
	}
	return &FactorPanels{Dim: dim, Len: len(features), features: features}
}

// FeaturizeFactors sets dst[i·stride + m] = factor[m]·φ_m(x_i) for the given number of rows x_i of x; factor nil means 1. A
// difference, its product with the sign, and each product of factors are rounded, left to right. As with ramps, a hinge ends at the
// greatest finite float32, and a factor that is not a number is 0. Calls for disjoint rows may run at once.
func FeaturizeFactors(dst []float32, stride int, p *FactorPanels, x []float32, rows int, factor []float32) {
	if rows == 0 || p.Len == 0 {
		return
	}
	if len(x) < rows*p.Dim || stride < p.Len || len(dst) < (rows-1)*stride+p.Len || factor != nil && len(factor) < p.Len {
		panic("kernel: fewer numbers than products")
	}
	for i := range rows {
		row, to := x[i*p.Dim:(i+1)*p.Dim], dst[i*stride:][:p.Len]
		for m := range p.features {
			to[m] = p.features[m].of(row)
		}
		if factor != nil {
			for m, by := range factor[:p.Len] {
				to[m] = float32(to[m] * by)
			}
		}
	}
}

// of returns the feature of a row.
func (f *Factors) of(row []float32) float32 {
	product := float32(1)
	for a, j := range f.Coordinate[:f.Count] {
		v := float32(float32(row[j]-f.Threshold[a]) * f.Sign[a])
		switch {
		case !f.Box:
			v = positive(v)
		case v >= 0:
			v = 1
		default:
			v = 0
		}
		product = min(float32(product*v), math.MaxFloat32)
	}
	return product
}
