package scoring

import (
	"fmt"
	"runtime"
	"testing"
)

// growthShape is a call whose time is measured as one of its numbers grows by a decade or more.
type growthShape struct{ rows, dim, features, outputs, classes int }

// growthAxis is a number of growthShape that is varied, with its values.
type growthAxis struct {
	name   string
	values []int
	set    func(s *growthShape, value int)
}

var (
	growRows = growthAxis{"rows", []int{1000, 2000, 4000, 7000, 10000}, func(s *growthShape, v int) { s.rows = v }}
	growDim  = growthAxis{"dim", []int{10, 20, 40, 70, 100, 200, 400, 1000}, func(s *growthShape, v int) { s.dim = v }}
)

// BenchmarkGrowthScore varies N, d, M0, and K as the number of values or of classes.
func BenchmarkGrowthScore(b *testing.B) {
	candidates := growthAxis{"features", []int{1000, 2000, 4000, 7000, 10000}, func(s *growthShape, v int) { s.features = v }}
	outputs := growthAxis{"outputs", []int{1, 2, 4, 7, 10}, func(s *growthShape, v int) { s.outputs = v }}
	classes := growthAxis{"classes", []int{2, 5, 10, 26}, func(s *growthShape, v int) { s.classes = v }}
	base := growthShape{rows: 4096, dim: 77, features: 4000, outputs: 1}
	for _, axis := range []growthAxis{growRows, growDim, candidates, outputs, classes} {
		forGrowth(b, base, axis, func(s growthShape, c Candidates, x []float32) func() {
			targets := Targets{Outputs: s.outputs, Values: normalRows(3, s.rows, s.outputs)}
			if s.classes > 0 {
				targets = Targets{Outputs: s.classes, Class: make([]int32, s.rows)}
				for i := range targets.Class {
					targets.Class[i] = int32(i * 7 % s.classes)
				}
			}
			a := NewAccumulator(NewBank(c, BankOptions{}), NewSums(c.Count, targets.Outputs))
			return func() {
				a.Add(x, s.rows, targets)
				a.Sums()
			}
		})
	}
}

// BenchmarkGrowthTransform varies N, d and M.
func BenchmarkGrowthTransform(b *testing.B) {
	kept := growthAxis{"features", []int{100, 200, 400, 700, 1000}, func(s *growthShape, v int) { s.features = v }}
	base := growthShape{rows: 4096, dim: 77, features: 1000}
	for _, axis := range []growthAxis{growRows, growDim, kept} {
		forGrowth(b, base, axis, func(s growthShape, c Candidates, x []float32) func() {
			t := NewTransformer(&FeatureSet{
				Features: c.DrawAll(), Index: make([]int32, c.Count), Score: make([]float64, c.Count), Scale: 1,
			}, nil)
			dst := make([]float32, s.rows*c.Count)
			return func() { t.Transform(dst, x, s.rows) }
		})
	}
}

// forGrowth measures the operation that prepare returns for each value of an axis, on one processor and on two. With
// -short it takes the least value of few rows, to see that everything runs.
func forGrowth(b *testing.B, base growthShape, axis growthAxis,
	prepare func(s growthShape, c Candidates, x []float32) func(),
) {
	b.Helper()
	if testing.Short() {
		base.rows, axis.values = 64, axis.values[:1]
	}
	for _, value := range axis.values {
		s := base
		axis.set(&s, value)
		c := Candidates{Sigma: 5, Seed: 1, Dim: s.dim, Count: s.features}
		op := prepare(s, c, normalRows(2, s.rows, s.dim))
		for _, procs := range []int{1, 2} {
			name := fmt.Sprintf("vary=%s/rows=%d/dim=%d/features=%d/outputs=%d/classes=%d/procs=%d",
				axis.name, s.rows, s.dim, s.features, s.outputs, s.classes, procs)
			b.Run(name, func(b *testing.B) {
				if procs > runtime.NumCPU() {
					b.Skip("not as many processors")
				}
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				for b.Loop() {
					op()
				}
				work := 2 * float64(s.rows) * float64(s.dim) * float64(s.features) * float64(b.N)
				b.ReportMetric(work/b.Elapsed().Seconds()/1e9, "GF/s")
			})
		}
	}
}
