package kernel

// featurizeFloats is the size of the features of a block of rows: 128 KB, which stay in the
// second-level cache until their lines are complete.
const featurizeFloats = 1 << 15

// Featurize sets dst[i·stride + m] = factor[m]·φ_m(x_i) for the rows x_i of x, row-major
// [rows·Dim], and the features of s. factor nil means 1. Calls for disjoint rows may run
// concurrently.
func (s Set) Featurize(dst []float32, stride int, x, factor []float32) {
	m, rows := s.Len(), len(x)/s[0].Dim
	if stride < m || rows > 0 && len(dst) < (rows-1)*stride+m || factor != nil && len(factor) < m {
		panic("kernel: destination or factors are shorter than the features")
	}
	if !s.needsScratch(rows) {
		s.featurize(dst, stride, x, factor, nil) // without the cost of clearing the scratch memory
		return
	}
	var memory scratch
	s.featurize(dst, stride, x, factor, &memory)
}

// needsScratch reports whether a call for this many rows needs scratch memory.
func (s Set) needsScratch(rows int) bool {
	for _, p := range s {
		if p.chunked(rows) || p.columns(rows) {
			return true
		}
	}
	return false
}

// featurize multiplies one block of rows after another by all panels.
func (s Set) featurize(dst []float32, stride int, x, factor []float32, memory *scratch) {
	dim := s[0].Dim
	rows, step := len(x)/dim, min(chunkRows, max(8, featurizeFloats/s.Len()/8*8))
	for i := 0; i < rows; i += step {
		n := min(step, rows-i)
		r := s.Rows(x[i*dim : (i+n)*dim])
		r.List(0, 1)
		at := 0
		for _, p := range s {
			p.featurize(dst[i*stride+at:], stride, r.group(0, p), part(factor, at, at+p.Len), memory)
			at += p.Len
		}
		r.Release()
	}
}

// featurize writes all features of the rows of b, with rows stride numbers apart.
func (p *Panels) featurize(dst []float32, stride int, b block, factor []float32, s *scratch) {
	whole := p.Len / Width
	if p.Map == Product {
		whole = p.Count() // products write no lanes beyond the last feature
	}
	for panel := range whole {
		at := panel * Width
		p.features(dst[at:], stride, panel, b, part(factor, at, min(at+Width, p.Len)), s)
	}
	if whole < p.Count() {
		p.featurizeLast(dst, stride, b, factor, s)
	}
}

// lastRows is the number of rows of a partial panel that are written to temporary memory at a time.
const lastRows = 16

// featurizeLast writes the features of a partial panel, for which dst has no room at full width.
func (p *Panels) featurizeLast(dst []float32, stride int, b block, factor []float32, s *scratch) {
	var wide [lastRows * Width]float32
	var padded []float32
	last := p.Count() - 1
	at := last * Width
	if factor != nil {
		var own [Width]float32
		copy(own[:], factor[at:p.Len])
		padded = own[:]
	}
	for i := 0; i < b.rows; i += lastRows {
		n := min(lastRows, b.rows-i)
		p.features(wide[:], Width, last, b.part(i, n, p.Dim), padded, s)
		for r := range n {
			copy(dst[(i+r)*stride+at:(i+r)*stride+p.Len], wide[r*Width:])
		}
	}
}

// part returns s[first:next], nil for nil.
func part(s []float32, first, next int) []float32 {
	if s == nil {
		return nil
	}
	return s[first:next]
}
