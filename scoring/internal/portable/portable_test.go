package portable

import (
	"math"
	"testing"
)

func TestLogIsWithinTwoUlps(t *testing.T) {
	check := func(x float64) {
		got, want := Log(x), math.Log(x)
		if ulps := math.Abs(got-want) / (math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want)); ulps > 2 {
			t.Errorf("Log(%v) is %v, want %v", x, got, want)
		}
	}
	for exponent := -300.0; exponent <= 300; exponent += 0.37 {
		check(math.Pow(10, exponent))
	}
	for i := 1; i < 100000; i++ {
		check(float64(i) / 50000.5)
	}
	if Log(1) != 0 {
		t.Errorf("Log(1) is %v", Log(1))
	}
}

func TestNormalQuantileInvertsTheDistribution(t *testing.T) {
	check := func(u float64) {
		z := NormalQuantile(u)
		got := math.Erfc(-z/math.Sqrt2) / 2
		// A relative error e of z moves the probability by z·density(z)·e.
		slack := 1e-15*u + math.Abs(z)*math.Exp(-z*z/2)*5e-16 + 2e-16*math.Min(u, 0.5)
		if u > 0.5 {
			slack += 1.2e-16
		}
		if math.Abs(got-u) > 4*slack {
			t.Errorf("probability below NormalQuantile(%v) = %v is %v", u, z, got)
		}
	}
	for i := 1; i < 20000; i++ {
		check(float64(i) / 20000)
	}
	for e := -1.0; e > -60; e -= 0.25 {
		check(math.Pow(2, e))
	}
}
