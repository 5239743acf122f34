package scoring

import (
	"math"
	"slices"
	"sync"

	"github.com/eerf-stream/eerf/scoring/internal/hadamard"
	"github.com/eerf-stream/eerf/scoring/internal/kernel"
	"github.com/eerf-stream/eerf/scoring/internal/portable"
)

// structuredBlocks computes the arguments of some structured candidates by the fast transform: the blocks that they come
// from are multiplied whole, then the candidates are picked out. Arguments differ from those of the dense product in their
// last bits. They do not depend on the other rows of a call, nor on the instructions that there are. structuredBlocks is
// immutable and safe for concurrent use.
type structuredBlocks struct {
	mapping    kernel.Map
	dim, order int
	// diagonals are those of each block, D₃ with the factor 1/n and, for rows that come raw, with 1/Scale.
	diagonals []structuredDiagonals
	group     int       // rows that go through the blocks together
	stride    int       // arguments of a row, a multiple of the kernel's width
	index     []int32   // place of each candidate among the products of the first row of a group
	shift     []float32 // what is added to each product
	scale     float32   // of all products: 1/σ, in turns for the cosine
	memory    *sync.Pool
}

// structuredDiagonals are the diagonals of a block, each [order].
type structuredDiagonals struct{ d1, d2, d3 []float32 }

// structuredMemory is what a call computes in.
type structuredMemory struct {
	x []float32 // [group][order] rows padded with zeros
	p []float32 // [block][group][order] products
	z []float32 // [group][stride] arguments
}

// newStructuredBlocks returns the transform of the candidates with the given indices; shifts are what shiftOf says of
// each. rows is how many may go through the blocks together.
func newStructuredBlocks(c Candidates, index []int32, shifts []float64, in *Affine, rows int) *structuredBlocks {
	s := &structuredBlocks{mapping: c.Map.row().kernel, dim: c.Dim, order: structuredOrder(c.Dim)}
	s.stride = (len(index) + kernel.Width - 1) / kernel.Width * kernel.Width
	blocks := c.blocksOf(index)
	s.group = max(1, min(rows, structuredProducts/(len(blocks)*s.order)))
	for _, block := range blocks {
		s.diagonals = append(s.diagonals, c.structuredDiagonals(int(block), in))
	}
	unit := 1.0
	if c.Map == MapCosine {
		unit = 2 * math.Pi
	}
	s.scale = portable.Narrow(1 / (c.Sigma * unit))
	for m, i := range index {
		block, _ := slices.BinarySearch(blocks, i/int32(s.order))
		s.index = append(s.index, int32(block*s.group*s.order)+i%int32(s.order))
		s.shift = append(s.shift, portable.Narrow(shifts[m]/unit))
	}
	s.memory = &sync.Pool{New: func() any {
		return &structuredMemory{
			x: make([]float32, s.group*s.order),
			p: make([]float32, len(blocks)*s.group*s.order),
			z: make([]float32, s.group*s.stride),
		}
	}}
	return s
}

// structuredProducts bounds the products of a group, for the second-level cache to hold them.
const structuredProducts = 1 << 16

// blocksOf returns the blocks that candidates come from, ascending.
func (c Candidates) blocksOf(index []int32) []int32 {
	blocks := make([]int32, len(index))
	for k, i := range index {
		blocks[k] = i / int32(structuredOrder(c.Dim))
	}
	slices.Sort(blocks)
	return slices.Compact(blocks)
}

// structuredDiagonals returns the diagonals of a block as the transform takes them.
func (c Candidates) structuredDiagonals(block int, in *Affine) structuredDiagonals {
	n := structuredOrder(c.Dim)
	signs := make([]float32, 3*n)
	c.structuredSigns(signs, block)
	d := structuredDiagonals{signs[:n], signs[n : 2*n], signs[2*n:]}
	for j := range d.d3 {
		factor := float64(d.d3[j]) / float64(n)
		if in != nil && j < c.Dim {
			factor /= in.Scale[j]
		}
		d.d3[j] = portable.Narrow(factor)
	}
	return d
}

// shiftOf returns the phase of a feature and what raw rows add to it, in radians; for a cosine without whole turns.
// omega is only read for raw rows.
func shiftOf(m Map, omega []float32, phase float32, in *Affine) float64 {
	shift := float64(phase)
	if in != nil {
		for k, w := range omega {
			shift -= float64(float64(w) / in.Scale[k] * in.Shift[k])
		}
	}
	if m == MapCosine {
		shift -= float64(2 * math.Pi * math.Floor(shift/(2*math.Pi)))
	}
	return shift
}

// arguments returns those of up to a group of rows, in the memory.
func (s *structuredBlocks) arguments(memory *structuredMemory, x []float32, rows int) kernel.Arguments {
	if s.dim < s.order {
		for r := range rows {
			copy(memory.x[r*s.order:], x[r*s.dim:(r+1)*s.dim])
		}
		x = memory.x[:rows*s.order]
	}
	for b, d := range s.diagonals {
		p := memory.p[b*s.group*s.order:][:rows*s.order]
		hadamard.Transform(p, x, d.d3, s.order)
		hadamard.Transform(p, p, d.d2, s.order)
		hadamard.Transform(p, p, d.d1, s.order)
	}
	m := len(s.index)
	for r := range rows {
		hadamard.Gather(memory.z[r*s.stride:][:m], memory.p[r*s.order:], s.index, s.shift, s.scale)
	}
	return kernel.Arguments{Map: s.mapping, Z: memory.z, Stride: s.stride, Rows: rows}
}
