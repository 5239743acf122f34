package adaptive

import "github.com/eerf-stream/eerf/scoring"

// rows are encoded rows with their raw outputs.
type rows struct {
	n, dim  int
	x       []float32       // [n·dim]
	targets scoring.Targets // the argument of an accumulator
	outputs int             // K
	y       []float32       // raw outputs, [n·K]: values, signs or indicators

	// of held-out rows: the number of each row's identity, and the number of rows of each identity
	unit  []int32
	sizes []float64
}

// split separates training rows and held-out rows.
func split(s *scoring.Sample) (fit, heldOut *rows) {
	fit, heldOut = newRows(s), newRows(s)
	units := map[uint64]int32{}
	for i := range s.Rows {
		if s.HeldOut == nil || !s.HeldOut[i] {
			fit.add(s, i)
			continue
		}
		heldOut.add(s, i)
		identity := uint64(i)
		if s.Identities != nil {
			identity = s.Identities[i]
		}
		unit, known := units[identity]
		if !known {
			unit = int32(len(units))
			units[identity] = unit
			heldOut.sizes = append(heldOut.sizes, 0)
		}
		heldOut.unit = append(heldOut.unit, unit)
		heldOut.sizes[unit]++
	}
	return fit, heldOut
}

func newRows(s *scoring.Sample) *rows {
	return &rows{dim: s.Dim, outputs: s.Targets.Outputs, targets: scoring.Targets{Outputs: s.Targets.Outputs}}
}

// add copies row i of the sample.
func (r *rows) add(s *scoring.Sample, i int) {
	r.n++
	r.x = append(r.x, s.X[i*s.Dim:(i+1)*s.Dim]...)
	own := s.Targets.Slice(i, i+1)
	r.targets.Values, r.targets.Class = append(r.targets.Values, own.Values...), append(r.targets.Class, own.Class...)
	for k := range r.outputs {
		r.y = append(r.y, own.Raw(0, k))
	}
}

// some returns n evenly spread rows, or all rows if there are fewer.
func (r *rows) some(n int) (x []float32, count int) {
	if r.n <= n {
		return r.x, r.n
	}
	for i := range n {
		at := i * r.n / n
		x = append(x, r.x[at*r.dim:(at+1)*r.dim]...)
	}
	return x, n
}
