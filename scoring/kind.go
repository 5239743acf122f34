package scoring

import (
	"errors"
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// Kind is the form of a feature in a set of the cosine map.
type Kind uint8

// The kinds, by their names on the wire and in their order in a set.
const (
	// KindCosine is cos(ωᵀx + b), the kind of all features that were not learned.
	KindCosine Kind = iota
	// KindRamp is max(0, ωᵀx + b).
	KindRamp
	// KindHinge is Π max(0, s·(x_j − t)) over the factors of a product.
	KindHinge
	// KindBox is 1 where s·(x_j − t) ≥ 0 for all factors of a product, else 0.
	KindBox

	kindCount = iota
)

var kindNames = namesOf[Kind]("kind", []string{
	KindCosine: "cosine",
	KindRamp:   "ramp",
	KindHinge:  "hinge",
	KindBox:    "box",
},
	func(name string) string { return name })

// Kinds returns all kinds, in order.
func Kinds() []Kind { return []Kind{KindCosine, KindRamp, KindHinge, KindBox} }

// String returns the name, such as "hinge".
func (k Kind) String() string { return kindNames.name(k) }

// MarshalText returns the name; it fails for a value that is none of the constants.
func (k Kind) MarshalText() ([]byte, error) { return kindNames.marshal(k) }

// UnmarshalText sets the value of that name; the error of an unknown name lists the known ones.
func (k *Kind) UnmarshalText(text []byte) error { return kindNames.unmarshal(k, text) }

// product reports whether features of the kind are products, which have no ω.
func (k Kind) product() bool { return k >= KindHinge }

// MaxOrder is the greatest number of factors of a product.
const MaxOrder = 3

// maxProductDim bounds the coordinates that a product can name.
const maxProductDim = 1 << 16

// Product is a hinge or a box: a product of up to MaxOrder thresholds on different coordinates.
// Fields beyond its order are zero.
type Product struct {
	// Box is true for a box and false for a hinge.
	Box bool
	// Order is q, the number of factors.
	Order uint8
	// Coordinate is j of each factor, Sign is s = ±1, Threshold is t.
	Coordinate [MaxOrder]uint16
	Sign       [MaxOrder]float32
	Threshold  [MaxOrder]float32
}

// Kind returns KindBox or KindHinge.
func (p *Product) Kind() Kind {
	if p.Box {
		return KindBox
	}
	return KindHinge
}

// check reports factors that rows of dim numbers cannot have.
func (p *Product) check(dim int) error {
	if p.Order < 1 || p.Order > MaxOrder {
		return fmt.Errorf("has %d factors, want 1 to %d", p.Order, MaxOrder)
	}
	for a := range MaxOrder {
		j := p.Coordinate[a]
		s := p.Sign[a]
		t := p.Threshold[a]
		switch {
		case a >= int(p.Order):
			if j != 0 || s != 0 || t != 0 || math.Signbit(float64(s)) || math.Signbit(float64(t)) {
				return fmt.Errorf("has a factor beyond its order %d", p.Order)
			}
			continue
		case int(j) >= dim:
			return fmt.Errorf("is on coordinate %d of rows of %d", j, dim)
		case s != 1 && s != -1:
			return fmt.Errorf("has the sign %v, want 1 or -1", s)
		case t-t != 0:
			return fmt.Errorf("has the threshold %v, want a finite number", t)
		}
		for _, earlier := range p.Coordinate[:a] {
			if earlier == j {
				return fmt.Errorf("has two factors on coordinate %d", j)
			}
		}
	}
	return nil
}

// KindCounts is the number of features of each kind.
type KindCounts struct {
	Cosine int `json:"cosine"`
	Ramp   int `json:"ramp"`
	Hinge  int `json:"hinge"`
	Box    int `json:"box"`
}

// Kinds counts the features by kind.
func (f *Features) Kinds() KindCounts {
	c := KindCounts{Cosine: f.cosines(), Ramp: f.Ramps, Hinge: f.hinges()}
	c.Box = len(f.Products) - c.Hinge
	return c
}

// Mixed reports whether there are ramps or products.
func (f *Features) Mixed() bool { return f.Ramps > 0 || len(f.Products) > 0 }

// Kind returns the kind of feature i; KindCosine for all features of other maps.
func (f *Features) Kind(i int) Kind {
	switch p := f.Projections(); {
	case i >= p:
		return f.Products[i-p].Kind()
	case i >= f.cosines():
		return KindRamp
	}
	return KindCosine
}

// cosines returns the number of features with an ω that are not ramps.
func (f *Features) cosines() int { return f.Projections() - f.Ramps }

// hinges returns the number of products before the first box.
func (f *Features) hinges() int {
	for i := range f.Products {
		if f.Products[i].Box {
			return i
		}
	}
	return len(f.Products)
}

// checkKinds reports kinds that the map does not have or that are out of order, and products that
// rows cannot have.
func (f *Features) checkKinds() error {
	if !f.Mixed() {
		if f.Ramps < 0 {
			return fmt.Errorf("%d ramps", f.Ramps)
		}
		return nil
	}
	if f.Map != MapCosine {
		return fmt.Errorf("features of map %v are all of one kind, but there are %d ramps and %d products",
			f.Map, f.Ramps, len(f.Products))
	}
	if f.Ramps < 0 || f.Ramps > f.Projections() {
		return fmt.Errorf("%d ramps among %d features with an omega", f.Ramps, f.Projections())
	}
	if len(f.Products) > 0 && f.Dim > maxProductDim {
		return fmt.Errorf("dim is %d, beyond the %d coordinates that a product can name", f.Dim, maxProductDim)
	}
	first := f.hinges()
	for i := range f.Products {
		if f.Products[i].Box != (i >= first) {
			return errors.New("hinges and boxes are out of order")
		}
		if err := f.Products[i].check(f.Dim); err != nil {
			return fmt.Errorf("%v %d %w", f.Products[i].Kind(), f.Projections()+i, err)
		}
	}
	return nil
}

// PackProducts packs the products for the kernels.
func (f *Features) PackProducts() *kernel.Panels {
	return kernel.PackFactors(f.Dim, factors(f.Products))
}

// PackSlopes packs the derivatives of the hinges by each of their factors, hinge by hinge.
func (f *Features) PackSlopes() *kernel.Panels {
	return kernel.PackSlopes(f.Dim, factors(f.Products[:f.hinges()]))
}

// factors returns the products as arguments of the kernels.
func factors(products []Product) []kernel.Factors {
	all := make([]kernel.Factors, len(products))
	for i, p := range products {
		all[i] = kernel.Factors{Box: p.Box, Count: p.Order, Coordinate: p.Coordinate, Sign: p.Sign, Threshold: p.Threshold}
	}
	return all
}
