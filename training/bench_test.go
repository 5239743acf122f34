package training

import (
	"fmt"
	"testing"
)

// BenchmarkAdd adds messages of 512 rows; GF/s counts M² operations a row, the symmetric half.
func BenchmarkAdd(b *testing.B) {
	const rows = 512
	for _, m := range []int{100, 450, 1000} {
		for _, outputs := range []int{1, 10} {
			b.Run(fmt.Sprintf("M=%d/K=%d", m, outputs), func(b *testing.B) {
				d := randomTable(1, rows, m, outputs)
				s := NewSums(m, outputs)
				for b.Loop() {
					s.Add(d.z, d.rows, d.y)
				}
				seconds := b.Elapsed().Seconds()
				b.ReportMetric(float64(b.N)*rows/seconds, "rows/s")
				b.ReportMetric(float64(b.N)*rows*float64(m*m)/seconds/1e9, "GF/s")
			})
		}
	}
}

// BenchmarkAddSingleRows is the worst cutting: every row a call of its own.
func BenchmarkAddSingleRows(b *testing.B) {
	d := randomTable(1, 128, 1000, 1)
	s := NewSums(1000, 1)
	for b.Loop() {
		for n := range d.rows {
			p := d.part(n, n+1)
			s.Add(p.z, 1, p.y)
		}
	}
	b.ReportMetric(float64(b.N)*128/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkTrain solves the whole path and fits again, on twice as many rows as features.
func BenchmarkTrain(b *testing.B) {
	for _, m := range []int{100, 450, 1000} {
		for _, outputs := range []int{1, 10} {
			b.Run(fmt.Sprintf("M=%d/K=%d", m, outputs), func(b *testing.B) {
				fit, held := randomTable(1, 2*m, m, outputs).sums(), randomTable(2, m, m, outputs).sums()
				for b.Loop() {
					if _, err := Train(fit, held, usual); err != nil {
						b.Fatal(err)
					}
				}
			})
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
