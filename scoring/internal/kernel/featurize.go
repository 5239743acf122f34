package kernel

// featurizeFloats is the size of the features that are written before the next rows are taken: 128 KB, which stay in
// the second-level cache until they are whole lines.
const featurizeFloats = 1 << 15

// Featurize sets dst[i·stride + m] = factor[m]·φ_m(x_i) for the rows x_i of x. Calls for disjoint rows may run at once.
func Featurize(dst []float32, stride int, p *Panels, x []float32, factor []float32) {
	rows := len(x) / p.Dim
	if rows == 0 {
		return
	}
	if stride < p.Len || len(dst) < (rows-1)*stride+p.Len || len(factor) < p.Len {
		panic("kernel: fewer numbers than features")
	}
	if !p.chunked(rows) {
		p.featurizeRows(dst, stride, x, factor, nil) // without the cost of clearing the scratch memory
		return
	}
	var s scratch
	p.featurizeRows(dst, stride, x, factor, &s)
}

// featurizeRows takes some rows at a time through all panels.
func (p *Panels) featurizeRows(dst []float32, stride int, x, factor []float32, s *scratch) {
	rows, step := len(x)/p.Dim, min(chunkRows, max(8, featurizeFloats/p.Len/8*8))
	for i := 0; i < rows; i += step {
		n := min(step, rows-i)
		r := p.Rows(x[i*p.Dim : (i+n)*p.Dim])
		r.List(0, 1)
		p.featurize(dst[i*stride:], stride, r.group(0, p), factor, s)
		r.Release()
	}
}

// featurize writes all features of the rows of b.
func (p *Panels) featurize(dst []float32, stride int, b block, factor []float32, s *scratch) {
	full := p.Len / Width
	for panel := range full {
		at := panel * Width
		p.features(dst[at:], stride, panel, b, factor[at:at+Width], s)
	}
	if full < p.Count() {
		p.featurizeLast(dst, stride, b, factor, s)
	}
}

// lastRows is how many rows of a panel that is not full are written aside at a time.
const lastRows = 16

// featurizeLast writes the features of a panel that is not full, which the loop writes wider than dst has room for.
func (p *Panels) featurizeLast(dst []float32, stride int, b block, factor []float32, s *scratch) {
	var wide [lastRows * Width]float32
	var padded [Width]float32
	last := p.Count() - 1
	at := last * Width
	copy(padded[:], factor[at:p.Len])
	for i := 0; i < b.rows; i += lastRows {
		n := min(lastRows, b.rows-i)
		p.features(wide[:], Width, last, b.part(i, n, p.Dim), padded[:], s)
		for r := range n {
			copy(dst[(i+r)*stride+at:(i+r)*stride+p.Len], wide[r*Width:])
		}
	}
}
