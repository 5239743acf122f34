package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/eerf-stream/eerf/internal/fmapeak"
	"github.com/eerf-stream/eerf/internal/simd"
)

// levels returns the levels that this machine supports, the best first.
func levels() []simd.Level {
	all := []simd.Level{simd.AVX512, simd.AVX2, simd.None}
	return all[simd.AVX512-simd.Best():]
}

// random returns n normal numbers.
func random(n int) []float32 {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x := alignedFloats(n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// benchLevels returns the levels to measure; plain Go takes too long for a mere check that
// benchmarks run.
func benchLevels() []simd.Level {
	if testing.Short() {
		return levels()[:1]
	}
	return levels()
}

// compare reports the speed of call, with that many multiplications, and its share of the
// processor's peak, measured in turn.
func compare(b *testing.B, products int, call func()) {
	b.Helper()
	for b.Loop() {
		call()
	}
	rate, peak := fmapeak.Compare(simd.Best(), 2*float64(products), call)
	b.ReportMetric(rate/1e9, "GF/s")
	b.ReportMetric(rate/peak, "of-peak")
}

func BenchmarkKernelScore(b *testing.B) {
	for _, s := range []struct{ rows, dim, features int }{
		{1000, 784, 2000}, {9380, 77, 2000}, {1628, 122, 2000}, {9380, 90, 2000}, {1328, 58, 5000},
	} {
		for _, level := range benchLevels() {
			for _, outputs := range []string{"values", "classes"} {
				b.Run(fmt.Sprintf("rows=%d/dim=%d/features=%d/level=%v/outputs=%s/procs=1", s.rows, s.dim, s.features, level,
					outputs), func(b *testing.B) {
					p := packFor(level, Cosine, s.dim, random(s.features*s.dim), random(s.features))
					x, targets := random(s.rows*s.dim), Targets{Outputs: 1, Values: random(s.rows)}
					if outputs == "classes" {
						targets = Targets{Outputs: 10, Class: make([]int32, s.rows)}
						for i := range targets.Class {
							targets.Class[i] = int32(i * 7 % 10)
						}
					}
					sums := Sums{
						make([]float64, s.features), make([]float64, s.features), make([]float64, targets.Outputs*s.features),
						s.features,
					}
					compare(b, s.rows*s.dim*s.features, func() { Score(sums, p, 0, p.Count(), x, targets) })
				})
			}
		}
	}
}

func BenchmarkKernelFeaturize(b *testing.B) {
	for _, s := range []struct{ rows, dim, features int }{
		{4096, 77, 1000}, {4096, 784, 450}, {1, 77, 1000}, {1, 784, 450}, {7, 77, 1000}, {1024, 77, 500},
	} {
		for _, level := range benchLevels() {
			b.Run(fmt.Sprintf("rows=%d/dim=%d/features=%d/level=%v/procs=1", s.rows, s.dim, s.features, level),
				func(b *testing.B) {
					p := packFor(level, Cosine, s.dim, random(s.features*s.dim), random(s.features))
					x := random(s.rows * s.dim)
					dst := alignedFloats(s.rows * s.features)
					factor := random(s.features)
					compare(b, s.rows*s.dim*s.features, func() { Featurize(dst, Set{p}, x, factor) })
				})
		}
	}
}
