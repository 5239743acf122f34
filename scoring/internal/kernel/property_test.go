package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/internal/simd"
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
	return Sums{Phi: make([]float64, count), PhiSq: make([]float64, count), YPhi: make([]float64, outputs*count), Stride: count}
}

// all is every sum.
func (s Sums) all() []float64 { return slices.Concat(s.Phi, s.PhiSq, s.YPhi) }

func TestScoreDependsOnTheOrderOfRowsAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 4))
		level := rapid.SampledFrom(levels()).Draw(rt, "level")
		m := rapid.SampledFrom(maps).Draw(rt, "map")
		dim := rapid.SampledFrom([]int{1, 7, 17, 64, chunkDim, chunkDim + 1, 3*chunkDim + 5}).Draw(rt, "dim")
		count, rows := rapid.IntRange(1, 2*Width+3).Draw(rt, "features"), rapid.IntRange(1, 3*scoreRows).Draw(rt, "rows")
		outputs, classes := rapid.IntRange(1, 4).Draw(rt, "outputs"), rapid.Bool().Draw(rt, "classes")
		p := newProblem(level, m, dim, count, rows)
		targets := drawTargets(rng, rows, outputs, classes)
		whole, parts := zeroSums(count, outputs), zeroSums(count, outputs)
		Score(whole, p.panels, 0, p.panels.Count(), p.x.inner(), targets)
		for first := 0; first < rows; {
			next := first + rapid.IntRange(1, rows-first).Draw(rt, "rows of a call")
			cut := rapid.IntRange(0, p.panels.Count()).Draw(rt, "panel between two calls")
			x := p.x.inner()[first*dim : next*dim]
			Score(parts, p.panels, cut, p.panels.Count(), x, targets.slice(first, next))
			Score(parts, p.panels, 0, cut, x, targets.slice(first, next))
			first = next
		}
		if !slices.Equal(whole.all(), parts.all()) {
			rt.Fatal("other bits in parts than in one call")
		}
	})
}

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
			targets, whole, parts := drawTargets(rng, rows, 1, classes), zeroSums(count, 1), zeroSums(count, 1)
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

func TestVectorLevelsGiveTheSameBits(t *testing.T) {
	if simd.Best() < simd.AVX512 {
		t.Skip("one level of vector instructions at most")
	}
	rng := rand.New(rand.NewPCG(9, 9))
	for _, m := range maps {
		for _, dim := range []int{1, 58, 77, 784} {
			for _, rows := range []int{1, 3, 70, 131} {
				const count = 2*Width + 7
				targets := drawTargets(rng, rows, 1+rows%3, rows%2 == 0)
				var sums [2]Sums
				var features [2][]float32
				for i, level := range []simd.Level{simd.AVX2, simd.AVX512} {
					p := newProblem(level, m, dim, count, rows)
					sums[i], features[i] = zeroSums(count, targets.Outputs), make([]float32, rows*count)
					Score(sums[i], p.panels, 0, p.panels.Count(), p.x.inner(), targets)
					Featurize(features[i], p.panels, p.x.inner(), slices.Repeat([]float32{0.3}, count))
				}
				if !slices.Equal(sums[0].all(), sums[1].all()) || sameBits(features[0], features[1]) >= 0 {
					t.Errorf("map %d, %dx%d: levels differ", m, rows, dim)
				}
			}
		}
	}
}

func TestFeaturesOfARowDoNotDependOnTheOthers(t *testing.T) {
	for _, level := range levels() {
		for _, dim := range []int{5, 77, 2*chunkDim + 1} {
			p := newProblem(level, Cosine, dim, 2*Width+9, 77)
			factor := slices.Repeat([]float32{0.7}, p.count)
			all, one := make([]float32, p.rows*p.count), make([]float32, p.count)
			Featurize(all, p.panels, p.x.inner(), factor)
			for r := range p.rows {
				Featurize(one, p.panels, p.x.inner()[r*dim:(r+1)*dim], factor)
				if sameBits(one, all[r*p.count:(r+1)*p.count]) >= 0 {
					t.Fatalf("%v, dim %d: row %d alone has other features", level, dim, r)
				}
			}
		}
	}
}

func TestArgumentsBeyondReachAreNoPhase(t *testing.T) {
	for _, level := range levels() {
		const dim = 9
		rng := rand.New(rand.NewPCG(3, 3))
		omega := make([]float32, Width*dim)
		for i := range omega {
			omega[i] = float32(rng.NormFloat64() * 1e5)
		}
		p := packFor(level, Cosine, dim, omega, make([]float32, Width), nil)
		for _, size := range []float32{0.5, 1, 2, 20, 1e30, float32(math.Inf(1)), float32(math.NaN())} {
			x := slices.Repeat([]float32{0.3}, dim)
			x[4] = p.reach[0] * size
			dst := make([]float32, Width)
			Featurize(dst, p, x, slices.Repeat([]float32{1}, Width))
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

func TestRawRowsGiveTheFeaturesOfEncodedOnes(t *testing.T) {
	for _, level := range levels() {
		for _, m := range []Map{Cosine, Step, Ramp, SquaredRamp} {
			p := newProblem(level, m, 17, Width+5, 9)
			in := &Affine{Shift: make([]float64, p.dim), Scale: make([]float64, p.dim)}
			for k := range p.dim {
				in.Shift[k], in.Scale[k] = float64(k%5)-2, 1+float64(k%3)/2
			}
			raw := make([]float32, len(p.x.inner()))
			for i, v := range p.x.inner() {
				raw[i] = float32(float64(v)*in.Scale[i%p.dim] + in.Shift[i%p.dim])
			}
			var phase []float32
			if m == Cosine {
				phase = p.phase.inner()
			}
			dst := make([]float32, p.rows*p.count)
			Featurize(dst, packFor(level, m, p.dim, p.omega.inner(), phase, in), raw, slices.Repeat([]float32{1}, p.count))
			for i, v := range dst {
				if m != Step && !p.close(float64(v), p.phi[i]) || m == Step && float64(v) != p.phi[i] {
					t.Fatalf("%v, map %d: element %d is %v, want %v", level, m, i, v, p.phi[i])
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

func TestCallsDoNotAllocate(t *testing.T) {
	for _, level := range levels() {
		p := newProblem(level, Cosine, 77, 2*Width, 9)
		dst, factor := make([]float32, p.count*p.rows), make([]float32, p.count)
		sums, targets := zeroSums(p.count, 1), Targets{Outputs: 1, Values: p.x.inner()[:p.rows]}
		if n := testing.AllocsPerRun(10, func() {
			Featurize(dst, p.panels, p.x.inner(), factor)
			Featurize(dst, p.panels, p.x.inner()[:p.dim], factor)
			Score(sums, p.panels, 0, p.panels.Count(), p.x.inner(), targets)
		}); n != 0 {
			t.Errorf("%v: %v allocations", level, n)
		}
	}
}
