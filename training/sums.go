package training

import (
	"fmt"

	"github.com/eerf-stream/eerf/training/internal/gram"
)

// Sums are the additive moments of rows of M features z and K outputs y. They take 4·(M+K+1)² bytes
// and, once rows were added, 2 KB more for each of the M+K+1 columns. Both grow by up to 48 columns
// because whole panels are kept.
type Sums struct {
	Rows int64 // added or merged so far, always current
	// Workers bounds the goroutines of a call of Add, where 0 stands for GOMAXPROCS. It does not
	// change the result.
	Workers int

	features int
	outputs  int
	gram     *gram.Gram
}

// Settle releases memory that is needed only while rows are added.
func (s *Sums) Settle() { s.gram.Settle() }

// SettledBytes returns the memory of sums after [Sums.Settle].
func SettledBytes(features, outputs int) int64 { return gram.SettledBytes(features, outputs) }

// SumsBytes returns the memory of sums with the given numbers of features and outputs once rows
// were added.
func SumsBytes(features, outputs int) int64 { return gram.Bytes(features, outputs) }

// NewSums returns the sums of no rows, with the given numbers of features and outputs. It panics
// unless both are positive.
func NewSums(features, outputs int) *Sums {
	if features <= 0 || outputs <= 0 {
		panic(fmt.Sprintf("training: sums of %d features and %d outputs", features, outputs))
	}
	return &Sums{features: features, outputs: outputs, gram: gram.New(features, outputs)}
}

// Add adds rows: z is rows×M and y rows×K, both row-major and finite. The same sequence of rows
// gives the same bits however it is cut into calls. A value may have any magnitude compared with
// earlier values, such as 1e30 after many of size 1. If it differs from them by more than the
// largest float32, Train returns ErrNotFinite. Add panics if the lengths do not match.
func (s *Sums) Add(z []float32, rows int, y []float32) {
	if rows < 0 || len(z) != rows*s.features || len(y) != rows*s.outputs {
		panic(fmt.Sprintf("training: %d rows of %d features and %d outputs, given %d and %d values",
			rows, s.features, s.outputs, len(z), len(y)))
	}
	s.gram.Workers = s.Workers
	for n := range rows {
		s.gram.Add(z[n*s.features:(n+1)*s.features], y[n*s.outputs:(n+1)*s.outputs])
	}
	s.Rows += int64(rows)
}

// Merge adds the rows of other, which stays unchanged. The result has the shifts of the sums with
// more rows. Merging in a fixed order gives fixed bits; another order changes the result only by
// rounding. It panics if the shapes differ.
func (s *Sums) Merge(other *Sums) { s.MergeWeighted(other, 1) }

// MergeWeighted is [Sums.Merge] with every row of other counting weight > 0 times in all means and
// moments. Rows counts it once.
func (s *Sums) MergeWeighted(other *Sums, weight float64) {
	if s.features != other.features || s.outputs != other.outputs {
		panic(fmt.Sprintf("training: merge of sums of %d features and %d outputs into %d and %d",
			other.features, other.outputs, s.features, s.outputs))
	}
	s.gram.Merge(other.gram, weight)
	s.Rows += other.Rows
}

// Clone returns an independent copy that continues with the same bits.
func (s *Sums) Clone() *Sums {
	c := *s
	c.gram = s.gram.Clone()
	return &c
}

// Pick returns the sums of the same rows with some of the features, given by their numbers in
// ascending order.
func (s *Sums) Pick(features []int32) *Sums {
	return &Sums{
		Rows:     s.Rows,
		Workers:  s.Workers,
		features: len(features),
		outputs:  s.outputs,
		gram:     s.gram.Pick(features),
	}
}

// OutputMean returns the mean of each of the K outputs, zeros if there are no rows. It is the
// prediction of the constant predictor.
func (s *Sums) OutputMean() []float64 {
	mean := make([]float64, s.outputs)
	if s.Rows == 0 {
		return mean
	}
	for k := range mean {
		mean[k] = s.gram.Mean(s.features + k)
	}
	return mean
}

// MajorityClass returns the commonest class in outputs coded by CodeClasses, the lower number on a
// tie. With one output it returns class 1 if more rows were +1 than −1.
func (s *Sums) MajorityClass() int32 {
	mean := s.OutputMean()
	coded := make([]float32, len(mean))
	for k, v := range mean {
		coded[k] = float32(v)
	}
	return DecideClass(coded, len(coded))
}
