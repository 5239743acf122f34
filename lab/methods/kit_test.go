package methods

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/eerf-stream/eerf/scoring"
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

// referencePhi is φ of feature i for one row in float64, under the maps that these tests use.
func referencePhi(f *scoring.Features, i int, row []float32) float64 {
	z := innerProduct(row, f.Omega[i*f.Dim:(i+1)*f.Dim])
	switch f.Map {
	case scoring.MapCosine:
		return math.Cos(z + float64(f.Phase[i]))
	case scoring.MapArcCosine0:
		return max(0, math.Copysign(1, z))
	case scoring.MapArcCosine1:
		return max(0, z)
	}
	panic(f.Map)
}

// near fails unless got is within tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v within %v", what, got, want, tolerance)
	}
}
