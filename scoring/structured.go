package scoring

import (
	"math"
	"math/bits"
	"sync"

	"github.com/eerf-stream/eerf/scoring/internal/hadamard"
	"github.com/eerf-stream/eerf/scoring/internal/portable"
)

// Structured candidates come in blocks of n = structuredOrder(Dim), the rows of
//
//	W = 1/(nσ)·H·D₁·H·D₂·H·D₃
//
// where H is the Walsh-Hadamard matrix of order n without normalisation and the D are diagonals of random signs: SORF of
// Yu, Suresh, Choromanski, Holtmann-Rice and Kumar, "Orthogonal Random Features" (NeurIPS 2016). The rows of a block are
// orthogonal with the norm √n/σ, and a block times x costs 3·n·log₂n additions. Candidate i is row i mod n of block
// ⌊i/n⌋, of which the first Dim numbers are ω: x is thought to be padded with zeros.

const (
	// minStructuredOrder is the least order of a block. A row has one length, where a Gaussian vector has many: the kernel
	// of whole rows is off by r⁴/4(n+2) to leading order in the distance r = |Δ|/σ, and for n = 1 it is a cosine. Cut out
	// of 64 numbers at the least, ω is near enough to Gaussian in any dimension.
	minStructuredOrder = 64
	// maxStructuredDim bounds Dim: up to this order the products of a draw are whole numbers that float32 holds (a row
	// after two transforms is at most n·√n = 2²⁴), so draws are exact until they are divided.
	maxStructuredDim = 1 << 16
)

// structuredOrder returns the least power of two that is at least dim and minStructuredOrder.
func structuredOrder(dim int) int {
	return max(1<<bits.Len(uint(dim-1)), minStructuredOrder)
}

// structuredSigns sets signs to the diagonals D₁, D₂, D₃ of a block one behind the other: +1 where a bit of the block's
// stream is 0, words in their order and each from its least bit on.
func (c Candidates) structuredSigns(signs []float32, block int) {
	s := newStream(c.Seed, uint64(block), structuredTag)
	var word uint64
	for t := range signs {
		if t%64 == 0 {
			word = s.words.Uint64()
		}
		signs[t] = signOf(word)
		word >>= 1
	}
}

// signOf returns −1 where the least bit is 1, else 1.
func signOf(word uint64) float32 {
	return math.Float32frombits(math.Float32bits(1) | uint32(word)<<31)
}

// structuredScratch keeps the memory of draws.
var structuredScratch = sync.Pool{New: func() any { return new([]float32) }}

// drawStructured fills omega with candidate index: (eᵢᵀ·H·D₁·H·D₂·H·D₃)ᵀ, which takes two transforms, since eᵢᵀ·H is a
// row of signs.
func (c Candidates) drawStructured(omega []float32, index int32) {
	n := structuredOrder(c.Dim)
	scratch := structuredScratch.Get().(*[]float32)
	defer structuredScratch.Put(scratch)
	if len(*scratch) < 4*n {
		*scratch = make([]float32, 4*n)
	}
	row, signs := (*scratch)[:n], (*scratch)[n:4*n]
	c.structuredSigns(signs, int(index)/n)
	i := int(index) % n
	for j := range row {
		row[j] = signOf(uint64(bits.OnesCount(uint(i & j))))
	}
	hadamard.Transform(row, row, signs[:n], n)
	hadamard.Transform(row, row, signs[n:2*n], n)
	unit := float64(n) * c.Sigma
	for j, s := range signs[2*n : 2*n+len(omega)] {
		omega[j] = portable.Narrow(float64(s*row[j]) / unit)
	}
}
