package linear

import (
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/training/internal/kernel"
)

// width is the number of columns of a strip.
const width = kernel.StripColumns

// Matrix is a float64 matrix in strips of width columns: each strip is row-major, and strips follow
// one another. Rows and columns are padded to multiples of width with zeros.
type Matrix struct {
	rows, columns int
	padded        int // rows of a strip
	data          []float64
}

// NewMatrix returns a matrix of zeros.
func NewMatrix(rows, columns int) *Matrix {
	m := &Matrix{rows: rows, columns: columns, padded: kernel.RoundUp(rows, width)}
	m.data = make([]float64, m.padded*kernel.RoundUp(columns, width))
	return m
}

// Rows returns the number of rows.
func (m *Matrix) Rows() int { return m.rows }

// At returns element (i, j).
func (m *Matrix) At(i, j int) float64 { return m.data[m.index(i, j)] }

// Set sets element (i, j).
func (m *Matrix) Set(i, j int, v float64) { m.data[m.index(i, j)] = v }

func (m *Matrix) index(i, j int) int { return (j/width*m.padded+i)*width + j%width }

// Row returns row i of the columns of one strip, from kernel.StripColumns·strip on.
func (m *Matrix) Row(i, strip int) []float64 { return m.strip(strip, i)[:width] }

// Mirror copies the upper triangle of a square matrix to the lower one.
func (m *Matrix) Mirror() {
	for j := range m.strips() {
		for i := range j + 1 {
			mirrorBlock(m.strip(i, j*width), m.strip(j, i*width))
		}
	}
}

// mirrorBlock sets the part of block dst below the diagonal of its matrix to the transpose of src,
// which is dst itself on the diagonal.
func mirrorBlock(dst, src []float64) {
	diagonal := &dst[0] == &src[0]
	for i := range width {
		for j := range width {
			if !diagonal || j > i {
				dst[j*width+i] = src[i*width+j]
			}
		}
	}
}

// SymmetricNorm returns the Frobenius norm of a symmetric matrix from its upper triangle.
func (m *Matrix) SymmetricNorm() float64 {
	diagonal, above := 0.0, 0.0
	for j := range m.columns {
		diagonal += float64(m.At(j, j) * m.At(j, j))
	}
	for j := range m.strips() {
		for i := range (j + 1) * width {
			for _, v := range m.Row(i, j)[min(max(0, i-j*width+1), width):] {
				above += float64(v * v)
			}
		}
	}
	return math.Sqrt(diagonal + float64(2*above))
}

// Clone returns an independent copy.
func (m *Matrix) Clone() *Matrix {
	c := *m
	c.data = append([]float64(nil), m.data...)
	return &c
}

// strips returns the number of strips.
func (m *Matrix) strips() int { return kernel.RoundUp(m.columns, width) / width }

// strip returns strip j from row from on.
func (m *Matrix) strip(j, from int) []float64 {
	return m.data[(j*m.padded+from)*width : (j+1)*m.padded*width]
}

// MultiplySymmetric returns a·x for a symmetric a with both triangles set. It panics if the shapes
// do not match.
func MultiplySymmetric(a, x *Matrix) *Matrix {
	if a.rows != a.columns || a.rows != x.rows {
		panic(fmt.Sprintf("linear: product of %d by %d and %d by %d", a.rows, a.columns, x.rows, x.columns))
	}
	product := NewMatrix(x.rows, x.columns)
	for j := range x.strips() {
		right := x.strip(j, 0)
		for i := 0; i < product.padded; i += kernel.TileRows {
			left := a.strip(i/width, 0)[i%width:]
			kernel.Subtract(product.strip(j, i), left, width, 1, right, a.rows)
		}
	}
	for i, v := range product.data {
		product.data[i] = -v
	}
	return product
}
