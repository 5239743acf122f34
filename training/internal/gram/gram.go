package gram

import (
	"fmt"
	"slices"

	"github.com/eerf-stream/eerf/training/internal/kernel"
)

const (
	panelColumns = kernel.PanelColumns
	// bufferRows is the number of rows that are coded and kept until they are multiplied. It is a
	// multiple of kernel.BlockRows, so that totals are loaded and stored once for many blocks, and
	// small enough for a panel to stay in a second-level cache.
	bufferRows = 4 * kernel.BlockRows
)

// Gram is the sum of (z, y, 1)ᵀ(z, y, 1) over rows of M features z and K outputs y. It belongs to
// one goroutine.
//
// Its totals take 8 bytes for each element of the upper triangle, in blocks of 48 by 48. Once rows
// were added, the buffer takes 4·bufferRows = 2048 bytes for each column, rounded up to 48 columns.
type Gram struct {
	Workers           int // most goroutines, 0 stands for GOMAXPROCS
	features, outputs int
	coding            coding
	totals            totals
	buffer            []float32 // [panel][bufferRows][panelColumns] rows that totals lack
	pending           int       // number of rows in the buffer
	tail              []float32 // last columns of a row, reused
}

// Bytes returns the memory of a Gram once rows were added.
func Bytes(features, outputs int) int64 {
	t := totals{columns: features + outputs + 1}
	return 8*int64(t.blocks())*blockSize + 4*int64(t.panels())*(bufferRows+3)*panelColumns + 8*int64(t.columns)
}

// SettledBytes returns the memory of a Gram without its buffer.
func SettledBytes(features, outputs int) int64 {
	t := totals{columns: features + outputs + 1}
	return 8*int64(t.blocks())*blockSize + 4*3*int64(t.panels())*panelColumns + 8*int64(t.columns)
}

// New returns the sum of no rows. features and outputs must be positive.
func New(features, outputs int) *Gram {
	columns := features + outputs + 1
	return &Gram{features: features, outputs: outputs, coding: newCoding(columns), totals: newTotals(columns)}
}

// Add adds one row.
func (g *Gram) Add(z, y []float32) {
	if len(z) != g.features || len(y) != g.outputs {
		panic(fmt.Sprintf("gram: row of %d and %d values for %d and %d", len(z), len(y), g.features, g.outputs))
	}
	if g.buffer == nil {
		g.buffer = make([]float32, g.totals.panels()*bufferRows*panelColumns)
		g.tail = make([]float32, g.totals.panels()*panelColumns-whole(g.features))
	}
	if largest := g.store(z, y); largest > largestCoded && g.coding.fixed {
		g.widen(z, y)
	}
	g.pending++
	if !g.coding.fixed && g.pending == kernel.BlockRows {
		g.coding.fix(g.buffer, g.pending)
	}
	if g.pending == bufferRows {
		g.flush()
	}
}

// flush adds the coded rows in the buffer to the totals.
func (g *Gram) flush() {
	if g.pending > 0 {
		g.totals.add(g.buffer, g.pending, g.Workers)
		g.pending = 0
	}
}

// widen makes the coding wide enough for a row and stores the row. Recoding the rows so far is
// exact, because scales are powers of two.
func (g *Gram) widen(z, y []float32) {
	wider, ofFeatures := g.coding.widened(0, z)
	wider, ofOutputs := wider.widened(g.features, y)
	if !ofFeatures && !ofOutputs {
		return
	}
	g.flush()
	totals := newTotals(g.totals.columns)
	totals.addRecoded(g.totals, wider.from(g.coding), 1)
	g.coding, g.totals = wider, totals
	g.store(z, y)
}

// store codes the row (z, y, 1) into the buffer and returns the largest magnitude there. Whole
// panels of z are read in place, the rest through tail.
func (g *Gram) store(z, y []float32) (largest float32) {
	const stride = bufferRows * panelColumns
	n := whole(g.features)
	n += copy(g.tail, z[n:])
	copy(g.tail[n-whole(g.features):], y)
	g.tail[len(z)+len(y)-whole(g.features)] = 1
	n = whole(g.features)
	dst := g.buffer[g.pending*panelColumns:]
	return max(
		kernel.Code(dst, stride, z[:n], g.coding.shift, g.coding.scale),
		kernel.Code(dst[n*bufferRows:], stride, g.tail, g.coding.shift[n:], g.coding.scale[n:]),
	)
}

