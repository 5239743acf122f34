package kernel

import "math"

// tile is one panel's elements for one row.
type tile = [Width]float32

// features writes φ of one panel for the rows of x to phi.
func (p *Panels) features(phi []tile, panel int, x []float32) {
	if p.Map == Coordinate {
		gather(phi, (*[Width]int32)(p.coord[panel*Width:]), x, p.Dim)
		return
	}
	weights := p.weights[panel*p.Dim*Width : (panel+1)*p.Dim*Width]
	start := (*tile)(p.start[panel*Width:])
	for i := range phi {
		project(&phi[i], x[i*p.Dim:(i+1)*p.Dim], weights, start)
	}
	switch p.Map {
	case Cosine:
		cosines(phi)
	case Step:
		steps(phi)
	case Ramp:
		ramps(phi)
	case SquaredRamp:
		squaredRamps(phi)
	}
}

// project sets z[f] = start[f] + Σ_k x[k]·w[k·Width + f], k rising, every product rounded before it is added.
func project(z *tile, x, w []float32, start *tile) {
	a0, a1, a2, a3, a4, a5, a6, a7 := start[0], start[1], start[2], start[3], start[4], start[5], start[6], start[7]
	w = w[:len(x)*Width]
	for k, v := range x {
		o := (*tile)(w[k*Width:])
		a0 += float32(v * o[0])
		a1 += float32(v * o[1])
		a2 += float32(v * o[2])
		a3 += float32(v * o[3])
		a4 += float32(v * o[4])
		a5 += float32(v * o[5])
		a6 += float32(v * o[6])
		a7 += float32(v * o[7])
	}
	*z = tile{a0, a1, a2, a3, a4, a5, a6, a7}
}

// gather copies the panel's coordinates out of each row.
func gather(phi []tile, coord *[Width]int32, x []float32, dim int) {
	for i := range phi {
		row := x[i*dim : (i+1)*dim]
		for f, c := range coord {
			phi[i][f] = row[c]
		}
	}
}

// steps replaces z by H(z) with H(0) = ½; a z that overflowed to NaN gives 0.
func steps(z []tile) {
	for i := range z {
		for f, v := range z[i] {
			switch {
			case v > 0:
				z[i][f] = 1
			case v == 0:
				z[i][f] = 0.5
			default:
				z[i][f] = 0
			}
		}
	}
}

// ramps replaces z by max(z, 0), at most the greatest finite float32; a z that overflowed to NaN gives 0.
func ramps(z []tile) {
	for i := range z {
		for f, v := range z[i] {
			z[i][f] = ramp(v)
		}
	}
}

// squaredRamps replaces z by max(z, 0)², at most the greatest finite float32; a z that overflowed to NaN gives 0.
func squaredRamps(z []tile) {
	for i := range z {
		for f, v := range z[i] {
			v = ramp(v)
			z[i][f] = min(float32(v*v), math.MaxFloat32)
		}
	}
}

// ramp returns z within 0 and the greatest finite float32, 0 for NaN. Features stay finite, and so do the sums.
func ramp(z float32) float32 {
	if !(z > 0) {
		return 0
	}
	return min(z, math.MaxFloat32)
}
