package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawTargets returns values of that many outputs, or classes.
func drawTargets(rng *rand.Rand, rows, outputs int, classes bool) Targets {
	t := Targets{Outputs: outputs}
	for range rows {
		if classes {
			t.Class = append(t.Class, int32(rng.IntN(outputs)))
			continue
		}
		for range outputs {
			t.Values = append(t.Values, float32(rng.NormFloat64()))
		}
	}
	return t
}

// zeroSums are sums of count features.
func zeroSums(count, outputs int) Sums {
	return Sums{
		Phi:    make([]float64, count),
		PhiSq:  make([]float64, count),
		YPhi:   make([]float64, outputs*count),
		Stride: count,
	}
}

// all is every sum.
func (s Sums) all() []float64 { return slices.Concat(s.Phi, s.PhiSq, s.YPhi) }

func TestManyShortRowsAreScoredInSeveralCalls(t *testing.T) {
	const dim, count = 30, 5
	rows := fusedRows(dim) + 77
	if rows >= BlockRows(dim) {
		t.Fatal("blocks end before calls do")
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for _, level := range levels() {
		p := newProblem(level, Cosine, dim, count, rows)
		for _, classes := range []bool{false, true} {
			targets := drawTargets(rng, rows, 1, classes)
			whole := zeroSums(count, 1)
			parts := zeroSums(count, 1)
			Score(whole, p.panels, 0, 1, p.x.inner(), targets)
			for first := 0; first < rows; first += 1000 {
				next := min(first+1000, rows)
				Score(parts, p.panels, 0, 1, p.x.inner()[first*dim:next*dim], targets.slice(first, next))
			}
			if !slices.Equal(whole.all(), parts.all()) {
				t.Errorf("%v: other bits in parts than in one call", level)
			}
		}
	}
}

func TestArgumentsBeyondReachGiveZero(t *testing.T) {
	for _, level := range levels() {
		const dim = 9
		rng := rand.New(rand.NewPCG(3, 3))
		omega := make([]float32, Width*dim)
		for i := range omega {
			omega[i] = float32(rng.NormFloat64() * 1e5)
		}
		p := packFor(level, Cosine, dim, omega, make([]float32, Width))
		for _, size := range []float32{0.5, 1, 2, 20, 1e30, float32(math.Inf(1)), float32(math.NaN())} {
			x := slices.Repeat([]float32{0.3}, dim)
			x[4] = p.reach[0] * size
			dst := make([]float32, Width)
			Featurize(dst, Set{p}, x, slices.Repeat([]float32{1}, Width))
			for f, v := range dst {
				z := float64(p.start[f])
				for k, v := range x {
					z += float64(v) * float64(p.weights[k*Width+f])
				}
				known := math.Abs(z) < maxTurns
				if size < 1 && !known {
					t.Fatalf("%v: a row within reach has an argument of %v turns", level, z)
				}
				if near := math.Abs(math.Abs(z)-maxTurns) < 1; !near && (known && v == 0 || !known && v != 0) {
					t.Errorf("%v: feature of argument %v is %v", level, z, v)
				}
			}
		}
	}
}

func TestLargestIsTheGreatestSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, level := range levels() {
		for n := range 100 {
			x := guardSlice(n, func(int) float32 { return sparseNumber(rng) })
			got, zeros := survey(level, x.inner())
			if want, wantZeros := surveyPlain(x.inner()); got != want || zeros != wantZeros {
				t.Errorf("%v: greatest of %d is %v with %d zeros, want %v with %d", level, n, got, zeros, want, wantZeros)
			}
			if n > 0 {
				x.inner()[rng.IntN(n)] = float32(math.NaN())
				if got, _ := survey(level, x.inner()); got == got {
					t.Errorf("%v: greatest of %d with NaN is %v", level, n, got)
				}
			}
		}
	}
}
