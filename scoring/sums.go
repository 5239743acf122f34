package scoring

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Sums are the result of a pass over rows: sums of each candidate's feature φ, of its square and of
// its products with the raw outputs, and sums of the raw outputs themselves. For MultiClass targets
// the raw output k is the indicator 1{class k}. Sums of disjoint rows add ([Sums.Merge]); the
// outputs are coded only afterwards ([Sums.Coding]).
type Sums struct {
	// Rows is n.
	Rows int64
	// Phi and PhiSq are Σφ and Σφ², [M0].
	Phi, PhiSq []float64
	// YPhi is Σ y_k φ, output-major [K·M0]: output k of candidate m is at k·M0 + m.
	YPhi []float64
	// Y, YSq, YMin and YMax are Σ y_k, Σ y_k² and the range of y_k, [K]. With no rows YMin is +Inf
	// and YMax -Inf.
	Y, YSq, YMin, YMax []float64
}

// NewSums returns the sums of no rows, for M0 = candidates and K = outputs.
func NewSums(candidates, outputs int) *Sums {
	if candidates < 1 || outputs < 1 {
		panic(fmt.Sprintf("scoring: sums of %d candidates and %d outputs", candidates, outputs))
	}
	s := &Sums{
		Phi:   make([]float64, candidates),
		PhiSq: make([]float64, candidates),
		YPhi:  make([]float64, candidates*outputs),
		Y:     make([]float64, outputs),
		YSq:   make([]float64, outputs),
		YMin:  make([]float64, outputs),
		YMax:  make([]float64, outputs),
	}
	for k := range outputs {
		s.YMin[k], s.YMax[k] = math.Inf(1), math.Inf(-1)
	}
	return s
}

// Candidates returns M0.
func (s *Sums) Candidates() int { return len(s.Phi) }

// Outputs returns K.
func (s *Sums) Outputs() int { return len(s.Y) }

// Merge adds the sums of other rows to s. Floating-point sums depend on their order; merging in
// partition order reproduces the bits.
func (s *Sums) Merge(other *Sums) {
	if s.Candidates() != other.Candidates() || s.Outputs() != other.Outputs() {
		panic(fmt.Sprintf("scoring: merge of %d candidates and %d outputs into %d and %d",
			other.Candidates(), other.Outputs(), s.Candidates(), s.Outputs()))
	}
	s.Rows += other.Rows
	add(s.Phi, other.Phi)
	add(s.PhiSq, other.PhiSq)
	add(s.YPhi, other.YPhi)
	add(s.Y, other.Y)
	add(s.YSq, other.YSq)
	for k := range s.Y {
		s.YMin[k] = min(s.YMin[k], other.YMin[k])
		s.YMax[k] = max(s.YMax[k], other.YMax[k])
	}
}

// add adds v to dst element by element.
func add(dst, v []float64) {
	for i := range dst {
		dst[i] += v[i]
	}
}

// Of returns the sums of the candidates first..next-1, which share memory with s.
func (s *Sums) Of(first, next int) *Sums {
	part := *s
	part.Phi, part.PhiSq, part.YPhi = s.Phi[first:next], s.PhiSq[first:next], nil
	for k := range s.Outputs() {
		part.YPhi = append(part.YPhi, s.YPhi[k*s.Candidates()+first:k*s.Candidates()+next]...)
	}
	return &part
}

// Clone returns a copy that shares nothing with s.
func (s *Sums) Clone() *Sums {
	return &Sums{
		Rows: s.Rows, Phi: slices.Clone(s.Phi), PhiSq: slices.Clone(s.PhiSq), YPhi: slices.Clone(s.YPhi),
		Y: slices.Clone(s.Y), YSq: slices.Clone(s.YSq), YMin: slices.Clone(s.YMin), YMax: slices.Clone(s.YMax),
	}
}

// Validate returns all faults of sums that were read from outside, joined: inconsistent lengths, a
// negative row count, numbers that no rows sum to.
func (s *Sums) Validate() error {
	m, k := len(s.Phi), len(s.Y)
	if m < 1 || k < 1 {
		return fmt.Errorf("sums of %d candidates and %d outputs, want at least one of each", m, k)
	}
	errs := []error{
		checkLength("phi_sq", s.PhiSq, m), checkLength("y_phi", s.YPhi, k*m),
		checkLength("y_sq", s.YSq, k), checkLength("y_min", s.YMin, k), checkLength("y_max", s.YMax, k),
	}
	if s.Rows < 0 {
		errs = append(errs, fmt.Errorf("row count is %d, want 0 or more", s.Rows))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return errors.Join(
		checkFinite("phi", s.Phi), checkSquares("phi_sq", s.PhiSq), checkFinite("y_phi", s.YPhi),
		checkFinite("y", s.Y), checkSquares("y_sq", s.YSq), s.checkRanges(),
	)
}

// checkRanges reports an output range that does not fit the row count.
func (s *Sums) checkRanges() error {
	for k := range s.Y {
		lo, hi := s.YMin[k], s.YMax[k]
		if s.Rows == 0 {
			if !math.IsInf(lo, 1) || !math.IsInf(hi, -1) {
				return fmt.Errorf("range of output %d is %v to %v with no rows, want +Inf to -Inf", k, lo, hi)
			}
			continue
		}
		if !(lo <= hi) || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
			return fmt.Errorf("range of output %d is %v to %v, want finite numbers in order", k, lo, hi)
		}
	}
	return nil
}

// checkLength reports a list of another length than want.
func checkLength(name string, v []float64, want int) error {
	if len(v) == want {
		return nil
	}
	return fmt.Errorf("%s has %d numbers, want %d", name, len(v), want)
}

// checkFinite reports the first number that is not finite.
func checkFinite(name string, v []float64) error {
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s[%d] is %v, want a finite number", name, i, x)
		}
	}
	return nil
}

// checkSquares reports the first number that is not finite or is negative.
func checkSquares(name string, v []float64) error {
	for i, x := range v {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("%s[%d] is %v, want a finite sum of squares", name, i, x)
		}
	}
	return nil
}
