package scoring

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/internal/fmapeak"
	"github.com/eerf-stream/eerf/internal/simd"
)

// benchShape is the size of a call: rows of dim numbers, and the number of features.
type benchShape struct{ rows, dim, features int }

var (
	scoreShapes = []benchShape{
		{1000, 784, 10000}, {9380, 77, 10000}, {1628, 122, 2000}, {4096, 90, 4000}, {1328, 58, 20000},
	}
	transformShapes = []benchShape{{4096, 77, 1000}, {4096, 784, 450}, {1, 77, 1000}, {1, 784, 450}}
)

// forBenchShapes measures, for each shape, on one processor and on all, the operation that prepare
// returns. It reports 2·rows·dim·features operations per second of the whole call, and which part
// of what as many processors could do at most that is. With -short it takes few rows and features,
// to see that everything runs.
func forBenchShapes(b *testing.B, shapes []benchShape, prepare func(s benchShape, c Candidates, x []float32) func()) {
	b.Helper()
	all := runtime.GOMAXPROCS(0)
	for _, s := range shapes {
		if testing.Short() {
			s.rows, s.features = min(s.rows, 64), min(s.features, 100)
		}
		c := Candidates{Sigma: 5, Seed: 1, Dim: s.dim, Count: s.features}
		x := normalRows(2, s.rows, s.dim)
		for _, procs := range slices.Compact([]int{1, all}) {
			b.Run(fmt.Sprintf("rows=%d/dim=%d/features=%d/outputs=1/procs=%d", s.rows, s.dim, s.features, procs),
				func(b *testing.B) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
					op := prepare(s, c, x)
					for b.Loop() {
						op()
					}
					rate, peak := fmapeak.Compare(simd.Best(), 2*float64(s.rows)*float64(s.dim)*float64(s.features), op)
					b.ReportMetric(rate/1e9, "GF/s")
					b.ReportMetric(rate/(peak*float64(procs)), "of-peak")
				})
		}
	}
}

func BenchmarkScore(b *testing.B) {
	forBenchShapes(b, scoreShapes, func(s benchShape, c Candidates, x []float32) func() {
		a := NewAccumulator(NewBank(c), NewSums(c.Count, 1))
		y := normalRows(3, s.rows, 1)
		return func() {
			a.Add(x, s.rows, Targets{Outputs: 1, Values: y})
			a.Sums()
		}
	})
}

func BenchmarkTransform(b *testing.B) {
	forBenchShapes(b, transformShapes, func(s benchShape, c Candidates, x []float32) func() {
		t := NewTransformer(plainSet(c.DrawAll()))
		dst := make([]float32, s.rows*c.Count)
		return func() { t.Transform(dst, x, s.rows) }
	})
}
