package scoring

import (
	"fmt"
	"testing"
)

// benchShapes are rows x Dim x features; the figures count 2·rows·Dim·features operations of the whole call.
var benchShapes = [][3]int{{1628, 122, 2000}, {4096, 77, 1000}, {1, 77, 1000}}

// forBenchShapes measures, for each shape, the operation that prepare returns.
func forBenchShapes(b *testing.B, prepare func(c Candidates, x []float32, rows int) func()) {
	b.Helper()
	for _, shape := range benchShapes {
		rows, dim, count := shape[0], shape[1], shape[2]
		b.Run(fmt.Sprintf("%dx%dx%d", rows, dim, count), func(b *testing.B) {
			c := Candidates{Sigma: 5, Seed: 1, Dim: dim, Count: count}
			op := prepare(c, normalRows(2, rows, dim), rows)
			for b.Loop() {
				op()
			}
			work := 2 * float64(rows) * float64(dim) * float64(count) * float64(b.N)
			b.ReportMetric(work/b.Elapsed().Seconds()/1e9, "GF/s")
		})
	}
}

func BenchmarkScore(b *testing.B) {
	forBenchShapes(b, func(c Candidates, x []float32, rows int) func() {
		a := NewAccumulator(NewBank(c.DrawAll()), NewSums(c.Count, 1))
		y := normalRows(3, rows, 1)
		return func() { a.Add(x, rows, Targets{Outputs: 1, Values: y}) }
	})
}

func BenchmarkTransform(b *testing.B) {
	forBenchShapes(b, func(c Candidates, x []float32, rows int) func() {
		t := NewTransformer(&FeatureSet{
			Features: c.DrawAll(), Index: make([]int32, c.Count), Score: make([]float64, c.Count), Scale: 1,
		})
		dst := make([]float32, rows*c.Count)
		return func() { t.Transform(dst, x, rows) }
	})
}

func BenchmarkDraw(b *testing.B) {
	c := Candidates{Sigma: 1, Seed: 1, Dim: 122, Count: 2000}
	for b.Loop() {
		c.DrawAll()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.Dim*c.Count), "ns/number")
}

func BenchmarkBandwidth(b *testing.B) {
	x := normalRows(1, 1000, 122)
	for b.Loop() {
		Bandwidth(x, 1000, 122, Gaussian, MapCosine)
	}
}
