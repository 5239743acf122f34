package kernel

import (
	"sync"

	"github.com/eerf-stream/eerf/internal/simd"
)

// Rows are rows for [Rows.Score], prepared once for all panels: with lists of the nonzero numbers
// if many numbers are zero, and transposed for products. [Rows.List] prepares them, [Rows.Release]
// releases the memory.
type Rows struct {
	x       []float32
	dim     int
	level   simd.Level
	largest float32
	lists   *rowLists   // nil if most numbers are nonzero
	columns *rowColumns // nil without products
}

// rowLists are the lists of rows, chunkRows each.
type rowLists struct{ groups []lists }

// rowColumns are rows transposed, chunkRows each: [group][dim][chunkRows].
type rowColumns struct{ data []float32 }

// spareColumns are unused *rowColumns.
var spareColumns = sync.Pool{New: func() any { return new(rowColumns) }}

// takeColumns returns memory for the columns of groups of rows.
func takeColumns(groups, dim int) *rowColumns {
	c := spareColumns.Get().(*rowColumns)
	if n := groups * dim * chunkRows; len(c.data) < n {
		c.data = alignedFloats(n)
	}
	return c
}

// group returns the columns of group g.
func (c *rowColumns) group(g, dim int) []float32 {
	return c.data[g*dim*chunkRows : (g+1)*dim*chunkRows]
}

// spareLists are unused *rowLists.
var spareLists = sync.Pool{New: func() any { return new(rowLists) }}

// takeLists returns memory for groups lists.
func takeLists(groups int) *rowLists {
	l := spareLists.Get().(*rowLists)
	for len(l.groups) < groups {
		l.groups = append(l.groups, lists{})
	}
	return l
}

// Rows surveys the rows of x, row-major [rows·Dim], for p or other panels of the same kind. It does
// not copy x.
func (p *Panels) Rows(x []float32) Rows { return Set{p}.Rows(x) }

// Set is a list of panels, one kind of features each, over the same rows.
type Set []*Panels

// Len returns the number of features.
func (s Set) Len() (n int) {
	for _, p := range s {
		n += p.Len
	}
	return n
}

// Rows surveys the rows of x, row-major [rows·Dim], for the panels of s. It does not copy x.
func (s Set) Rows(x []float32) Rows {
	r := Rows{x: x, dim: s[0].Dim, level: s[0].level}
	largest, zeros := survey(r.level, x)
	r.largest = largest
	for _, p := range s {
		if r.lists == nil && p.lists(len(x), zeros) {
			r.lists = takeLists(r.Groups())
		}
		if r.columns == nil && p.columns(r.count()) {
			r.columns = takeColumns(r.Groups(), r.dim)
		}
	}
	return r
}

// Groups returns the number of groups of rows for List.
func (r *Rows) Groups() int { return (r.count() + chunkRows - 1) / chunkRows }

// count returns the number of rows.
func (r *Rows) count() int { return len(r.x) / r.dim }

// List makes the lists and columns of groups first..next-1. All groups must be listed before rows
// are scored. Calls for disjoint groups may run concurrently.
func (r *Rows) List(first, next int) {
	for g := first; g < next && (r.lists != nil || r.columns != nil); g++ {
		at := g * chunkRows
		n := min(chunkRows, r.count()-at)
		x := r.x[at*r.dim : (at+n)*r.dim]
		if r.lists != nil {
			r.lists.groups[g].fill(r.level, x, r.dim, pieceDim(n, r.dim))
		}
		if r.columns != nil {
			transpose(r.level, r.columns.group(g, r.dim), chunkRows, x, r.dim, n, r.dim)
		}
	}
}

// Release returns lists and columns to their pools. The rows must not be used afterwards.
func (r *Rows) Release() {
	if r.lists != nil {
		spareLists.Put(r.lists)
		r.lists = nil
	}
	if r.columns != nil {
		spareColumns.Put(r.columns)
		r.columns = nil
	}
}

// all returns the rows as a block without lists.
func (r *Rows) all() block { return block{x: r.x, rows: r.count(), largest: r.largest} }

// grouped reports whether p uses the lists or columns of the rows, group by group.
func (r *Rows) grouped(p *Panels) bool {
	return r.lists != nil && p.finite || r.columns != nil && p.Map == Product
}

// group returns the rows of group g, with their lists or columns if p uses them.
func (r *Rows) group(g int, p *Panels) block {
	b := r.all().part(g*chunkRows, min(chunkRows, r.count()-g*chunkRows), r.dim)
	if r.lists != nil && p.finite {
		b.lists, b.first = &r.lists.groups[g], 0
	}
	if r.columns != nil && p.Map == Product {
		b.columns = r.columns.group(g, r.dim)
	}
	return b
}
