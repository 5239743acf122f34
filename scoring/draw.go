package scoring

import (
	"fmt"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/scoring/internal/portable"
)

// DrawAll returns the candidates 0..Count-1. It panics if c is invalid.
func (c Candidates) DrawAll() *Features {
	return c.DrawRange(0, c.Count)
}

// DrawRange returns the candidates first..next-1. It panics where [Candidates.Draw] does.
func (c Candidates) DrawRange(first, next int) *Features {
	indices := make([]int32, next-first)
	for i := range indices {
		indices[i] = int32(first + i)
	}
	return c.Draw(indices)
}

// Draw returns the candidates with the given indices, in order. It panics if c is invalid or an
// index is not in 0..Count-1. Coordinates beyond float32 become the greatest finite float32.
func (c Candidates) Draw(indices []int32) *Features {
	if err := c.Validate(); err != nil {
		panic("scoring: draw of invalid candidates: " + err.Error())
	}
	for _, i := range indices {
		if i < 0 || int(i) >= c.Count {
			panic(fmt.Sprintf("scoring: candidate %d of %d", i, c.Count))
		}
	}
	if c.Map.Coordinates() {
		return c.drawCoordinates(indices)
	}
	f := &Features{Map: c.Map, Dim: c.Dim, Omega: make([]float32, len(indices)*c.Dim)}
	if c.Map.HasPhase() {
		f.Phase = make([]float32, len(indices))
	}
	parallel.For(len(indices), drawChunk, len(indices)*c.Dim >= parallelDraws, func(first, next int) {
		for i := first; i < next; i++ {
			phase := c.drawOne(f.Omega[i*c.Dim:(i+1)*c.Dim], indices[i])
			if f.Phase != nil {
				f.Phase[i] = phase
			}
		}
	})
	return f
}

// Goroutines share draws, drawChunk candidates at a time, from parallelDraws coordinates on, about
// a millisecond of work.
const (
	drawChunk     = 16
	parallelDraws = 1 << 15
)

// drawOne fills omega with candidate index and returns its phase. It consumes the words of the
// stream in this order: one for the phase (also for maps without phases, so that ω does not depend
// on the map), then those of the coordinates.
func (c Candidates) drawOne(omega []float32, index int32) (phase float32) {
	s := newStream(c.Seed, uint64(index), candidateTag)
	phase = s.phase()
	order, scale := c.varied(index)
	if order > 0 {
		c.drawSparse(omega, order, scale, s)
		return phase
	}
	draw, sigma := c.Distribution.row().coordinate, float64(c.Sigma*scale)
	for j := range omega {
		omega[j] = portable.Narrow(draw(s) / sigma)
	}
	return phase
}

// drawCoordinates is Draw for the linear map: candidate i is the i-th coordinate of a seeded
// permutation.
func (c Candidates) drawCoordinates(indices []int32) *Features {
	order := permutation(c.Seed, c.Dim)
	f := &Features{Map: c.Map, Dim: c.Dim, Omega: make([]float32, len(indices))}
	for k, i := range indices {
		f.Omega[k] = float32(order[i])
	}
	return f
}
