package linear

import (
	"fmt"

	"github.com/eerf-stream/eerf/training/internal/kernel"
)

// Solve replaces every column b of x by the solution of UᵀU·x = b.
func (c *Cholesky) Solve(x *Matrix) {
	if x.rows != c.upper.rows {
		panic(fmt.Sprintf("linear: solution of order %d for %d rows", c.upper.rows, x.rows))
	}
	for j := range x.strips() {
		c.forward(x, j, 0)
		c.backward(x, j)
	}
}

// forward multiplies strip j of x by U⁻ᵀ from the left; its block rows before from are zero.
func (c *Cholesky) forward(x *Matrix, j, from int) {
	for i := from; i < c.blocks(); i++ {
		c.eliminate(x, i, j, from)
		c.applyInverse(x, i, j, false)
	}
}

// backward multiplies strip j of x by U⁻¹ from the left.
func (c *Cholesky) backward(x *Matrix, j int) {
	for i := c.blocks() - 1; i >= 0; i-- {
		target := x.strip(j, i*size)
		for column := (i + 1) * size; column < c.upper.padded; column = (column/width + 1) * width {
			left := c.upper.strip(column/width, i*size)[column%width:]
			kernel.Subtract(target, left, 1, width, x.strip(j, column), width-column%width)
		}
		c.applyInverse(x, i, j, true)
	}
}

// InverseTrace returns the trace of (UᵀU)⁻¹, which is the sum of the squares of U⁻ᵀ.
func (c *Cholesky) InverseTrace() float64 {
	n := c.upper.rows
	x := NewMatrix(n, width)
	sum := 0.0
	for first := 0; first < n; first += width {
		clear(x.data)
		for i := first; i < min(first+width, n); i++ {
			x.Set(i, i-first, 1)
		}
		c.forward(x, 0, first/size)
		for _, v := range x.data[first*width : n*width] {
			sum += float64(v * v)
		}
	}
	return sum
}
