package portable

import (
	"math"
	"math/rand/v2"
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

func TestNormalQuantileIsOddAndRises(t *testing.T) {
	last := math.Inf(-1)
	for i := 1; i < 1<<12; i++ {
		u := float64(i) / (1 << 12)
		z := NormalQuantile(u)
		if z <= last {
			t.Fatalf("quantile of %v does not rise: %v after %v", u, z, last)
		}
		if mirror := NormalQuantile(1 - u); mirror != -z {
			t.Fatalf("quantiles of %v and its complement are %v and %v", u, z, mirror)
		}
		last = z
	}
	// Tabulated by Wichura: the quantiles of 0.25, 0.001 and 1e-20.
	for u, want := range map[float64]float64{0.25: -0.6744897501960817, 0.001: -3.090232306167814, 1e-20: -9.262340089798408} {
		if got := NormalQuantile(u); math.Abs(got-want) > 1e-14 {
			t.Errorf("NormalQuantile(%v) is %v, want %v", u, got, want)
		}
	}
}

func BenchmarkNormalQuantile(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	u := make([]float64, 1<<16) // more than a branch predictor can learn
	for i := range u {
		u[i] = rng.Float64()
	}
	sum := 0.0
	for b.Loop() {
		for _, v := range u {
			sum += NormalQuantile(v)
		}
	}
	if math.IsNaN(sum) {
		b.Fatal("a quantile is no number")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(u)), "ns/number")
}
