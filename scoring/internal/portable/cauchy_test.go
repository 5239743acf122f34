package portable

import (
	"math"
	"math/big"
	"testing"
)

func TestCauchyQuantileInvertsTheDistribution(t *testing.T) {
	for _, u := range []float64{0x1p-53, 1e-9, 0.01, 0.2, 0.2499999, 0.25, 0.3, 0.4999, 0.5, 0.61, 0.75, 0.8, 0.999, 1 - 0x1p-53} {
		got := CauchyQuantile(u)
		// atan2 of the exact distance to the nearer end, where the quantile is steep.
		back := math.Atan(got)/math.Pi + 0.5
		if got < -1 {
			back = math.Atan(-1/got) / math.Pi
		}
		want := u
		if got > 1 {
			back = math.Atan(1/got) / math.Pi
			want, _ = new(big.Float).Sub(big.NewFloat(1), big.NewFloat(u)).Float64()
		}
		if math.Abs(back-want) > 2e-15*want {
			t.Errorf("quantile of %v is %v, whose probability is %v", u, got, back)
		}
	}
}

func TestCauchyQuantileIsOdd(t *testing.T) {
	for _, u := range []float64{0.25, 0.125, 0.375, 0.4375, 0x1p-40} {
		if a, b := CauchyQuantile(u), CauchyQuantile(1-u); a != -b {
			t.Errorf("quantiles of %v and 1-u are %v and %v", u, a, b)
		}
	}
}
