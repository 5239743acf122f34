package training

import (
	"fmt"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/training/internal/kernel"
)

// Crosser sums products of the columns of tall matrices. Calls share its memory: a second call of
// the same shape does not allocate if one goroutine is enough.
//
// Blocks of 128 rows are summed in float32, each element in row order. One owner then adds the
// blocks in float64. A total therefore depends only on the order of the rows and on the arithmetic
// of the process, not on the number of goroutines.
type Crosser struct {
	// Workers bounds the goroutines of a call, where 0 stands for GOMAXPROCS.
	Workers int

	totals []float64 // [pair of panels][PanelColumns][PanelColumns]
}

// Cross sets dst[i·d + j] to Σ_r a_ri·b_rj, m×d numbers for the m columns of a and the d columns of
// b. It panics if rows or lengths do not match.
func (c *Crosser) Cross(dst []float64, a, b *Tall) {
	if a.Rows != b.Rows || len(dst) != a.Columns*b.Columns {
		panic(fmt.Sprintf("training: products of %d by %d and %d by %d numbers in %d",
			a.Rows, a.Columns, b.Rows, b.Columns, len(dst)))
	}
	c.sum(products{a: a, b: b})
	for i := range a.Columns {
		row := dst[i*b.Columns : (i+1)*b.Columns]
		for panel := range b.Panels() {
			copy(row[panel*PanelColumns:], c.row(panel*a.Panels()+i/PanelColumns, i%PanelColumns))
		}
	}
}

// Square sets dst[i·m + j] to Σ_r a_ri·a_rj for the m columns of a, at half the cost of Cross.
func (c *Crosser) Square(dst []float64, a *Tall) {
	m := a.Columns
	if len(dst) != m*m {
		panic(fmt.Sprintf("training: squares of %d columns in %d numbers", m, len(dst)))
	}
	c.sum(products{a: a, b: a, symmetric: true})
	for j := range a.Panels() {
		for i := range j + 1 {
			c.copyPair(dst, m, j*(j+1)/2+i, i*PanelColumns, j*PanelColumns)
		}
	}
}

// copyPair copies the totals of a pair of panels, whose columns begin at i <= j, to both of their
// places in dst.
func (c *Crosser) copyPair(dst []float64, m, pair, i, j int) {
	high, wide := min(PanelColumns, m-i), min(PanelColumns, m-j)
	for r := range high {
		from := 0
		if i == j {
			from = r
		}
		copy(dst[(i+r)*m+j+from:(i+r)*m+j+wide], c.row(pair, r)[from:])
	}
	block := c.totals[pair*PanelColumns*PanelColumns:]
	for r := range wide {
		to := high
		if i == j {
			to = r
		}
		own := dst[(j+r)*m+i:][:to]
		for at := range own {
			own[at] = block[at*PanelColumns+r]
		}
	}
}

// row returns a row of the totals of a pair of panels.
func (c *Crosser) row(pair, row int) []float64 {
	return c.totals[(pair*PanelColumns+row)*PanelColumns:][:PanelColumns]
}

// sum computes all totals.
func (c *Crosser) sum(p products) {
	pairs := p.a.Panels() * p.b.Panels()
	if p.symmetric {
		pairs = p.a.Panels() * (p.a.Panels() + 1) / 2
	}
	if n := pairs * PanelColumns * PanelColumns; cap(c.totals) < n {
		c.totals = make([]float64, n)
	} else {
		c.totals = c.totals[:n]
		clear(c.totals)
	}
	const tiles = PanelColumns / kernel.TileRows
	workers := parallel.Workers(pairs*tiles, p.a.Rows*pairs*PanelColumns*PanelColumns)
	if c.Workers > 0 {
		workers = min(workers, c.Workers)
	}
	if workers == 1 { // without the closure, which allocates
		p.add(c.totals, 0, pairs*tiles)
		return
	}
	const shares = 4 // per worker: a slower one takes fewer
	parallel.Tasks(workers, shares*workers, func(_, n int) {
		p.add(c.totals, n*pairs*tiles/(shares*workers), (n+1)*pairs*tiles/(shares*workers))
	})
}

// products are the products of two matrices, in tiles: kernel.TileRows columns of a panel of a
// times a panel of b. Pairs of panels are ordered by the panel of a. For equal matrices, pairs
// below the diagonal are omitted.
type products struct {
	a, b      *Tall
	symmetric bool
}

// chunkRows is the number of rows that pass through all tiles at a time, a multiple of
// kernel.BlockRows. The panel of b then stays in the first-level cache from one tile to the next.
const chunkRows = kernel.BlockRows

// add adds the products of tiles first..next-1 to their totals.
func (p products) add(totals []float64, first, next int) {
	const tiles, tile = PanelColumns / kernel.TileRows, kernel.TileRows * PanelColumns
	for from := 0; from < p.a.Rows; from += chunkRows {
		to := min(from+chunkRows, p.a.Rows)
		for n := first; n < next; n++ {
			i, j := p.panels(n / tiles)
			at := n % tiles * kernel.TileRows
			if i*PanelColumns+at >= p.a.Columns {
				continue
			}
			left := 0
			if p.symmetric && i == j {
				left = at - at%kernel.VectorColumns
			}
			right := min(PanelColumns, kernel.RoundUp(p.b.Columns-j*PanelColumns, kernel.VectorColumns))
			kernel.Products(totals[n*tile:(n+1)*tile], p.a.Panel(i, from, to)[at:], p.b.Panel(j, from, to), to-from, left, right)
		}
	}
}

// panels returns the panels of a and b of a pair.
func (p products) panels(pair int) (i, j int) {
	if !p.symmetric {
		return pair % p.a.Panels(), pair / p.a.Panels()
	}
	for j = 0; pair > j; j++ {
		pair -= j + 1
	}
	return pair, j
}
