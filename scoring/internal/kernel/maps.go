package kernel

import "math"

// Map is a feature map, as the kernels know it.
type Map uint8

// The feature maps: z = ωᵀx (+ b), in turns for Cosine.
const (
	Cosine      Map = iota // cos 2πz
	Step                   // 0, ½, 1 for z below, at, above 0
	Ramp                   // max(z, 0)
	SquaredRamp            // max(z, 0)²
	Coordinate             // x_ω

	mapCount = iota

	// Product is hinges and boxes, which have no argument: see [PackFactors].
	Product = Map(mapCount)
)

// operation is what becomes of the argument z of a feature.
type operation int

// The operations, by the numbers that the assembly knows.
const (
	raw         operation = iota // z itself
	cosine                       // Cos for |z| < maxTurns
	cosineFar                    // Cos
	step                         // 1, ½, 0 above, at, below zero; 0 for NaN
	ramp                         // max(z, 0), at most the greatest finite float32; 0 for NaN
	squaredRamp                  // max(z, 0)², at most the greatest finite float32; 0 for NaN
)

// mapOperations are the operations by map; coordinates have no argument.
var mapOperations = [mapCount]operation{Cosine: cosineFar, Step: step, Ramp: ramp, SquaredRamp: squaredRamp}

// operation returns what a panel does to the arguments of rows with no number beyond largest in size.
func (p *Panels) operation(panel int, largest float32) operation {
	if p.Map == Cosine && largest < p.reach[panel] { // false for NaN
		return cosine
	}
	return mapOperations[p.Map]
}

// apply replaces each argument by its feature.
func (o operation) apply(z *lanes8) {
	switch o {
	case cosine, cosineFar:
		for i, v := range z {
			z[i] = Cos(v)
		}
	case step:
		for i, v := range z {
			z[i] = heaviside(v)
		}
	case ramp:
		for i, v := range z {
			z[i] = positive(v)
		}
	case squaredRamp:
		for i, v := range z {
			v = positive(v)
			z[i] = min(float32(v*v), math.MaxFloat32)
		}
	}
}

// heaviside is H with H(0) = ½; a z that overflowed to NaN gives 0.
func heaviside(z float32) float32 {
	switch {
	case z > 0:
		return 1
	case z == 0:
		return 0.5
	default:
		return 0
	}
}

// positive returns z within 0 and the greatest finite float32, 0 for NaN. Features stay finite, and so do the sums.
func positive(z float32) float32 {
	if !(z > 0) {
		return 0
	}
	return min(z, math.MaxFloat32)
}
