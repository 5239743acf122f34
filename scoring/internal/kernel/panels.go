package kernel

import (
	"fmt"
	"math"
)

// Map is a feature map, as the kernels know it.
type Map uint8

// The feature maps: z = ωᵀx (+ b), in turns for Cosine.
const (
	Cosine      Map = iota // cos 2πz
	Step                   // 0, ½, 1 for z below, at, above 0
	Ramp                   // max(z, 0)
	SquaredRamp            // max(z, 0)²
	Coordinate             // x_ω
)

// Panels are packed features. They are not changed after Pack and safe for concurrent use.
type Panels struct {
	// Map is the feature map, Dim the numbers of a row, Len the number of features.
	Map      Map
	Dim, Len int

	weights []float32 // [panel][Dim][Width]; nil for Coordinate
	start   []float32 // [panel][Width]
	coord   []int32   // [panel][Width]; Coordinate alone
}

// Pack packs n features: omega is row-major [n][dim] ([n] coordinates in 0..dim-1 for Coordinate), phase [n] radians for
// Cosine and nil for the other maps.
func Pack(m Map, dim int, omega, phase []float32) *Panels {
	if m == Coordinate {
		return packCoordinates(dim, omega)
	}
	n := len(omega) / dim
	if n*dim != len(omega) || (m == Cosine) != (phase != nil) || (phase != nil && len(phase) != n) {
		panic(fmt.Sprintf("kernel: %d numbers of omega and %d phases for rows of %d", len(omega), len(phase), dim))
	}
	unit := 1.0
	if m == Cosine {
		unit = 2 * math.Pi
	}
	p := &Panels{Map: m, Dim: dim, Len: n}
	p.weights = make([]float32, p.Count()*dim*Width)
	p.start = make([]float32, p.Count()*Width)
	for i := range n {
		panel, lane := i/Width, i%Width
		for k, w := range omega[i*dim : (i+1)*dim] {
			p.weights[(panel*dim+k)*Width+lane] = float32(float64(w) / unit)
		}
		if phase != nil {
			p.start[i] = float32(float64(phase[i]) / unit)
		}
	}
	return p
}

// packCoordinates is Pack for the map Coordinate; the last panel is padded with coordinate 0.
func packCoordinates(dim int, omega []float32) *Panels {
	p := &Panels{Map: Coordinate, Dim: dim, Len: len(omega)}
	p.coord = make([]int32, p.Count()*Width)
	for i, w := range omega {
		c := int32(w)
		if c < 0 || int(c) >= dim {
			panic(fmt.Sprintf("kernel: coordinate %v of rows of %d", w, dim))
		}
		p.coord[i] = c
	}
	return p
}

// Count returns the number of panels.
func (p *Panels) Count() int { return (p.Len + Width - 1) / Width }

// lanes returns how many features panel holds.
func (p *Panels) lanes(panel int) int { return min(Width, p.Len-panel*Width) }
