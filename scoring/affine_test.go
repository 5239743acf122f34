package scoring

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// randomAffine shifts by up to spread scales.
func randomAffine(dim int, spread float64) *Affine {
	rng := rand.New(rand.NewPCG(uint64(dim), 3))
	a := &Affine{make([]float64, dim), make([]float64, dim)}
	for k := range dim {
		a.Scale[k] = math.Exp(3 * rng.NormFloat64())
		a.Shift[k] = spread * (2*rng.Float64() - 1) * a.Scale[k]
	}
	return a
}

// rawRows returns rows that a encodes to roughly standard normal numbers.
func rawRows(seed uint64, rows int, a *Affine) []float32 {
	dim := len(a.Scale)
	x := normalRows(seed, rows, dim)
	for i, v := range x {
		x[i] = float32(float64(v)*a.Scale[i%dim] + a.Shift[i%dim])
	}
	return x
}

// encodedArgument returns the argument of feature i for a raw row, encoded in float64, without the phase.
func encodedArgument(f *Features, i int, raw []float32, a *Affine) float64 {
	z := 0.0
	for k, v := range raw {
		z += (float64(v) - a.Shift[k]) / a.Scale[k] * float64(f.Omega[i*f.Dim+k])
	}
	return z
}

// mapped is φ by its argument in float64.
func mapped(f *Features, i int, z float64) float64 {
	switch f.Map {
	case MapCosine:
		return math.Cos(z + float64(f.Phase[i]))
	case MapArcCosine0:
		return math.Max(0, math.Copysign(1, z))
	case MapArcCosine1:
		return math.Max(z, 0)
	default:
		return math.Max(z, 0) * math.Max(z, 0)
	}
}

func TestRawRowsTransformLikeEncodedOnes(t *testing.T) {
	const spread = 4
	for _, m := range []Map{MapCosine, MapArcCosine0, MapArcCosine1, MapArcCosine2} {
		for _, dim := range []int{1, 3, 7, 8, 17, 63, 65, 128, 784} {
			for _, count := range []int{1, 11, 49} {
				fs := plainSet(drawFeatures(m, dim, count))
				a := randomAffine(dim, spread)
				tr := NewTransformer(fs, a)
				for _, rows := range []int{1, 7, 9} {
					x := rawRows(8, rows, a)
					dst := make([]float32, rows*count)
					tr.Transform(dst, x, rows)
					for i, got := range dst {
						j := i % count
						z := encodedArgument(fs.Features, j, x[i/count*dim:][:dim], a)
						// Terms are as large as the raw numbers, up to spread+4 standard deviations, and round so.
						slack := 1e-6 * (spread + 4) * math.Sqrt(float64(dim)) * (1 + math.Abs(z))
						if m == MapArcCosine0 && math.Abs(z) < slack {
							continue
						}
						want := float64(fs.Weight[j]*fs.Scale) * mapped(fs.Features, j, z)
						near(t, fmt.Sprintf("%v of %d numbers", m, dim), float64(got), want, slack)
					}
				}
			}
		}
	}
}
