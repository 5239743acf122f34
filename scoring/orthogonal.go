package scoring

import (
	"math"
	"sync"

	"github.com/eerf-stream/eerf/scoring/internal/portable"
)

// Orthogonal candidates come in blocks of d = Dim, the rows of
//
//	W = (1/σ)·diag(χ)·Qᵀ
//
// where Q is an orthogonal matrix, every one equally likely (Haar's measure), and χ are independent lengths of d-dimensional
// Gaussian vectors: ORF of Yu, Suresh, Choromanski, Holtmann-Rice and Kumar, "Orthogonal Random Features" (NeurIPS 2016).
// Each row by itself has the Gaussian distribution, those of a block are orthogonal, blocks are independent. Candidate i is
// row i mod d of block ⌊i/d⌋, its length is drawn from its own stream. Matérn's t distribution is a Gaussian one whose length
// is divided by that of another, so that it is drawn in the same way; no other distribution favours no direction.
//
// Q is H₁·H₂···H_d, the reflections that a Gaussian matrix would be made triangular by, from Gaussian vectors of d, d-1, ...,
// 1 numbers: G. W. Stewart, "The Efficient Generation of Random Orthogonal Matrices with an Application to Condition
// Estimators" (SIAM J. Numer. Anal. 17, 1980). Column k takes the first k reflections, so that a candidate costs 2·d·k
// products beside the vectors of its block, and no other candidate has to be known.

// maxOrthogonalDim bounds Dim: the vectors of a block are d²/2 numbers, held once for each processor that draws.
const maxOrthogonalDim = 1 << 12

// orthogonalBlock has the reflections of a block as far as they were needed. One is used by one goroutine at a time.
type orthogonalBlock struct {
	seed       uint64
	dim, block int
	words      stream
	// vectors are v₁, v₂, ... one behind the other, vₖ of dim-k+1 numbers: Hₖ = ±(I - vₖ·vₖᵀ) on the last of them.
	vectors []float64
	starts  []int // of each vector
	signs   []float64
	q       []float64 // the last column that was asked for
}

// orthogonalBlocks keeps blocks for the candidates that are drawn next.
var orthogonalBlocks = sync.Pool{New: func() any { return new(orthogonalBlock) }}

// open makes b the given block of c, keeping what it has if it is that already.
func (b *orthogonalBlock) open(c Candidates, block int) {
	if b.dim == c.Dim && b.block == block && b.seed == c.Seed {
		return
	}
	b.seed, b.dim, b.block = c.Seed, c.Dim, block
	b.words = newStream(c.Seed, uint64(block), orthogonalTag)
	b.vectors, b.starts, b.signs = b.vectors[:0], b.starts[:0], b.signs[:0]
}

// extend draws vectors until there are so many. A Gaussian g gives v = (g + s·|g|·e₁)·√(2/|g + s·|g|·e₁|²), s the sign of
// g₁, for which (I - v·vᵀ)·g = -s·|g|·e₁; the reflection's sign is -s, so that it takes g to |g|·e₁.
func (b *orthogonalBlock) extend(count int) {
	for k := len(b.starts); k < count; k++ {
		start := len(b.vectors)
		norm := 0.0
		for range b.dim - k {
			g := b.words.normal()
			b.vectors = append(b.vectors, g)
			norm += float64(g * g)
		}
		norm = math.Sqrt(norm)
		v := b.vectors[start:]
		sign := math.Copysign(1, v[0])
		// |g + s·|g|·e₁|² = 2·|g|·(|g| + |g₁|).
		scale := math.Sqrt(1 / float64(norm*(norm+math.Abs(v[0]))))
		v[0] += float64(sign * norm)
		for j := range v {
			v[j] = float64(v[j] * scale)
		}
		b.starts, b.signs = append(b.starts, start), append(b.signs, -sign)
	}
}

// column returns column k of Q, in the memory of b.
func (b *orthogonalBlock) column(k int) []float64 {
	b.extend(k + 1)
	b.q = append(b.q[:0], make([]float64, b.dim)...)
	b.q[k] = b.signs[k]
	for r := k; r >= 0; r-- {
		applyReflection(b.q[r:], b.vectors[b.starts[r]:][:b.dim-r])
	}
	return b.q
}

// applyReflection replaces x by x - v·(vᵀx).
func applyReflection(x, v []float64) {
	x = x[:len(v)]
	// Four sums, so that an addition need not wait for the last.
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(v); i += 4 {
		a, b := x[i:i+4:i+4], v[i:i+4:i+4]
		s0 += float64(a[0] * b[0])
		s1 += float64(a[1] * b[1])
		s2 += float64(a[2] * b[2])
		s3 += float64(a[3] * b[3])
	}
	for ; i < len(v); i++ {
		s0 += float64(x[i] * v[i])
	}
	product := (s0 + s1) + (s2 + s3)
	for i, w := range v {
		x[i] -= float64(product * w)
	}
}

// drawOrthogonal fills omega with candidate index, whose stream s goes on with its length: χ² is twice a gamma variable of
// shape d/2. For Matérn it is divided by one with 2ν degrees of freedom over 2ν.
func (c Candidates) drawOrthogonal(omega []float32, index int32, s stream) {
	length := math.Sqrt(2*s.gamma(float64(c.Dim)/2)) / c.Sigma
	if further := c.Distribution.row().length; further != nil {
		length = float64(length * further(c.Nu, s))
	}
	b := orthogonalBlocks.Get().(*orthogonalBlock)
	defer orthogonalBlocks.Put(b)
	b.open(c, int(index)/c.Dim)
	for j, v := range b.column(int(index) % c.Dim) {
		omega[j] = portable.Narrow(float64(v * length))
	}
}
