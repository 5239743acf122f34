package kernel

// Store is memory for the features of rows, [panel][row][Width]. [Rows.Fill] writes them and
// [Store.Score] adds them to sums. Reading a feature costs a fraction of computing it, unless rows
// are short.
type Store struct {
	panels, rows int
	data         []float32 // on a cache line's boundary
}

// NewStore returns memory for the given number of panels and rows.
func NewStore(panels, rows int) *Store {
	s := &Store{data: alignedFloats(panels * rows * Width)}
	s.Reshape(panels, rows)
	return s
}

// Reshape reuses the memory of s for other numbers of panels and rows. It reports whether they fit.
func (s *Store) Reshape(panels, rows int) bool {
	if panels*rows*Width > len(s.data) {
		return false
	}
	s.panels, s.rows = panels, rows
	return true
}

// Panels returns the number of panels in the store.
func (s *Store) Panels() int { return s.panels }

// at returns the features of n rows from row first on.
func (s *Store) at(panel, first, n int) []float32 {
	return s.data[(panel*s.rows+first)*Width:][:n*Width]
}

// Fill is [Rows.Score] that also writes the features of panels first..next-1 to s, beginning at
// panel at and row row of s. Calls for disjoint panels or rows may run concurrently.
func (r *Rows) Fill(s *Store, at, row int, dst Sums, p *Panels, first, next int, t Targets) {
	checkSums(dst, p, t)
	var work scratch
	for panel := first; panel < next; panel++ {
		part := dst.widen(panel*Width, t.Outputs)
		sums := total{sum: part.Phi, square: part.PhiSq, product: part.YPhi, stride: part.Stride}
		for g := range r.Groups() {
			b := r.group(g, p)
			phi := s.at(at+panel-first, row+g*chunkRows, b.rows)
			p.features(phi, Width, panel, b, nil, &work)
			sums.add(p.level, phi, b.rows, t.slice(g*chunkRows, g*chunkRows+b.rows))
		}
		dst.take(part, panel*Width, t.Outputs)
	}
}

// Score adds n rows, from row row of s on, to the sums of the features of panels first..next-1 of
// p, which Fill wrote to the panels of s from at on.
func (s *Store) Score(at, row, n int, dst Sums, p *Panels, first, next int, t Targets) {
	checkSums(dst, p, t)
	for panel := first; panel < next; panel++ {
		part := dst.widen(panel*Width, t.Outputs)
		sums := total{sum: part.Phi, square: part.PhiSq, product: part.YPhi, stride: part.Stride}
		for i := 0; i < n; i += chunkRows {
			rows := min(chunkRows, n-i)
			sums.add(p.level, s.at(at+panel-first, row+i, rows), rows, t.slice(i, i+rows))
		}
		dst.take(part, panel*Width, t.Outputs)
	}
}