// whole returns the number of columns in whole panels.
func whole(columns int) int { return columns - columns%panelColumns }

// Settle releases the buffer until more rows are added.
func (g *Gram) Settle() {
	if !g.coding.fixed && g.pending > 0 {
		g.coding.fix(g.buffer, g.pending)
	}
	g.flush()
	g.buffer, g.tail = nil, nil
}

// Clone returns an independent copy that continues with the same bits.
func (g *Gram) Clone() *Gram {
	c := *g
	c.coding = g.coding.clone()
	c.totals = g.totals.clone()
	c.buffer, c.tail = slices.Clone(g.buffer), slices.Clone(g.tail)
	return &c
}

// Settled returns the moments of all rows so far and does not change g. They are valid until rows
// are added to g.
func (g *Gram) Settled() *Moments {
	m := &Moments{features: g.features, outputs: g.outputs, coding: g.coding, totals: g.totals}
	if g.pending == 0 {
		return m
	}
	buffer := g.buffer
	if !g.coding.fixed {
		m.coding, buffer = g.coding.clone(), slices.Clone(g.buffer)
		m.coding.fix(buffer, g.pending)
	}
	m.totals = g.totals.clone()
	m.totals.add(buffer, g.pending, g.Workers)
	return m
}

// Pick returns the sums of some of the features, in ascending order, with all outputs. They differ
// from the sums of the same rows only in the coding of the features, which Pick keeps.
func (g *Gram) Pick(features []int32) *Gram {
	m := g.Settled()
	p := New(len(features), g.outputs)
	from := slices.Clone(features)
	for i := g.features; i < m.totals.columns; i++ {
		from = append(from, int32(i))
	}
	p.coding.fixed = m.coding.fixed
	for j, c := range from {
		p.coding.shift[j] = m.coding.shift[c]
		p.coding.scale[j] = m.coding.scale[c]
		p.totals.moved[j] = m.totals.moved[c]
		for i, r := range from[:j+1] {
			p.totals.set(i, j, m.totals.at(int(r), int(c)))
		}
	}
	return p
}

// rows returns the number of rows added and merged, each with its weight.
func (g *Gram) rows() float64 {
	ones := g.totals.columns - 1
	return g.totals.at(ones, ones) + float64(g.pending)
}

// Mean returns the mean of column i, a feature or an output, of at least one row. Its time only
// grows with the rows in the buffer.
func (g *Gram) Mean(i int) float64 {
	sum := g.totals.at(i, g.totals.columns-1)
	for r := range g.pending {
		sum += float64(g.buffer[(i/panelColumns*bufferRows+r)*panelColumns+i%panelColumns])
	}
	return float64(g.coding.shift[i]) + sum/g.rows()/float64(g.coding.scale[i])
}

// Merge adds the rows of other in float64, each with a weight above 0, and leaves other unchanged.
// Both must have the same shape. The side with more rows decides the coding: rows far from a shift
// would leave few digits for the spread of all.
func (g *Gram) Merge(other *Gram, weight float64) {
	m := other.Settled()
	rows := float64(weight * m.Rows())
	if rows > g.rows() {
		g.take(m, weight)
		return
	}
	if rows == 0 {
		return
	}
	if !g.coding.fixed {
		g.coding.fix(g.buffer, g.pending)
	}
	g.totals.addRecoded(m.totals, g.coding.from(m.coding), weight)
}

// take replaces the sums by those of m, weighted, and adds its own to them.
func (g *Gram) take(m *Moments, weight float64) {
	own := g.Settled()
	g.coding, g.totals = m.coding.clone(), m.totals.clone()
	g.pending = 0
	g.totals.scale(weight)
	if own.Rows() > 0 {
		g.totals.addRecoded(own.totals, g.coding.from(own.coding), 1)
	}
}
