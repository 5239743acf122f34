package training

import (
	"math"
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
