package kernel

// Targets are the raw outputs of rows: Values row-major [rows·Outputs], or Class [rows] when Values is nil.
type Targets struct {
	Outputs int
	Values  []float32
	Class   []int32
}

// Sums are where Score adds: Σφ and Σφ², [Len], and Σ y_k φ, output-major [Outputs·Len].
type Sums struct {
	Phi, PhiSq, YPhi []float64
}

// scoreRows is how many rows Score takes through a panel at a time: 4 KB of features stay in the first-level cache,
// as do the rows themselves up to about a hundred numbers each.
const scoreRows = 128

// Score adds the rows of x, row-major, to the sums of the features of panels first..next-1. Calls for disjoint panels
// may run at once on the same sums.
func Score(dst Sums, p *Panels, first, next int, x []float32, t Targets) {
	var phi [scoreRows]tile
	rows := len(x) / p.Dim
	for i := 0; i < rows; i += scoreRows {
		n := min(scoreRows, rows-i)
		block := x[i*p.Dim : (i+n)*p.Dim]
		for panel := first; panel < next; panel++ {
			p.features(phi[:n], panel, block)
			at, lanes := panel*Width, p.lanes(panel)
			addMoments(dst.Phi[at:at+lanes], dst.PhiSq[at:at+lanes], phi[:n])
			if t.Values == nil {
				addClasses(dst.YPhi, p.Len, at, lanes, phi[:n], t.Class[i:i+n])
				continue
			}
			for k := range t.Outputs {
				addProducts(dst.YPhi[k*p.Len+at:k*p.Len+at+lanes], phi[:n], t.Values[i*t.Outputs+k:], t.Outputs)
			}
		}
	}
}

// addMoments adds φ and φ² of every row to the sums of each lane.
func addMoments(sum, square []float64, phi []tile) {
	var s, q [Width]float64
	copy(s[:], sum)
	copy(q[:], square)
	for half := 0; half < Width; half += 4 {
		s0, s1, s2, s3 := s[half], s[half+1], s[half+2], s[half+3]
		q0, q1, q2, q3 := q[half], q[half+1], q[half+2], q[half+3]
		for i := range phi {
			t := (*[4]float32)(phi[i][half:])
			v0, v1, v2, v3 := float64(t[0]), float64(t[1]), float64(t[2]), float64(t[3])
			s0, s1, s2, s3 = s0+v0, s1+v1, s2+v2, s3+v3
			q0 += float64(v0 * v0)
			q1 += float64(v1 * v1)
			q2 += float64(v2 * v2)
			q3 += float64(v3 * v3)
		}
		*(*[4]float64)(s[half:]) = [4]float64{s0, s1, s2, s3}
		*(*[4]float64)(q[half:]) = [4]float64{q0, q1, q2, q3}
	}
	copy(sum, s[:])
	copy(square, q[:])
}

// addProducts adds y·φ of every row to the sum of each lane; row i's y is at y[i·stride].
func addProducts(sum []float64, phi []tile, y []float32, stride int) {
	var s [Width]float64
	copy(s[:], sum)
	s0, s1, s2, s3, s4, s5, s6, s7 := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	for i := range phi {
		t, v := &phi[i], float64(y[i*stride])
		s0 += float64(v * float64(t[0]))
		s1 += float64(v * float64(t[1]))
		s2 += float64(v * float64(t[2]))
		s3 += float64(v * float64(t[3]))
		s4 += float64(v * float64(t[4]))
		s5 += float64(v * float64(t[5]))
		s6 += float64(v * float64(t[6]))
		s7 += float64(v * float64(t[7]))
	}
	s = [Width]float64{s0, s1, s2, s3, s4, s5, s6, s7}
	copy(sum, s[:])
}

// addClasses adds φ of every row to the sums of the row's class; those of class k begin at k·stride + at.
func addClasses(sum []float64, stride, at, lanes int, phi []tile, class []int32) {
	for i, k := range class {
		t, s := &phi[i], sum[int(k)*stride+at:]
		s = s[:lanes]
		for f := range s {
			s[f] += float64(t[f%Width])
		}
	}
}
