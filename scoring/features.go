package scoring

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Features is a set of n features. For the linear map ω is the coordinate itself: Width is 1 and
// Omega[i] is the coordinate's number.
//
// Features of the cosine map may be of mixed kinds ([Kind]), in this order: cosines and ramps,
// which have an ω, then hinges and boxes, which are products.
type Features struct {
	// Map is the feature map.
	Map Map
	// Dim is d, the numbers of an encoded row.
	Dim int
	// Omega is row-major [p][Width], where p is [Features.Projections].
	Omega []float32
	// Phase is b, [p]: radians in [0, 2π) for a cosine, any finite number for a ramp; nil unless
	// Map is cosine.
	Phase []float32
	// Ramps is the number of ramps, which are the last features with an ω.
	Ramps int
	// Products are the hinges and then the boxes.
	Products []Product
}

// maxCoordinate bounds Dim for the linear map: float32 holds all integers up to 2²⁴.
const maxCoordinate = 1 << 24

// Len returns n, the number of features.
func (f *Features) Len() int { return f.Projections() + len(f.Products) }

// Projections returns p, the number of features with an ω.
func (f *Features) Projections() int { return len(f.Omega) / f.Width() }

// Width returns the numbers of a feature in Omega: Dim, or 1 for the linear map.
func (f *Features) Width() int { return f.Map.Width(f.Dim) }

// Clone returns features that share no memory with f.
func (f *Features) Clone() *Features {
	c := *f
	c.Omega = slices.Clone(f.Omega)
	c.Phase = slices.Clone(f.Phase)
	c.Products = slices.Clone(f.Products)
	return &c
}

// Equal reports whether f and g are the same features, bit for bit.
func (f *Features) Equal(g *Features) bool {
	return f.Map == g.Map && f.Dim == g.Dim && f.Ramps == g.Ramps && slices.Equal(f.Omega, g.Omega) &&
		slices.Equal(f.Phase, g.Phase) &&
		slices.Equal(f.Products, g.Products)
}

// Pick returns the features with the given numbers, in order. It panics if a number is out of range
// or the kinds would be out of order.
func (f *Features) Pick(indices []int32) *Features {
	width, last := f.Width(), KindCosine
	picked := &Features{Map: f.Map, Dim: f.Dim, Omega: make([]float32, 0, len(indices)*width)}
	if f.Phase != nil {
		picked.Phase = make([]float32, 0, len(indices))
	}
	for _, i := range indices {
		if i < 0 || int(i) >= f.Len() {
			panic(fmt.Sprintf("scoring: feature %d of %d", i, f.Len()))
		}
		kind := f.Kind(int(i))
		if kind < last {
			panic(fmt.Sprintf("scoring: %v picked after %v", kind, last))
		}
		last = kind
		if kind.product() {
			picked.Products = append(picked.Products, f.Products[int(i)-f.Projections()])
			continue
		}
		picked.Omega = append(picked.Omega, f.Omega[int(i)*width:(int(i)+1)*width]...)
		if f.Phase != nil {
			picked.Phase = append(picked.Phase, f.Phase[i])
		}
		if kind == KindRamp {
			picked.Ramps++
		}
	}
	return picked
}

// slice returns features first..next-1, all cosines, all ramps or all products, which share the
// memory of f.
func (f *Features) slice(first, next int) *Features {
	part := &Features{Map: f.Map, Dim: f.Dim}
	if p := f.Projections(); next > p {
		part.Phase, part.Products = []float32{}, f.Products[first-p:next-p]
		return part
	}
	part.Omega = f.Omega[first*f.Width() : next*f.Width()]
	if f.Phase != nil {
		part.Phase = f.Phase[first:next]
	}
	if f.Ramps > 0 && first >= f.cosines() {
		part.Ramps = next - first
	}
	return part
}

// Validate returns all faults of features that were read from outside, joined: inconsistent
// lengths, numbers that are not finite, phases outside [0, 2π), coordinates beyond the row.
func (f *Features) Validate() error {
	if err := mapNames.check(f.Map); err != nil {
		return err
	}
	if f.Dim < 1 {
		return fmt.Errorf("dim is %d, want 1 or more", f.Dim)
	}
	if len(f.Omega)%f.Width() != 0 {
		return fmt.Errorf("omega has %d numbers, not a multiple of the width %d", len(f.Omega), f.Width())
	}
	return errors.Join(f.checkOmega(), f.checkPhase(), f.checkKinds())
}

// checkOmega reports the first unusable number in Omega.
func (f *Features) checkOmega() error {
	for i, w := range f.Omega {
		if math.IsNaN(float64(w)) || math.IsInf(float64(w), 0) {
			return fmt.Errorf("omega of feature %d is %v, want finite numbers", i/f.Width(), w)
		}
		if v := float64(w); f.Map.Coordinates() && !(v >= 0 && v < float64(f.Dim) && v == math.Trunc(v)) {
			return fmt.Errorf("omega of feature %d is %v, want a coordinate 0 to %d", i, w, f.Dim-1)
		}
	}
	if f.Map.Coordinates() && f.Dim > maxCoordinate {
		return fmt.Errorf("dim is %d, beyond the %d coordinates that the linear map can name", f.Dim, maxCoordinate)
	}
	return nil
}

// checkPhase reports a phase list of the wrong length or the first phase outside [0, 2π).
func (f *Features) checkPhase() error {
	if !f.Map.HasPhase() {
		if f.Phase != nil {
			return fmt.Errorf("feature map %v has no phases, but %d are given", f.Map, len(f.Phase))
		}
		return nil
	}
	if len(f.Phase) != f.Projections() {
		return fmt.Errorf("%d phases for %d features", len(f.Phase), f.Projections())
	}
	for i, b := range f.Phase {
		if i >= f.cosines() && b-b == 0 {
			continue
		}
		if !(b >= 0 && float64(b) < 2*math.Pi) {
			return fmt.Errorf("phase of feature %d is %v, want 0 or more and less than 2π, or a finite number if it is a ramp",
				i, b)
		}
	}
	return nil
}
