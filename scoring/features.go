package scoring

import (
	"errors"
	"fmt"
	"math"
)

// Features is a drawn set of n features. For the linear map ω is the coordinate itself: Width is 1 and Omega[i] is
// the coordinate's number.
type Features struct {
	// Map is the feature map.
	Map Map
	// Dim is d, how many numbers an encoded row has.
	Dim int
	// Omega is row-major [n][Width].
	Omega []float32
	// Phase is b in radians, [n], each in [0, 2π); nil unless Map is cosine.
	Phase []float32
}

// maxCoordinate bounds Dim for the linear map: float32 counts without gaps up to 2²⁴.
const maxCoordinate = 1 << 24

// Len returns n, the number of features.
func (f *Features) Len() int { return len(f.Omega) / f.Width() }

// Width returns how many numbers a feature has in Omega: Dim, or 1 for the linear map.
func (f *Features) Width() int { return f.Map.Width(f.Dim) }

// Pick returns the features with the given numbers, in order. It panics if there is no such feature.
func (f *Features) Pick(indices []int32) *Features {
	width := f.Width()
	picked := &Features{Map: f.Map, Dim: f.Dim, Omega: make([]float32, 0, len(indices)*width)}
	if f.Phase != nil {
		picked.Phase = make([]float32, 0, len(indices))
	}
	for _, i := range indices {
		if i < 0 || int(i) >= f.Len() {
			panic(fmt.Sprintf("scoring: feature %d of %d", i, f.Len()))
		}
		picked.Omega = append(picked.Omega, f.Omega[int(i)*width:(int(i)+1)*width]...)
		if f.Phase != nil {
			picked.Phase = append(picked.Phase, f.Phase[i])
		}
	}
	return picked
}

// slice returns features first..next-1, which share the memory of f.
func (f *Features) slice(first, next int) *Features {
	part := &Features{Map: f.Map, Dim: f.Dim, Omega: f.Omega[first*f.Width() : next*f.Width()]}
	if f.Phase != nil {
		part.Phase = f.Phase[first:next]
	}
	return part
}

// Validate returns every fault of a set from outside, joined: lengths that do not agree, numbers that are not finite,
// phases outside [0, 2π), coordinates that rows do not have.
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
	return errors.Join(f.checkOmega(), f.checkPhase())
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
	if len(f.Phase) != f.Len() {
		return fmt.Errorf("%d phases for %d features", len(f.Phase), f.Len())
	}
	for i, b := range f.Phase {
		if !(b >= 0 && float64(b) < 2*math.Pi) {
			return fmt.Errorf("phase of feature %d is %v, want 0 or more and less than 2π", i, b)
		}
	}
	return nil
}
