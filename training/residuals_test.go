package training

import (
	"math"
	"runtime"
	"slices"
	"testing"
)

func TestResidualsArePredictionsLessOutputs(t *testing.T) {
	for _, rows := range []int{0, 1, 5, 255, 256, 257, 1000} {
		for _, features := range []int{1, 7, 50} {
			for _, outputs := range []int{1, 2, 3} {
				d := randomTable(9, rows, features, outputs)
				m := &Model{Features: features, Outputs: outputs, Theta: widen(randomTable(1, 1, features*outputs, 1).z), Intercept: widen(randomTable(2, 1, outputs, 1).z)}
				e := slices.Repeat([]float32{float32(math.NaN())}, rows*outputs)
				m.Residuals(e, d.z, d.y, rows, 0)
				for n := range rows {
					for k := range outputs {
						want := m.Intercept[k] - float64(d.y[n*outputs+k])
						for j := range features {
							want += m.Theta[k*features+j] * float64(d.z[n*features+j])
						}
						if got := float64(e[n*outputs+k]); !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want)+math.Abs(float64(d.y[n*outputs+k])))) {
							t.Fatalf("%d rows, %d features: residual of row %d is %v, want %v", rows, features, n, got, want)
						}
					}
				}
			}
		}
	}
}

func TestWorkersDoNotMatterToResiduals(t *testing.T) {
	d := randomTable(9, 12000, 300, 3)
	m := &Model{Features: 300, Outputs: 3, Theta: widen(randomTable(1, 1, 900, 1).z), Intercept: []float64{1, 2, 3}}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var want []float32
	for _, threads := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(threads)
		for _, workers := range []int{0, 1, 3} {
			e := make([]float32, len(d.y))
			m.Residuals(e, d.z, d.y, d.rows, workers)
			if want == nil {
				want = e
			}
			if !slices.Equal(e, want) {
				t.Fatalf("%d threads, %d workers: other bits", threads, workers)
			}
		}
	}
}
