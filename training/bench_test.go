package training

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/eerf-stream/eerf/internal/fmapeak"
	"github.com/eerf-stream/eerf/internal/simd"
)

// withProcs runs a benchmark on that many processors and reports operations per second (one call of
// run does flops), next to those of as many cores that only multiply and add float32, measured
// before and after.
func withProcs(b *testing.B, procs int, flops float64, run func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	peak := fmapeak.Float32(simd.Best())
	for b.Loop() {
		run()
	}
	rate := flops * float64(b.N) / b.Elapsed().Seconds()
	peak = (peak + fmapeak.Float32(simd.Best())) / 2 * float64(procs)
	b.ReportMetric(rate/1e9, "GF/s")
	b.ReportMetric(rate/peak, "of-peak")
}

// BenchmarkGram adds N = 20000 rows in messages of 500. The sums are symmetric, so N·M·(M+1)
// operations count.
func BenchmarkGram(b *testing.B) {
	const message = 500
	rows := 20000
	if testing.Short() {
		rows = message
	}
	for _, m := range []int{100, 450, 1000, 2000} {
		for _, outputs := range []int{1, 10} {
			d := randomTable(1, message, m, outputs)
			for _, procs := range []int{1, 2} {
				b.Run(fmt.Sprintf("M=%d/K=%d/procs=%d", m, outputs, procs), func(b *testing.B) {
					s := d.sums()
					withProcs(b, procs, float64(rows)*float64(m)*float64(m+1), func() {
						for range rows / message {
							s.Add(d.z, d.rows, d.y)
						}
					})
					b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
				})
			}
		}
	}
}

// BenchmarkPath trains on sums: it solves and judges every λ, and fits again on all rows.
func BenchmarkPath(b *testing.B) {
	sizes := []int{100, 500, 1000, 2000}
	if testing.Short() {
		sizes = sizes[:2]
	}
	for _, m := range sizes {
		for _, outputs := range []int{1, 10} {
			rows := min(20*m, 4096)
			fit, held := randomTable(1, rows, m, outputs), randomTable(2, m, m, outputs).sums()
			for _, procs := range []int{1, 2} {
				b.Run(fmt.Sprintf("M=%d/K=%d/procs=%d", m, outputs, procs), func(b *testing.B) {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
					sums := fit.sums()
					for b.Loop() {
						if _, err := Train(sums, held, usual); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func BenchmarkPredict(b *testing.B) {
	const rows = 512
	d := randomTable(1, rows, 1000, 1)
	f, err := Train(d.sums(), nil, usual)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]float32, rows)
	for b.Loop() {
		f.Model.Predict(dst, d.z, rows)
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
}
