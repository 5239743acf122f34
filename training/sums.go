package training

import "fmt"

// Sums are the additive moments of rows of M features z and K outputs y. Rows is always current; the
// moments themselves are read by Train, OutputMean and MajorityClass. Sums take 4·(M+K+1)² bytes and, once rows
// were added, 1 KB more for each of the M+K+1 columns.
type Sums struct {
	Rows int64 // rows added or merged so far

	features int
	outputs  int
	gram     packed    // moments of all rows but the pending ones
	pending  []float64 // rows (z, y, 1) of the unfinished block, at most blockRows
}

// NewSums returns the sums of no rows, for rows of that many features and outputs. It panics unless
// both are positive.
func NewSums(features, outputs int) *Sums {
	if features <= 0 || outputs <= 0 {
		panic(fmt.Sprintf("training: sums of %d features and %d outputs", features, outputs))
	}
	return &Sums{features: features, outputs: outputs, gram: newPacked(features + outputs + 1)}
}

// Add adds rows: z is rows×M and y rows×K, both row-major and finite. Any cutting of the same sequence
// of rows into calls leaves the same bits. It panics when the lengths do not agree.
func (s *Sums) Add(z []float32, rows int, y []float32) {
	if rows < 0 || len(z) != rows*s.features || len(y) != rows*s.outputs {
		panic(fmt.Sprintf("training: %d rows of %d features and %d outputs, given %d and %d values",
			rows, s.features, s.outputs, len(z), len(y)))
	}
	width := s.gram.size
	if s.pending == nil {
		s.pending = make([]float64, 0, blockRows*width)
	}
	for n := range rows {
		s.pending = appendRow(s.pending, z[n*s.features:(n+1)*s.features], y[n*s.outputs:(n+1)*s.outputs])
		if len(s.pending) == blockRows*width {
			s.gram.addBlock(s.pending)
			s.pending = s.pending[:0]
		}
	}
	s.Rows += int64(rows)
}

// appendRow appends (z, y, 1): the Gram of such rows holds Σzzᵀ, Σzyᵀ, Σyyᵀ, Σz, Σy and the count.
func appendRow(dst []float64, z, y []float32) []float64 {
	for _, v := range z {
		dst = append(dst, float64(v))
	}
	for _, v := range y {
		dst = append(dst, float64(v))
	}
	return append(dst, 1)
}

// Merge adds the rows of other, which is left as it is. Merging in a fixed order gives fixed bits; sums
// of the same rows merged in another order differ by rounding only. It panics when the shapes differ.
func (s *Sums) Merge(other *Sums) {
	if s.features != other.features || s.outputs != other.outputs {
		panic(fmt.Sprintf("training: merge of sums of %d features and %d outputs into %d and %d",
			other.features, other.outputs, s.features, s.outputs))
	}
	s.gram.add(other.settled())
	s.Rows += other.Rows
}

// Clone returns an independent copy that continues with the same bits.
func (s *Sums) Clone() *Sums {
	c := *s
	c.gram = s.gram.clone()
	c.pending = nil
	if len(s.pending) > 0 {
		c.pending = append(make([]float64, 0, blockRows*s.gram.size), s.pending...)
	}
	return &c
}

// settled returns the moments of all rows, the pending ones included, and leaves s undisturbed.
func (s *Sums) settled() packed {
	if len(s.pending) == 0 {
		return s.gram
	}
	g := s.gram.clone()
	g.addBlock(s.pending)
	return g
}

// OutputMean returns the mean of each of the K outputs, zeros when there are no rows. It is what the
// constant predictor answers.
func (s *Sums) OutputMean() []float64 {
	mean := make([]float64, s.outputs)
	if s.Rows == 0 {
		return mean
	}
	g := s.settled()
	for k := range mean {
		mean[k] = g.at(s.features+k, s.features+s.outputs) / float64(s.Rows)
	}
	return mean
}

// MajorityClass returns the class most often seen in outputs coded by CodeClasses, the lower number on
// a tie; with one output, class 1 when more rows were +1 than −1.
func (s *Sums) MajorityClass() int32 {
	mean := s.OutputMean()
	coded := make([]float32, len(mean))
	for k, v := range mean {
		coded[k] = float32(v)
	}
	return DecideClass(coded, len(coded))
}
