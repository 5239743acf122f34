package kernel

import "fmt"

// Targets are the raw outputs of rows: Values row-major [rows·Outputs], or Class [rows] when Values
// is nil.
type Targets struct {
	Outputs int
	Values  []float32
	Class   []int32
}

// slice returns the targets of rows first..next-1.
func (t Targets) slice(first, next int) Targets {
	if t.Values != nil {
		return Targets{Outputs: t.Outputs, Values: t.Values[first*t.Outputs : next*t.Outputs]}
	}
	return Targets{Outputs: t.Outputs, Class: t.Class[first:next]}
}

// check panics if a class is out of range, which the assembly does not check.
func (t Targets) check() {
	for i, k := range t.Class {
		if k < 0 || int(k) >= t.Outputs {
			panic(fmt.Sprintf("kernel: row %d is of class %d of %d", i, k, t.Outputs))
		}
	}
}

// Sums are the sums to which Score adds: Σφ and Σφ², [Len], and Σ y_k φ, output-major: the sums of
// output k begin at k·Stride.
type Sums struct {
	Phi, PhiSq, YPhi []float64
	Stride           int
}

// widen returns the sums of the panel that begins at feature at. For a partial panel it returns a
// copy with the width of a full one.
func (s Sums) widen(at, outputs int) Sums {
	if lanes := len(s.Phi) - at; lanes < Width {
		wide := Sums{make([]float64, Width), make([]float64, Width), make([]float64, outputs*Width), Width}
		copy(wide.Phi, s.Phi[at:])
		copy(wide.PhiSq, s.PhiSq[at:])
		for k := range outputs {
			copy(wide.YPhi[k*Width:], s.YPhi[k*s.Stride+at:][:lanes])
		}
		return wide
	}
	return Sums{s.Phi[at : at+Width], s.PhiSq[at : at+Width], s.YPhi[at:], s.Stride}
}

// take copies the sums of a partial panel back from wide.
func (s Sums) take(wide Sums, at, outputs int) {
	lanes := len(s.Phi) - at
	if lanes >= Width {
		return
	}
	copy(s.Phi[at:], wide.Phi)
	copy(s.PhiSq[at:], wide.PhiSq)
	for k := range outputs {
		copy(s.YPhi[k*s.Stride+at:][:lanes], wide.YPhi[k*Width:])
	}
}

const (
	// scoreFloats is the size of the rows that stay in the second-level cache while all panels
	// pass: 1 MB.
	scoreFloats = 1 << 18
	// scoreRows is the number of rows that Score multiplies by a panel at a time: their features
	// stay in the first-level cache.
	scoreRows = chunkRows
)

// Score adds the rows of x, row-major [rows·Dim], to the sums of the features of panels
// first..next-1. Calls for disjoint panels may run concurrently on the same sums.
func Score(dst Sums, p *Panels, first, next int, x []float32, t Targets) {
	rows, step := len(x)/p.Dim, BlockRows(p.Dim)
	for i := 0; i < rows; i += step {
		n := min(step, rows-i)
		r := p.Rows(x[i*p.Dim : (i+n)*p.Dim])
		r.List(0, r.Groups())
		r.Score(dst, p, first, next, t.slice(i, i+n))
		r.Release()
	}
}

// Score is [Score] for at most BlockRows listed rows.
func (r *Rows) Score(dst Sums, p *Panels, first, next int, t Targets) {
	checkSums(dst, p, t)
	var s scorer
	for panel := first; panel < next; panel++ {
		part := dst.widen(panel*Width, t.Outputs)
		if r.grouped(p) {
			s.addGroups(part, p, panel, r, t)
		} else {
			s.add(part, p, panel, r.all(), t)
		}
		dst.take(part, panel*Width, t.Outputs)
	}
}

// checkSums panics if sums do not fit p or a class is not an output.
func checkSums(dst Sums, p *Panels, t Targets) {
	if len(dst.Phi) != p.Len {
		panic(fmt.Sprintf("kernel: sums of %d features for %d", len(dst.Phi), p.Len))
	}
	if t.Values == nil {
		t.check()
	}
}

// callProducts bounds the work of a fused call, in products of one number of a row and one of ω:
// about 0.2 ms, because the scheduler cannot interrupt assembly.
const callProducts = 15_000_000

// fusedRows returns the number of rows of dim numbers in a fused call, a multiple of tileRows.
func fusedRows(dim int) int {
	const elementCost = 16 // cost of a feature map and of the sums, in products
	return max(callProducts/(Width*(dim+elementCost))/tileRows*tileRows, tileRows)
}

// BlockRows returns the number of rows of dim numbers that Score multiplies by all panels at a
// time.
func BlockRows(dim int) int { return max(scoreRows, scoreFloats/dim/scoreRows*scoreRows) }

// scorer is the memory of a call of Score.
type scorer struct {
	scratch
	phi [scoreRows*Width + cacheLine/4]float32
}

// add adds the rows of b to the sums of one panel.
func (s *scorer) add(dst Sums, p *Panels, panel int, b block, t Targets) {
	step := scoreRows
	if p.fuses(t) && !p.chunked(b.rows) {
		step = fusedRows(p.Dim)
	}
	for i := 0; i < b.rows; i += step {
		n := min(step, b.rows-i)
		s.addPart(dst, p, panel, b.part(i, n, p.Dim), t.slice(i, i+n))
	}
}

// addGroups is add for listed or transposed rows.
func (s *scorer) addGroups(dst Sums, p *Panels, panel int, r *Rows, t Targets) {
	for g := range r.Groups() {
		b := r.group(g, p)
		s.addPart(dst, p, panel, b, t.slice(g*chunkRows, g*chunkRows+b.rows))
	}
}

// addPart is add for the rows of one call.
func (s *scorer) addPart(dst Sums, p *Panels, panel int, b block, t Targets) {
	phi := aligned(s.phi[:])
	sums := total{sum: dst.Phi, square: dst.PhiSq, product: dst.YPhi, stride: dst.Stride}
	if !p.fuses(t) {
		p.features(phi, Width, panel, b, nil, &s.scratch)
		sums.add(p.level, phi, b.rows, t)
		return
	}
	tiles, rest := p.lastChunk(panel, b, &s.scratch).split(b.rows / tileRows * tileRows)
	if tiles.rows > 0 {
		tiles.score(phi, sums, t.slice(0, tiles.rows))
	}
	if rest.rows > 0 {
		rest.dst, rest.dstStride = phi, Width
		rest.run(p.level)
		sums.add(p.level, phi, rest.rows, t.slice(tiles.rows, b.rows))
	}
}
