package kernel

import "github.com/eerf-stream/eerf/internal/simd"

const (
	// PanelColumns is the number of columns of a panel: rows of a tall float32 matrix, PanelColumns
	// values each.
	PanelColumns = 48
	// BlockRows is the number of rows whose products are summed in float32 before they go to the
	// float64 totals.
	BlockRows = 128
	// TileRows is the number of rows of the tiles that Products and Subtract work on.
	TileRows = 8
	// VectorColumns divides the column ranges of Products.
	VectorColumns = 16
)

// Products adds to a tile of totals (TileRows×PanelColumns, row-major) the products of TileRows
// columns of one panel with the columns from to to-1 of another, over rows rows:
//
//	c[i][j] += Σ_r a[r·PanelColumns+i]·b[r·PanelColumns+j]
//
// where a starts at the first of its columns. Rows are taken in blocks of BlockRows, the last one
// shorter: a block is summed in float32 in row order, starting from zero, and then added to c. from
// and to are multiples of VectorColumns.
func Products(c []float64, a, b []float32, rows, from, to int) {
	if rows <= 0 || from < 0 || from >= to || to > PanelColumns || from%VectorColumns != 0 || to%VectorColumns != 0 {
		panic("kernel: products of no rows or of part of a vector")
	}
	_ = c[TileRows*PanelColumns-1]
	_ = a[(rows-1)*PanelColumns+TileRows-1]
	_ = b[rows*PanelColumns-1]
	products(simd.Best(), c, a, b, rows, from, to)
}

// productsGo is the plain Go version; see the package comment on its rounding.
func productsGo(c []float64, a, b []float32, rows, from, to int) {
	for ; rows > 0; rows -= BlockRows {
		n := min(rows, BlockRows)
		for i := range TileRows {
			addRow(c[i*PanelColumns:][from:to], a[i:], b[from:], n)
		}
		if rows > BlockRows {
			a, b = a[BlockRows*PanelColumns:], b[BlockRows*PanelColumns:]
		}
	}
}

// addRow adds to c the products of one column of a with len(c) columns of b over one block.
func addRow(c []float64, a, b []float32, rows int) {
	var sum [PanelColumns]float32
	for r := range rows {
		factor := a[r*PanelColumns]
		row := b[r*PanelColumns:][:len(c)]
		for j, v := range row {
			sum[j] += float32(factor * v)
		}
	}
	for j := range c {
		c[j] += float64(sum[j])
	}
}

// RoundUp returns the smallest multiple of step that is at least n.
func RoundUp(n, step int) int { return (n + step - 1) / step * step }
