package linear

import (
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/training/internal/kernel"
)

const (
	// size is the order of the blocks that are factored at once, and the number of rows of a tile
	// and of a block row.
	size      = kernel.TileRows
	blockSize = size * size
	perStrip  = width / size
	// group is the number of block rows, of several strips, that are computed while one strip is in
	// the cache.
	group = 4 * perStrip
)

// Cholesky is the factor U of a symmetric positive definite matrix UᵀU. It takes 8·n² bytes, which
// are reused for the next matrix.
type Cholesky struct {
	upper   *Matrix   // U, above the diagonal; the rest is unused
	inverse []float64 // [block][size*size] negated inverses of the blocks of U on the diagonal
}

// NewCholesky returns room for factors of n by n matrices.
func NewCholesky(n int) *Cholesky {
	c := &Cholesky{upper: NewMatrix(n, n)}
	c.inverse = make([]float64, c.blocks()*blockSize)
	return c
}

// blocks returns the number of block rows.
func (c *Cholesky) blocks() int { return c.upper.padded / size }

// Factor factors a + shift·I, of which it reads the upper triangle. It returns false if that matrix
// is not positive definite up to rounding, and the factor is then unusable.
//
// Every block row of a strip is computed at once from finished block rows, U_ij = U_ii⁻ᵀ (A_ij −
// Σ_{p<i} U_piᵀ U_pj) (Golub, Van Loan, Matrix Computations, §4.2.9).
func (c *Cholesky) Factor(a *Matrix, shift float64) bool {
	if a.rows != c.upper.rows || a.columns != c.upper.columns {
		panic(fmt.Sprintf("linear: factor of order %d of a %d by %d matrix", c.upper.rows, a.rows, a.columns))
	}
	c.load(a, shift)
	for first := 0; first < c.blocks(); first += group {
		for j := first / perStrip; j < c.upper.strips(); j++ {
			for i := first; i < min(first+group, (j+1)*perStrip); i++ {
				c.eliminate(c.upper, i, j, 0)
				if i/perStrip == j && !c.factorDiagonal(i) {
					return false
				}
				c.applyInverse(c.upper, i, j, false)
			}
		}
	}
	return true
}

// load sets the upper triangle to a + shift·I, and the padding to that of the identity.
func (c *Cholesky) load(a *Matrix, shift float64) {
	for j := range c.upper.strips() {
		n := (j + 1) * width * width
		copy(c.upper.strip(j, 0)[:n], a.strip(j, 0)[:n])
	}
	for i := range c.upper.padded {
		at := c.upper.index(i, i)
		if i < a.rows {
			c.upper.data[at] += shift
		} else {
			c.upper.data[at] = 1
		}
	}
}

// eliminate subtracts the contribution of block rows from to i-1, Σ U_piᵀ x_p, from block row i of
// strip j of x.
func (c *Cholesky) eliminate(x *Matrix, i, j, from int) {
	if i == from {
		return
	}
	left := c.upper.strip(i/perStrip, from*size)[i%perStrip*size:]
	kernel.Subtract(x.strip(j, i*size), left, width, 1, x.strip(j, from*size), (i-from)*size)
}

// applyInverse multiplies block row i of strip j of x by U_ii⁻ᵀ from the left, or by U_ii⁻¹ if
// transposed.
func (c *Cholesky) applyInverse(x *Matrix, i, j int, transposed bool) {
	rowStep, columnStep := size, 1
	if transposed {
		rowStep, columnStep = 1, size
	}
	target := x.strip(j, i*size)[:size*width]
	var tile [size * width]float64
	copy(tile[:], target)
	clear(target)
	kernel.Subtract(target, c.inverse[i*blockSize:][:blockSize], rowStep, columnStep, tile[:], size)
}

// factorDiagonal inverts the factor of block i on the diagonal, which stays unchanged.
func (c *Cholesky) factorDiagonal(i int) bool {
	var u [blockSize]float64
	from := c.upper.strip(i/perStrip, i*size)[i%perStrip*size:]
	for k := range size {
		copy(u[k*size:(k+1)*size], from[k*width:])
	}
	if !factorBlock(&u) {
		return false
	}
	invertBlock(c.inverse[i*blockSize:][:blockSize], &u)
	return true
}

// factorBlock replaces the upper triangle of a symmetric block by its Cholesky factor, row by row.
func factorBlock(u *[blockSize]float64) bool {
	for k := range size {
		pivot := u[k*size+k]
		if !(pivot > 0) || math.IsInf(pivot, 0) {
			return false
		}
		row, root := u[k*size:(k+1)*size], math.Sqrt(pivot)
		for j := k; j < size; j++ {
			row[j] /= root
		}
		for below := k + 1; below < size; below++ {
			subtractMultiple(u[below*size+below:(below+1)*size], row[below:], row[below])
		}
	}
	return true
}

// invertBlock sets dst to −U⁻¹ for an upper triangular block, from its last row up: row i of the
// inverse is (e_i − Σ_{p>i} U_ip·row p)/U_ii.
func invertBlock(dst []float64, u *[blockSize]float64) {
	for i := size - 1; i >= 0; i-- {
		row := dst[i*size : (i+1)*size]
		clear(row)
		row[i] = -1
		for p := i + 1; p < size; p++ {
			subtractMultiple(row[p:], dst[p*size+p:(p+1)*size], u[i*size+p])
		}
		for j := i; j < size; j++ {
			row[j] /= u[i*size+i]
		}
	}
}

// subtractMultiple subtracts factor·x from y.
func subtractMultiple(y, x []float64, factor float64) {
	x = x[:len(y)]
	for j, v := range x {
		y[j] -= float64(factor * v)
	}
}
