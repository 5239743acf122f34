package scoring

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQuickBandwidthIsNearlyBandwidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	var quick QuickBandwidth // one for all shapes
	for _, rows := range []int{2, 3, 51, 52, 200, 601} {
		for _, dim := range []int{1, 2, 7, 48, 130} {
			for _, offset := range []float64{0, 1000} {
				x := make([]float32, rows*dim)
				for i := range x {
					x[i] = float32(rng.NormFloat64() + offset*float64(i%dim%2))
				}
				want, _ := Bandwidth(x, rows, dim, Gaussian, MapCosine)
				if got := quick.Of(x, rows, dim); !(math.Abs(got-want) <= 2e-5*want) {
					t.Errorf("%d rows of %d about %v: %v, want %v", rows, dim, offset, got, want)
				}
			}
		}
	}
}

func TestQuickBandwidthOfMostlyEqualRows(t *testing.T) {
	var quick QuickBandwidth
	for _, x := range [][]float32{
		{}, {3, 4}, {1, 2, 1, 2, 1, 2}, slices.Concat(slices.Repeat([]float32{1, 5}, 100), []float32{1, 7}),
	} {
		want, _ := Bandwidth(x, len(x)/2, 2, Gaussian, MapCosine)
		if got := quick.Of(x, len(x)/2, 2); math.Abs(got-want) > 1e-5*want {
			t.Errorf("%d rows: %v, want %v", len(x)/2, got, want)
		}
	}
}
