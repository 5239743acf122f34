package kernel

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/eerf-stream/eerf/internal/simd"
)

// Panels are packed features. They do not change after Pack and are safe for concurrent use.
type Panels struct {
	// Map is the feature map, Dim is d, the numbers of a row, Len the number of features.
	Map      Map
	Dim, Len int

	level   simd.Level
	weights []float32 // [panel][Dim][Width], aligned to a cache line; nil for Coordinate
	start   []float32 // [panel][Width]
	reach   []float32 // [panel]: rows with all numbers below it in size have |z| < maxTurns; only for Cosine
	coord   []int32   // [panel][Width]; only for Coordinate
	records []record  // [Len]; only for Product
	finite  bool      // all weights are finite, so a product with zero adds nothing
}

// Pack packs n features: omega is row-major [n][dim] ([n] coordinates in 0..dim-1 for Coordinate),
// phase is [n], in radians for Cosine; for Ramp it is added to ωᵀx and may be nil; it is nil for
// other maps. Inconsistent lengths panic.
func Pack(m Map, dim int, omega, phase []float32) *Panels {
	return packFor(simd.Best(), m, dim, omega, phase)
}

// packFor is Pack for any level.
func packFor(level simd.Level, m Map, dim int, omega, phase []float32) *Panels {
	if m == Coordinate {
		return packCoordinates(level, dim, omega)
	}
	n := checkFeatures(m, dim, omega, phase)
	p := &Panels{Map: m, Dim: dim, Len: n, level: level}
	p.weights = alignedFloats(p.Count() * dim * Width)
	p.start = alignedFloats(p.Count() * Width)
	if m == Cosine {
		p.reach = make([]float32, p.Count())
	}
	p.fill(omega, phase)
	return p
}

// checkFeatures returns the number of features and panics if lengths are inconsistent.
func checkFeatures(m Map, dim int, omega, phase []float32) int {
	n := len(omega) / dim
	if n*dim != len(omega) || m == Cosine && phase == nil || phase != nil && m != Cosine && m != Ramp ||
		(phase != nil && len(phase) != n) {
		panic(fmt.Sprintf("kernel: %d numbers of omega and %d phases for rows of %d", len(omega), len(phase), dim))
	}
	return n
}

// Repack is Pack into the memory of p, for at most as many features of the same map and width.
// Nothing else may use p during the call.
func (p *Panels) Repack(omega, phase []float32) {
	n := checkFeatures(p.Map, p.Dim, omega, phase)
	if p.Map == Coordinate || n > len(p.start) {
		panic(fmt.Sprintf("kernel: %d features repacked for map %d, want %d at most", n, p.Map, len(p.start)))
	}
	p.Len = n
	p.fill(omega, phase)
}

// fill packs Len features.
func (p *Panels) fill(omega, phase []float32) {
	p.finite = true
	for i := range p.reach {
		p.reach[i] = math.MaxFloat32
	}
	for i := range p.Len {
		b := 0.0
		if phase != nil {
			b = float64(phase[i])
		}
		p.packOne(i, omega[i*p.Dim:(i+1)*p.Dim], b)
	}
}

// packOne packs feature i.
func (p *Panels) packOne(i int, omega []float32, start float64) {
	panel, lane := i/Width, i%Width
	to := p.weights[panel*p.Dim*Width+lane:]
	unit := 1.0
	if p.Map == Cosine {
		unit = 2 * math.Pi
	}
	size := 0.0
	for k, w := range omega {
		to[k*Width] = float32(float64(w) / unit)
		size += math.Abs(float64(to[k*Width]))
	}
	p.finite = p.finite && size <= math.MaxFloat64
	start /= unit
	if p.Map == Cosine {
		start -= math.Floor(start)
		if math.IsNaN(start) { // the phase was not finite, so no row is within reach
			size = math.Inf(1)
		}
		p.reach[panel] = min(p.reach[panel], reach(size, p.Dim))
	}
	p.start[i] = float32(start)
}

// reach returns a bound on the numbers of a row below which the argument of a feature stays below
// maxTurns despite the rounding of dim additions. size is the sum of the sizes of the feature's
// weights.
func reach(size float64, dim int) float32 {
	const slack = 4 // turns, for the start value and for rounding the bound
	return float32(min((maxTurns-slack)/(size*(1+float64(float64(dim)*0x1p-22))), math.MaxFloat32))
}

// packCoordinates is Pack for Coordinate. It pads the last panel with coordinate 0.
func packCoordinates(level simd.Level, dim int, omega []float32) *Panels {
	p := &Panels{Map: Coordinate, Dim: dim, Len: len(omega), level: level}
	p.coord = make([]int32, p.Count()*Width)
	for i, w := range omega {
		v := float64(w)
		if !(v >= 0 && v < float64(dim) && v == math.Trunc(v)) { // the conversion of other numbers depends on the processor
			panic(fmt.Sprintf("kernel: coordinate %v of rows of %d", w, dim))
		}
		p.coord[i] = int32(v)
	}
	return p
}

// Count returns the number of panels.
func (p *Panels) Count() int { return (p.Len + Width - 1) / Width }

// cacheLine is the bytes of a cache line. A vector that crosses a boundary takes twice the time to
// load.
const cacheLine = 64

// alignedFloats returns n zeros that begin on a cache line.
func alignedFloats(n int) []float32 {
	return aligned(make([]float32, n+cacheLine/4))[:n:n]
}

// aligned returns s from its first cache line on; s has at least a line. If the runtime moves the
// stack, only the alignment is lost.
func aligned(s []float32) []float32 {
	past := uintptr(unsafe.Pointer(&s[0])) % cacheLine
	if past == 0 {
		return s
	}
	return s[(cacheLine-past)/4:]
}
