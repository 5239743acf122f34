package scoring

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// TestMeanEnergyIsTheKernelPolarization: (2/M0) Σ_m Ŝ(ω_m)² is yᵀKy/N² of the kernel that the draws approximate, the
// polarization that tells whether labels and kernel have anything to do with each other.
func TestMeanEnergyIsTheKernelPolarization(t *testing.T) {
	const rows, count, dim = 60, 20_000, 3
	x := normalRows(11, rows, dim)
	y := Targets{Outputs: 1, Values: make([]float32, rows)}
	for i := range rows {
		y.Values[i] = 1
		if x[i*dim] < 0.2 {
			y.Values[i] = -1
		}
	}
	for _, k := range exactKernels() {
		if k.factor != 2 || k.c.Dim != 4 || k.c.Map == MapArcCosine2 {
			continue // the last has scores without a useful fourth moment
		}
		t.Run(k.name, func(t *testing.T) {
			c := k.c
			c.Dim, c.Count, c.Seed = dim, count, 5
			acc := NewAccumulator(NewBank(c, BankOptions{}), NewSums(count, 1))
			acc.Add(x, rows, y)
			mean, spread := stat.MeanStdDev(CriterionValues(acc.Sums(), Binary, Energy), nil)
			want := 0.0
			for i := range rows {
				for j := range rows {
					want += float64(y.Values[i]*y.Values[j]) * k.of(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim])
				}
			}
			want /= rows * rows
			near(t, "polarization", 2*mean, want, 5*2*spread/math.Sqrt(count))
		})
	}
}
