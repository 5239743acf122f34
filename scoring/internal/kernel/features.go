package kernel

import "math"

// chunkDim is the number of columns that are multiplied at a time: this part of a panel stays in
// the first-level cache from one tile of rows to the next.
const chunkDim = 192

// chunkRows is the greatest number of rows that are multiplied by a panel at a time: enough to
// amortize loading a chunk of the panel.
const chunkRows = 64

// chunked reports whether rows are multiplied in chunks. A chunk that is used only once need not
// stay in the cache.
func (p *Panels) chunked(rows int) bool { return rows > 8 && p.Dim > chunkDim && p.Map.projects() }

// listedDim is chunkDim for listed rows: their lists skip some lines of a panel, and a change of
// piece costs as much as several numbers of a list.
const listedDim = 264

// pieceDim is the number of columns of listed rows that are multiplied at a time.
func pieceDim(rows, dim int) int {
	if rows <= 8 {
		return dim
	}
	return listedDim
}

// scratch is the memory of a call: the arguments of rows between two chunks.
type scratch struct{ z [2][chunkRows * Width]float32 }

// block is a range of the rows of a call.
type block struct {
	x       []float32
	rows    int
	largest float32   // greatest size of a number in x, NaN if one is NaN
	lists   *lists    // lists that contain the rows; nil for rows without lists
	first   int       // number of the first row in lists, even
	columns []float32 // the rows transposed, [dim][chunkRows], from the first row on; nil if not transposed
}

// part returns n rows of b, of dim numbers each, from the even row first on.
func (b block) part(first, n, dim int) block {
	part := block{x: b.x[first*dim : (first+n)*dim], rows: n, largest: b.largest, lists: b.lists, first: b.first + first}
	if b.columns != nil {
		part.columns = b.columns[first:]
	}
	return part
}

// features writes the features of one panel for the rows of b, at most chunkRows, to dst, with rows
// stride numbers apart. It writes all Width lanes, except lanes after the last product. factor is
// [Width] or nil. s may be nil unless the rows are chunked or have columns.
func (p *Panels) features(dst []float32, stride, panel int, b block, factor []float32, s *scratch) {
	switch mapRows[p.Map].source {
	case coordinate:
		gather(dst, stride, p.coord[panel*Width:(panel+1)*Width], b.x, p.Dim, b.rows, factor)
	case thresholds:
		p.products(dst, stride, panel, b, factor, s)
	default:
		c := p.lastChunk(panel, b, s)
		c.dst = dst
		c.dstStride = stride
		c.factor = factor
		c.run(p.level)
	}
}

// lastChunk multiplies all chunks except the last and returns the call for the last one, without
// dst.
func (p *Panels) lastChunk(panel int, b block, s *scratch) call {
	c := call{
		init: p.start[panel*Width : (panel+1)*Width], x: b.x, xStride: p.Dim,
		weights: p.weights[panel*p.Dim*Width : (panel+1)*p.Dim*Width], rows: b.rows,
	}
	if b.lists != nil {
		return p.lastListed(c, panel, b, s)
	}
	for turn := 0; p.chunked(b.rows) && len(c.weights) > chunkDim*Width; turn++ {
		part := c
		part.weights = c.weights[:chunkDim*Width]
		part.dst = s.z[turn%2][:b.rows*Width]
		part.dstStride = Width
		part.op = raw
		part.run(p.level)
		c.init, c.initStride = part.dst, Width
		c.x, c.weights = c.x[chunkDim:], c.weights[chunkDim*Width:]
	}
	c.op = p.operation(panel, b.largest)
	return c
}

// lastListed is lastChunk for listed rows.
func (p *Panels) lastListed(c call, panel int, b block, s *scratch) call {
	c.entries = b.lists.entries
	for piece := range b.lists.pieces {
		c.begin = b.lists.begin[piece*b.lists.stride+b.first:][:b.rows+1]
		if piece+1 < b.lists.pieces {
			part := c
			part.dst = s.z[piece%2][:b.rows*Width]
			part.dstStride = Width
			part.op = raw
			part.run(p.level)
			c.init, c.initStride = part.dst, Width
		}
	}
	c.op = p.operation(panel, b.largest)
	return c
}

// call is the arguments of the loop
//
//	z = init[r·initStride + f] + Σ_k x[r·xStride + k]·weights[k·Width + f]
//	dst[r·dstStride + f] = factor[f]·op(z)
//
// over rows r and the Width lanes f, k rising; factor nil means 1. dst and init do not overlap. If
// begin is not nil, the entries of the row's list, see [lists], replace x, and k runs over their
// columns.
type call struct {
	dst, init, x, weights, factor  []float32
	dstStride, initStride, xStride int
	entries                        []entry
	begin                          []uint32 // [rows + 1]
	rows                           int
	op                             operation
}

// check panics if the loop would touch memory outside the slices, which the assembly does not
// check.
func (c *call) check() {
	c.checkInputs()
	if len(c.dst) < (c.rows-1)*c.dstStride+Width || (c.factor != nil && len(c.factor) < Width) {
		panic("kernel: destination is shorter than its rows")
	}
}

// checkInputs is check without the destination.
func (c *call) checkInputs() {
	last, dim := c.rows-1, len(c.weights)/Width
	if c.rows < 1 || len(c.init) < last*c.initStride+Width {
		panic("kernel: start values are shorter than their rows")
	}
	if c.begin == nil && len(c.x) < last*c.xStride+dim || c.begin != nil && int(c.begin[c.rows]) > len(c.entries) {
		panic("kernel: input is shorter than its rows")
	}
}

// split cuts the rows at the even row n; either part may be empty.
func (c call) split(n int) (before, after call) {
	before, after = c, c
	before.rows, after.rows = n, c.rows-n
	if after.rows > 0 {
		after.init = c.init[n*c.initStride:]
		if c.begin != nil {
			after.begin = c.begin[n:]
		} else {
			after.x = c.x[n*c.xStride:]
		}
	}
	return before, after
}

// gather writes the panel's coordinates of each row.
func gather(dst []float32, stride int, coord []int32, x []float32, dim, rows int, factor []float32) {
	for r := range rows {
		row, to := x[r*dim:(r+1)*dim], dst[r*stride:r*stride+Width]
		if factor == nil {
			for f, c := range coord {
				to[f] = row[c]
			}
			continue
		}
		for f, c := range coord {
			to[f] = float32(row[c] * factor[f])
		}
	}
}

// surveyPlain returns the greatest size of a number in x, infinite or NaN if a number is, and the
// number of zeros.
func surveyPlain(x []float32) (largest float32, zeros int) {
	most := uint32(0)
	for _, v := range x {
		size := math.Float32bits(v) &^ (1 << 31)
		most = max(most, size)
		if size == 0 {
			zeros++
		}
	}
	return math.Float32frombits(most), zeros
}
