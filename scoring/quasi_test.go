package scoring

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// TestQuasiPointsAreThoseOfTheDefinition computes them in rational numbers.
func TestQuasiPointsAreThoseOfTheDefinition(t *testing.T) {
	c := Candidates{Sampler: Quasi, Sigma: 1, Seed: 3, Dim: 30, Count: 1}
	q := new(quasiSequence)
	q.open(c)
	for j, p := range []int64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31} {
		for _, i := range []int64{0, 1, 2, 10, 31, 1000, math.MaxInt32} {
			s := newStream(3, uint64(j), quasiTag)
			want := new(big.Rat).SetFloat64(s.uniform())
			place := big.NewRat(1, 1)
			for rest := i; rest > 0; rest /= p {
				factor := int64(s.below(uint64(p-1))) + 1
				place.Quo(place, big.NewRat(p, 1))
				digit := big.NewRat(rest%p*factor%p, 1)
				want.Add(want, digit.Mul(digit, place))
			}
			if one := big.NewRat(1, 1); want.Cmp(one) >= 0 {
				want.Sub(want, one)
			}
			exact, _ := want.Float64()
			near(t, fmt.Sprintf("coordinate %d of point %d", j, i), q.coordinate(uint64(i), j), exact, 1e-15)
		}
	}
}

// TestQuasiPointsFillEveryInterval: of p consecutive points one is in each of p equal intervals, in every coordinate.
func TestQuasiPointsFillEveryInterval(t *testing.T) {
	q := new(quasiSequence)
	q.open(Candidates{Seed: 8, Dim: 200})
	for j, p := range q.primes {
		seen := make([]bool, p)
		for i := range p {
			place := int(math.Floor((q.coordinate(i, j) - q.shifts[j] + 1) * float64(p) * (1 + 1e-12)))
			seen[place%int(p)] = true
		}
		if slices.Contains(seen, false) {
			t.Errorf("coordinate %d leaves one of %d intervals empty", j, p)
		}
	}
}

func TestPrimesAreThePrimes(t *testing.T) {
	for _, count := range []int{1, 2, 5, 6, 7, 100, 3000} {
		primes := firstPrimes(count)
		for i, n := 0, int64(2); i < count; n++ {
			if big.NewInt(n).ProbablyPrime(0) {
				if primes[i] != uint64(n) {
					t.Fatalf("prime %d of %d is %d, want %d", i, count, primes[i], n)
				}
				i++
			}
		}
		if len(primes) != count {
			t.Errorf("%d primes, want %d", len(primes), count)
		}
	}
	if p := firstPrimes(maxQuasiDim + 1); p[maxQuasiDim] != 821647 {
		t.Errorf("the last prime is %d, want 821647", p[maxQuasiDim])
	}
}

// TestQuasiDrawsHaveTheirDistribution over seeds, which choose the shift, for single candidates.
func TestQuasiDrawsHaveTheirDistribution(t *testing.T) {
	const seeds, sigma = 8000, 1.7
	for d, cdf := range map[Distribution]func(x float64) float64{
		Gaussian: func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 },
		Cauchy:   func(x float64) float64 { return math.Atan(x)/math.Pi + 0.5 },
		Laplace: func(x float64) float64 {
			if x < 0 {
				return math.Exp(x) / 2
			}
			return 1 - math.Exp(-x)/2
		},
	} {
		for _, index := range []int32{0, 5} {
			values, phases := make([]float64, seeds), make([]float64, seeds)
			for seed := range uint64(seeds) {
				f := Candidates{Distribution: d, Sampler: Quasi, Sigma: sigma, Seed: seed, Dim: 2, Count: 6}.Draw([]int32{index})
				values[seed], phases[seed] = float64(f.Omega[1])*sigma, float64(f.Phase[0])
			}
			if distance := kolmogorov(values, cdf); distance > 2.9/math.Sqrt(seeds) {
				t.Errorf("%v: distance %v from the distribution", d, distance)
			}
			uniform := func(x float64) float64 { return x / (2 * math.Pi) }
			if distance := kolmogorov(phases, uniform); distance > 2.9/math.Sqrt(seeds) {
				t.Errorf("%v: phases have distance %v from uniform", d, distance)
			}
		}
	}
}

