package scoring

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/eerf-stream/eerf/scoring/internal/parallel"
	"github.com/eerf-stream/eerf/scoring/internal/portable"
)

// DrawAll returns the candidates 0..Count-1. It panics if c is invalid.
func (c Candidates) DrawAll() *Features {
	indices := make([]int32, c.Count)
	for i := range indices {
		indices[i] = int32(i)
	}
	return c.Draw(indices)
}

// Draw returns the candidates with the given indices, in order. It panics if c is invalid or an index is not in
// 0..Count-1. A coordinate too great for float32 becomes the greatest finite float32.
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
	order := c.drawOrder(indices)
	parallel.For(len(indices), drawChunk, len(indices)*c.Dim >= parallelDraws, func(first, next int) {
		for i := first; i < next; i++ {
			at := i
			if order != nil {
				at = int(order[i])
			}
			c.drawInto(f, at, indices[at])
		}
	})
	return f
}

// drawOrder returns the order in which indices are best drawn; nil for their own.
func (c Candidates) drawOrder(indices []int32) []int32 {
	if c.Sampler != Orthogonal { // blocks are made one at a time
		return nil
	}
	order := make([]int32, len(indices))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(indices[a], indices[b]) })
	return order
}

// drawInto sets feature i of f to candidate index.
func (c Candidates) drawInto(f *Features, i int, index int32) {
	phase := c.drawOne(f.Omega[i*c.Dim:(i+1)*c.Dim], index)
	if f.Phase != nil {
		f.Phase[i] = phase
	}
}

// Draws are divided into chunks of drawChunk candidates once there are parallelDraws coordinates, about a millisecond
// of work.
const (
	drawChunk     = 16
	parallelDraws = 1 << 15
)

// drawOne fills omega with candidate index and returns its phase. It uses the words of the stream in this order: one
// for the phase (also under maps without one, so that ω does not depend on the map), for Matérn those of the gamma
// variable, then those of the coordinates. Structured candidates take only the phase from it, orthogonal ones the phase
// and their norm, quasi-random ones nothing.
func (c Candidates) drawOne(omega []float32, index int32) (phase float32) {
	if q := c.OrderOf(index); q > 0 {
		s := newStream(c.Seed, uint64(index), candidateTag)
		phase = s.phase()
		c.drawSparse(omega, index, q, s)
		return phase
	}
	c.Sigma = c.SigmaOf(index)
	if c.Sampler == Quasi { // without a stream of its own
		return c.drawQuasi(omega, index)
	}
	s := newStream(c.Seed, uint64(index), candidateTag)
	phase = s.phase()
	switch c.Sampler {
	case Structured:
		c.drawStructured(omega, index)
	case Orthogonal:
		c.drawOrthogonal(omega, index, s)
	case IID:
		c.drawIndependent(omega, s)
	case Quasi: // above
	default:
		panic(fmt.Sprint("scoring: ", c.Sampler))
	}
	return phase
}

// drawIndependent fills omega with independent coordinates, without the distribution's common factor.
func (c Candidates) drawIndependent(omega []float32, s stream) {
	from, length := c.Distribution.row(), 1.0
	if from.length != nil {
		length = from.length(c.Nu, s)
	}
	for j := range omega {
		omega[j] = portable.Narrow(float64(from.coordinate(s)*length) / c.Sigma)
	}
}

// drawCoordinates is Draw for the linear map: candidate i is the i-th coordinate of a seeded permutation.
func (c Candidates) drawCoordinates(indices []int32) *Features {
	order := permutation(c.Seed, c.Dim)
	f := &Features{Map: c.Map, Dim: c.Dim, Omega: make([]float32, len(indices))}
	for k, i := range indices {
		f.Omega[k] = float32(order[i])
	}
	return f
}
