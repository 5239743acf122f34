package hadamard

import (
	"fmt"
	"testing"
)

// BenchmarkTransform reports the time of one row; GF/s counts n·log₂n additions and n products.
func BenchmarkTransform(b *testing.B) {
	for n := 16; n <= 1<<14; n *= 2 {
		for _, level := range levels() {
			b.Run(fmt.Sprintf("kernel=%v/n=%d", level, n), func(b *testing.B) {
				rows := max(1, 1024/n)
				x, diag := normals(1, rows*n), make([]float32, n)
				for i := range diag {
					diag[i] = 1 - float32(i%3/2)*2
				}
				y := make([]float32, rows*n)
				for b.Loop() {
					transformAt(level, y, x, diag, n)
				}
				log := 0
				for 1<<log < n {
					log++
				}
				seconds := b.Elapsed().Seconds() / float64(b.N) / float64(rows)
				b.ReportMetric(seconds*1e9, "ns/row")
				b.ReportMetric(float64(n*(log+1))/seconds/1e9, "GF/s")
			})
		}
	}
}

func BenchmarkGather(b *testing.B) {
	for _, level := range levels() {
		for _, among := range []int{1024, 10240} {
			b.Run(fmt.Sprintf("kernel=%v/numbers=1024/among=%d", level, among), func(b *testing.B) {
				z, shift, dst, index := normals(1, among), normals(2, 1024), make([]float32, 1024), make([]int32, 1024)
				for j := range index {
					index[j] = int32(j * 7919 % among)
				}
				for b.Loop() {
					gatherAt(level, dst, z, index, shift, 0.1)
				}
			})
		}
	}
}
