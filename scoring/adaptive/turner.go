package adaptive

import (
	"math"

	"github.com/eerf-stream/eerf/scoring/internal/kernel"
	"github.com/eerf-stream/eerf/training"
)

// turner multiplies vectors by a power of G, a symmetric matrix. Products are summed in float32, in
// order.
type turner struct {
	dim     int
	matrix  *training.Tall // [d×d]
	vectors *training.Tall // as columns, [d×turned]
	turned  []float64      // [turned·d]
	crosser training.Crosser
}

// turnedAtOnce is the number of vectors that are multiplied together.
const turnedAtOnce = 10 * kernel.Width

// turner returns the turner for (G/λ₁ + floor)^p, where power raises a number to p.
func (g *gradients) turner(power power, workers int) *turner {
	d := g.dim
	t := &turner{
		dim: d, matrix: training.NewTall(d, d), vectors: training.NewTall(d, turnedAtOnce),
		turned: make([]float64, turnedAtOnce*d), crosser: training.Crosser{Workers: workers},
	}
	rest, matrix := power(floor), make([]float64, d*d)
	if k := len(g.values); k > 0 {
		roots, row := training.NewTall(k, d), make([]float32, d)
		for i, value := range g.values {
			root := math.Sqrt(power(value+floor) - rest)
			for j, v := range g.vectors[i*d : (i+1)*d] {
				row[j] = float32(root * v)
			}
			roots.SetRows(i, row)
		}
		t.crosser.Square(matrix, roots)
	}
	row := make([]float32, d)
	for i := range d {
		matrix[i*d+i] += rest
		for j, v := range matrix[i*d : (i+1)*d] {
			row[j] = float32(v)
		}
		t.matrix.SetRows(i, row)
	}
	return t
}

// turn sets dst to the products of the matrix with the vectors of x, both row-major; they may be
// the same.
func (t *turner) turn(dst, x []float32) {
	for first := 0; first < len(x); first += turnedAtOnce * t.dim {
		next := min(first+turnedAtOnce*t.dim, len(x))
		for at, v := range x[first:next] {
			i, j := at/t.dim, at%t.dim
			t.vectors.Data[(i/kernel.Width*t.dim+j)*kernel.Width+i%kernel.Width] = v
		}
		t.crosser.Cross(t.turned, t.vectors, t.matrix)
		for at := range dst[first:next] {
			dst[first+at] = float32(t.turned[at])
		}
	}
}
