package gram

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/training/internal/kernel"
)

const (
	blockSize = panelColumns * panelColumns
	tileSize  = kernel.TileRows * panelColumns
)

// totals is the upper triangle of a symmetric matrix in blocks of panelColumns by panelColumns,
// row-major: block (i, j), i <= j, is number j(j+1)/2+i. In blocks on the diagonal, only whole
// vectors left of it are missing.
type totals struct {
	columns int
	data    []float64
	moved   []float64 // by column: amount that recoding added to element (i, i) in float64
}

func newTotals(columns int) totals {
	t := totals{columns: columns, moved: make([]float64, columns)}
	t.data = make([]float64, t.blocks()*blockSize)
	return t
}

// clone returns an independent copy.
func (t totals) clone() totals {
	t.data, t.moved = slices.Clone(t.data), slices.Clone(t.moved)
	return t
}

// scale multiplies every sum.
func (t totals) scale(by float64) {
	for i := range t.data {
		t.data[i] *= by
	}
	for i := range t.moved {
		t.moved[i] *= by
	}
}

// panels returns the number of panels of the columns.
func (t totals) panels() int { return kernel.RoundUp(t.columns, panelColumns) / panelColumns }

func (t totals) blocks() int { return t.panels() * (t.panels() + 1) / 2 }

func (t totals) block(n int) []float64 { return t.data[n*blockSize : (n+1)*blockSize] }

// at returns element (i, j) for i <= j.
func (t totals) at(i, j int) float64 { return t.data[placeOf(i, j)] }

// set sets element (i, j) for i <= j.
func (t totals) set(i, j int, v float64) { t.data[placeOf(i, j)] = v }

// placeOf returns the index of element (i, j).
func placeOf(i, j int) int {
	panel := j / panelColumns
	block := panel*(panel+1)/2 + i/panelColumns
	return block*blockSize + i%panelColumns*panelColumns + j%panelColumns
}

// add adds the products of the first rows of a buffer, at least one, on up to limit goroutines if
// it is not 0.
func (t totals) add(buffer []float32, rows, limit int) {
	workers := parallel.Workers(t.blocks(), rows*t.columns*t.columns/2)
	if limit > 0 {
		workers = min(workers, limit)
	}
	if workers == 1 { // without the closure, which allocates
		for n := range t.blocks() {
			t.addBlock(n, buffer, rows)
		}
		return
	}
	parallel.Tasks(workers, t.blocks(), func(_, n int) { t.addBlock(n, buffer, rows) })
}

// addBlock adds the products of one pair of panels, kernel.BlockRows rows at a time, because that
// part of the right panel stays in the first-level cache from one tile to the next. Most
// neighbouring blocks have the same right panel.
func (t totals) addBlock(n int, buffer []float32, rows int) {
	i, j := place(n)
	left := buffer[i*bufferRows*panelColumns:][:bufferRows*panelColumns]
	right := buffer[j*bufferRows*panelColumns:][:bufferRows*panelColumns]
	to := min(panelColumns, kernel.RoundUp(t.columns-j*panelColumns, kernel.VectorColumns))
	block := t.block(n)
	for first := 0; first < rows; first += kernel.BlockRows {
		count := min(kernel.BlockRows, rows-first)
		for at := 0; at < min(panelColumns, t.columns-i*panelColumns); at += kernel.TileRows {
			from := 0
			if i == j {
				from = at - at%kernel.VectorColumns
			}
			tile := block[at*panelColumns:][:tileSize]
			kernel.Products(tile, left[first*panelColumns+at:], right[first*panelColumns:], count, from, to)
		}
	}
}

// place returns the panels (i, j) of block n.
func place(n int) (i, j int) {
	j = int((math.Sqrt(float64(8*n+1)) - 1) / 2)
	return n - j*(j+1)/2, j
}

// addRecoded adds other, times a weight, after recoding its columns. With v = a·u + d for every
// column, of which the last is the ones, Σ v_i v_j = a_i a_j Σ u_i u_j + a_i d_j Σ u_i + d_i a_j Σ
// u_j + d_i d_j N. Products are rounded before they are added, so that no compiler fuses them.
func (t totals) addRecoded(other totals, r recoding, weight float64) {
	ones := t.columns - 1
	sum := make([]float64, t.panels()*panelColumns)
	for i := range t.columns {
		sum[i] = float64(weight * other.at(i, ones))
	}
	for n := range t.blocks() {
		bi, bj := place(n)
		for i := range min(panelColumns, t.columns-bi*panelColumns) {
			at := bi*panelColumns + i
			a, d := r.scale[at], r.shift[at]
			linear, square := float64(a*sum[at])+float64(d*sum[ones]), float64(a*weight)
			row, from := t.block(n)[i*panelColumns:][:panelColumns], other.block(n)[i*panelColumns:][:panelColumns]
			for j := range row {
				aj, dj := r.scale[bj*panelColumns+j], r.shift[bj*panelColumns+j]
				row[j] += float64(square*aj*from[j]) + float64(linear*dj) + float64(d*aj*sum[bj*panelColumns+j])
			}
		}
	}
	for i := range t.columns {
		a, d := r.scale[i], r.shift[i]
		t.moved[i] += float64(a*a*weight*other.moved[i]) + float64(2*a*d*sum[i]) + float64(d*d*sum[ones])
	}
}
