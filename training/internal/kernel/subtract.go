package kernel

import "github.com/eerf-stream/eerf/internal/simd"

// StripColumns is the number of columns of a strip: rows of a float64 matrix, StripColumns values
// each.
const StripColumns = 24

// Subtract subtracts a product of two matrices from a tile (TileRows rows of a strip):
//
//	c[i·StripColumns+j] −= Σ_p a[p·aRow+i·aColumn]·b[p·StripColumns+j]    p = 0, …, n−1 in this order
//
// b is n rows of a strip. Steps through a are in values, so a may be a strip as well (aRow =
// StripColumns, aColumn = 1) or the transpose of one (the other way round).
func Subtract(c, a []float64, aRow, aColumn int, b []float64, n int) {
	if n <= 0 || aRow <= 0 || aColumn <= 0 {
		panic("kernel: product without terms or with steps that are not positive")
	}
	_ = c[TileRows*StripColumns-1]
	_ = a[(n-1)*aRow+(TileRows-1)*aColumn]
	_ = b[n*StripColumns-1]
	subtract(simd.Best(), c, a, aRow, aColumn, b, n)
}

// subtractGo is the plain Go version; see the package comment on its rounding.
func subtractGo(c, a []float64, aRow, aColumn int, b []float64, n int) {
	for i := range TileRows {
		row := c[i*StripColumns:][:StripColumns]
		for p := range n {
			factor := a[p*aRow+i*aColumn]
			for j, v := range b[p*StripColumns:][:StripColumns] {
				row[j] -= float64(factor * v)
			}
		}
	}
}