// TestQuasiErrorsFallFaster: in few dimensions faster than the 1/√M of independent draws, for every distribution.
func TestQuasiErrorsFallFaster(t *testing.T) {
	const points, seeds = 12, 6
	for _, k := range exactKernels() {
		if k.c.Map != MapCosine || k.c.Distribution > Laplace || k.c.Sampler != IID {
			continue
		}
		k.c.Sampler, k.c.Dim = Quasi, 2
		x := normalRows(17, points, k.c.Dim)
		counts := []int{32, 256, 2048}
		var logs []float64
		for _, k.c.Count = range counts {
			squares := 0.0
			for k.c.Seed = range uint64(seeds) {
				squares += kernelError(k, x, points) / seeds
			}
			logs = append(logs, math.Log(squares)/2)
		}
		if slope := fitSlope(counts, logs); !(slope < -0.6) {
			t.Errorf("%s: error falls with slope %.2f", k.name, slope)
		}
	}
}

// TestQuasiErrorIsNotAboveThatOfIID, and far below in few dimensions.
func TestQuasiErrorIsNotAboveThatOfIID(t *testing.T) {
	for _, test := range []struct {
		dim, count, seeds int
		most              float64
	}{
		{2, 512, 40, 0.4}, {5, 512, 40, 0.7}, {20, 512, 40, 0.98}, {100, 256, 60, 1.05}, {784, 128, 60, 1.05},
	} {
		c := Candidates{Sigma: math.Sqrt(float64(test.dim)), Dim: test.dim, Count: test.count}
		ratio := samplerError(c, Quasi, test.seeds)
		if !(ratio < test.most) {
			t.Errorf("dim %d: root mean square error is %.3f of that of independent draws", test.dim, ratio)
		}
		t.Logf("dim %d, %d features: root mean square error is %.3f of that of independent draws", test.dim, test.count, ratio)
	}
}

func TestQuasiCandidatesDependOnSeedAndIndexAlone(t *testing.T) {
	c := Candidates{Sampler: Quasi, Sigma: 1, Seed: 5, Dim: 40, Count: 100}
	all := c.DrawAll()
	other := c
	other.Seed, other.Dim = 6, 41
	other.DrawAll() // leaves its sequence behind
	c.Count = 51
	some := c.Draw([]int32{50, 3, 50})
	for k, i := range []int{50, 3, 50} {
		if !slices.Equal(some.Omega[k*40:(k+1)*40], all.Omega[i*40:(i+1)*40]) || some.Phase[k] != all.Phase[i] {
			t.Errorf("candidate %d changes with what else is drawn", i)
		}
	}
	ramp := c
	ramp.Map = MapArcCosine1
	if !slices.Equal(ramp.DrawAll().Omega, c.DrawAll().Omega) {
		t.Error("ω depends on the map")
	}
}

func TestQuasiGoesWithProductsOfQuantiles(t *testing.T) {
	for _, c := range []Candidates{{}, {Distribution: Cauchy}, {Distribution: Laplace}, {Map: MapArcCosine2}} {
		c.Sampler, c.Sigma, c.Dim, c.Count = Quasi, 1, 3, 9
		if err := c.DrawAll().Validate(); err != nil {
			t.Error(err)
		}
	}
	for want, c := range map[string]Candidates{
		"sampler quasi does not go with distribution matern": {Distribution: Matern, Nu: 1.5, Dim: 2},
		"does not go with distribution uniform":              {Map: MapLinear, Distribution: Uniform, Dim: 2},
		"dim is 65537, want at most 65536 for the quasi":     {Dim: 1<<16 + 1},
	} {
		c.Sampler, c.Sigma, c.Count = Quasi, 1, 1
		err := c.Validate()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %q alone", err, want)
		}
	}
}
