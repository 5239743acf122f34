package scoring

import (
	"math"
	"math/rand/v2"
	"testing"
)

// normalRows returns rows·dim standard normal numbers.
func normalRows(seed uint64, rows, dim int) []float32 {
	rng := rand.New(rand.NewPCG(seed, 77))
	x := make([]float32, rows*dim)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// referencePhi is φ of feature i for one row in float64.
func referencePhi(f *Features, i int, row []float32) float64 {
	if f.Map == MapLinear {
		return float64(row[int(f.Omega[i])])
	}
	if i >= f.Projections() {
		return referenceProduct(&f.Products[i-f.Projections()], row)
	}
	z := 0.0
	for k, v := range row {
		z += float64(v) * float64(f.Omega[i*f.Dim+k])
	}
	if f.Kind(i) == KindRamp {
		return math.Max(z+float64(f.Phase[i]), 0)
	}
	switch f.Map {
	case MapCosine:
		return math.Cos(z + float64(f.Phase[i]))
	case MapArcCosine0:
		if z == 0 {
			return 0.5
		}
		return math.Ceil(math.Max(0, math.Min(z, 1)))
	case MapArcCosine1:
		return math.Max(z, 0)
	case MapArcCosine2:
		return math.Max(z, 0) * math.Max(z, 0)
	default:
		panic("no reference for " + f.Map.String())
	}
}

// bankOf is a bank of features that are given and not drawn.
func bankOf(f *Features) *Bank {
	if !f.Map.Coordinates() {
		return NewBankOf(f)
	}
	b := &Bank{candidates: Candidates{Map: f.Map, Dim: f.Dim, Count: f.Len()}, rows: rowsWaiting(f.Dim), firsts: []int{0}}
	b.add(f)
	return b
}

// scoreRows adds x in one call and returns the sums.
func scoreRows(f *Features, x []float32, rows int, t Targets) *Sums {
	a := NewAccumulator(bankOf(f), NewSums(f.Len(), t.Outputs))
	a.Add(x, rows, t)
	return a.Sums()
}

// transform returns φ of all rows, unscaled.
func transform(f *Features, x []float32, rows int) []float32 {
	n := f.Len()
	t := NewTransformer(&FeatureSet{Features: f, Index: make([]int32, n), Score: make([]float64, n), Scale: 1})
	dst := make([]float32, rows*n)
	t.Transform(dst, x, rows)
	return dst
}

// classTargets returns rows classes 0..outputs-1 by turns of no simple period.
func classTargets(rows, outputs int) Targets {
	class := make([]int32, rows)
	for i := range class {
		class[i] = int32(i * i % 7 % outputs)
	}
	return Targets{Outputs: outputs, Class: class}
}

// near fails unless got is within tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v within %v", what, got, want, tolerance)
	}
}
