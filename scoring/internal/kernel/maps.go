package kernel

import "math"

// Map is a feature map of the kernels.
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

// source is the part of a row from which a feature is computed.
type source uint8

// The sources. Zero is none of them, so a map without a source fails a test instead of taking a
// slow path.
const (
	// projection is ωᵀx (+ b): wide rows are multiplied in chunks, sparse rows are listed, and
	// scoring is fused.
	projection source = iota + 1
	// coordinate is one number of the row, copied.
	coordinate
	// thresholds is up to MaxFactors numbers of the row, compared with thresholds.
	thresholds
)

// mapRow is what the kernels know of a map.
type mapRow struct {
	source    source
	operation operation // applied to the argument of a projection
}

// mapRows are the rows by map.
var mapRows = [mapCount + 1]mapRow{
	Cosine:      {source: projection, operation: cosineFar},
	Step:        {source: projection, operation: step},
	Ramp:        {source: projection, operation: ramp},
	SquaredRamp: {source: projection, operation: squaredRamp},
	Coordinate:  {source: coordinate},
	Product:     {source: thresholds},
}

// projects reports whether features are functions of an argument ωᵀx.
func (m Map) projects() bool { return mapRows[m].source == projection }

// operation turns the argument z into a feature.
type operation int

// The operations, by the numbers that the assembly uses.
const (
	raw         operation = iota // z
	cosine                       // Cos for |z| < maxTurns
	cosineFar                    // Cos
	step                         // 1, ½, 0 above, at, below zero; 0 for NaN
	ramp                         // max(z, 0), at most the greatest finite float32; 0 for NaN
	squaredRamp                  // max(z, 0)², at most the greatest finite float32; 0 for NaN
)

// operation returns the operation of a panel on rows whose numbers are at most largest in size.
func (p *Panels) operation(panel int, largest float32) operation {
	if p.Map == Cosine && largest < p.reach[panel] { // false for NaN
		return cosine
	}
	return mapRows[p.Map].operation
}

// apply replaces each argument with its feature.
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

// heaviside is H with H(0) = ½, and 0 for NaN from an overflow.
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

// positive clamps z to [0, greatest finite float32], and NaN to 0, so that features and sums stay
// finite.
func positive(z float32) float32 {
	if !(z > 0) {
		return 0
	}
	return min(z, math.MaxFloat32)
}
