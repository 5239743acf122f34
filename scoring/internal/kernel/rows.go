package kernel

import (
	"sync"

	"github.com/eerf-stream/eerf/internal/simd"
)

// Rows are rows for [Rows.Score], looked at once for all panels. Where many of their numbers are zero, they have lists of
// the others, which are made by [Rows.List] and given back by [Rows.Release].
type Rows struct {
	x       []float32
	dim     int
	level   simd.Level
	largest float32
	lists   *rowLists // nil where most numbers are not zero
}

// rowLists are the lists of rows, chunkRows each.
type rowLists struct{ groups []lists }

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

// Rows looks at rows for p, or for other panels of its kind. x is not copied.
func (p *Panels) Rows(x []float32) Rows {
	r := Rows{x: x, dim: p.Dim, level: p.level}
	largest, zeros := survey(p.level, x)
	r.largest = largest
	if p.lists(len(x), zeros) {
		r.lists = takeLists(r.Groups())
	}
	return r
}

// Groups returns how many groups of rows List lists.
func (r *Rows) Groups() int { return (r.count() + chunkRows - 1) / chunkRows }

// count returns the number of rows.
func (r *Rows) count() int { return len(r.x) / r.dim }

// List makes the lists of groups first..next-1, as must be done before rows are scored. Calls for disjoint groups may run
// at once.
func (r *Rows) List(first, next int) {
	if r.lists == nil {
		return
	}
	for g := first; g < next; g++ {
		at := g * chunkRows
		n := min(chunkRows, r.count()-at)
		r.lists.groups[g].fill(r.level, r.x[at*r.dim:(at+n)*r.dim], r.dim, pieceDim(n, r.dim))
	}
}

// Release gives the lists back. The rows must not be used any more.
func (r *Rows) Release() {
	if r.lists != nil {
		spareLists.Put(r.lists)
		r.lists = nil
	}
}

// all is the rows as a block that is not listed.
func (r *Rows) all() block { return block{x: r.x, rows: r.count(), largest: r.largest} }

// group is the rows of group g, with their lists if they are listed and p supports them.
func (r *Rows) group(g int, p *Panels) block {
	b := r.all().part(g*chunkRows, min(chunkRows, r.count()-g*chunkRows), r.dim)
	if r.lists != nil && p.finite {
		b.lists, b.first = &r.lists.groups[g], 0
	}
	return b
}
