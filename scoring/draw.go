package scoring

import (
	"fmt"
	"math"
)

// DrawAll returns the candidates 0..Count-1. It panics when c is not valid.
func (c Candidates) DrawAll() *Features {
	indices := make([]int32, c.Count)
	for i := range indices {
		indices[i] = int32(i)
	}
	return c.Draw(indices)
}

// Draw returns the candidates with the given indices, in their order. It panics when c is not valid or an
// index is not in 0..Count-1. A coordinate too great for float32 is drawn as the greatest finite float32.
func (c Candidates) Draw(indices []int32) *Features {
	if err := c.Validate(); err != nil {
		panic("scoring: draw of invalid candidates: " + err.Error())
	}
	for _, i := range indices {
		if i < 0 || int(i) >= c.Count {
			panic(fmt.Sprintf("scoring: candidate %d of %d", i, c.Count))
		}
	}
	if c.Map == MapLinear {
		return c.drawCoordinates(indices)
	}
	f := &Features{Map: c.Map, Dim: c.Dim, Omega: make([]float32, len(indices)*c.Dim)}
	if c.Map == MapCosine {
		f.Phase = make([]float32, len(indices))
	}
	parallel(len(indices), drawChunk, len(indices)*c.Dim >= parallelDraws, func(first, next int) {
		for i := first; i < next; i++ {
			phase := c.drawOne(f.Omega[i*c.Dim:(i+1)*c.Dim], indices[i])
			if f.Phase != nil {
				f.Phase[i] = phase
			}
		}
	})
	return f
}

// Draws are shared out in chunks of drawChunk candidates once there are parallelDraws coordinates, about a
// millisecond of work.
const (
	drawChunk     = 16
	parallelDraws = 1 << 15
)

// drawOne fills omega with candidate index and returns its phase. The words of the stream are used in this order:
// one for the phase (also under the maps that have none, so that ω does not depend on the map), for Matérn those of
// the gamma variable, then those of the coordinates.
func (c Candidates) drawOne(omega []float32, index int32) (phase float32) {
	s := newStream(c.Seed, uint64(index), candidateTag)
	phase = s.phase()
	scale := 1.0
	draw := s.normal
	switch c.Distribution {
	case Cauchy:
		draw = s.cauchy
	case Laplace:
		draw = s.laplace
	case Matern:
		// A chi-squared variable with 2ν degrees of freedom is twice a gamma variable of shape ν.
		scale = math.Sqrt(c.Nu / s.gamma(c.Nu))
	}
	for j := range omega {
		omega[j] = narrow(float64(draw()*scale) / c.Sigma)
	}
	return phase
}

// drawCoordinates is Draw for the linear map: candidate i is the i-th coordinate of a permutation by the seed.
func (c Candidates) drawCoordinates(indices []int32) *Features {
	order := permutation(c.Seed, c.Dim)
	f := &Features{Map: c.Map, Dim: c.Dim, Omega: make([]float32, len(indices))}
	for k, i := range indices {
		f.Omega[k] = float32(order[i])
	}
	return f
}

// narrow rounds v to float32, values beyond its range to the greatest finite one of their sign.
func narrow(v float64) float32 {
	return float32(min(max(v, -math.MaxFloat32), math.MaxFloat32))
}
