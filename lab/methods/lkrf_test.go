package methods

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/scoring"
)

// divergence is M0·‖q − 1/M0‖².
func divergence(q []float64) float64 {
	sum, m0 := 0.0, float64(len(q))
	for _, v := range q {
		sum += (v - 1/m0) * (v - 1/m0)
	}
	return sum * m0
}

// simplexProjection is the nearest point of the simplex, by bisection on the amount subtracted from
// every number.
func simplexProjection(v []float64) []float64 {
	low, high := slices.Min(v)-1, slices.Max(v)
	p := make([]float64, len(v))
	for range 200 {
		middle, sum := (low+high)/2, 0.0
		for i, x := range v {
			p[i] = max(x-middle, 0)
			sum += p[i]
		}
		if sum > 1 {
			low = middle
		} else {
			high = middle
		}
	}
	return p
}

// bruteForceWeights maximises q·energy by the penalised problem, with the penalty found by
// bisection: for each multiplier ν the maximum of q·e − ν/2·‖q − 1/M0‖² is a projection.
func bruteForceWeights(energy []float64, rho float64) []float64 {
	m0 := float64(len(energy))
	at := func(logNu float64) []float64 {
		v := make([]float64, len(energy))
		for i, e := range energy {
			v[i] = 1/m0 + e/math.Exp(logNu)
		}
		return simplexProjection(v)
	}
	low, high := -20.0, 40.0
	if q := at(low); divergence(q) <= rho {
		return q
	}
	for range 200 {
		middle := (low + high) / 2
		if divergence(at(middle)) > rho {
			low = middle
		} else {
			high = middle
		}
	}
	return at(high)
}

func TestKernelWeightsEqualBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, m0 := range []int{1, 2, 3, 7, 40} {
		for trial := range 6 {
			energy := make([]float64, m0)
			for i := range energy {
				energy[i] = rng.ExpFloat64()
				if trial == 1 {
					energy[i] = float64(i % 3) // ties
				}
			}
			for _, rho := range []float64{0, 1e-5, 1e-2, 0.3, 1, 2.5, 5, 30, 1e5} {
				got, want := kernelWeights(energy, rho), bruteForceWeights(energy, rho)
				for i := range got {
					near(t, fmt.Sprintf("m0 %d, ρ %v: q%d", m0, rho, i), got[i], want[i], 2e-6)
				}
			}
		}
	}
}

// TestKernelWeightsAreOptimal checks that no random feasible direction improves them, that the
// constraint is tight where ρ is well below M0−1, and that they are probabilities.
func TestKernelWeightsAreOptimal(t *testing.T) {
	const m0 = 500
	rng := rand.New(rand.NewPCG(2, 1))
	energy := make([]float64, m0)
	for i := range energy {
		energy[i] = math.Pow(rng.Float64(), 4) * 1e-3
	}
	value := func(q []float64) float64 {
		sum := 0.0
		for i, e := range energy {
			sum += q[i] * e
		}
		return sum
	}
	last := 0.0
	for _, rho := range kernelRadii() {
		q := kernelWeights(energy, rho)
		sum := 0.0
		for _, v := range q {
			sum += v
			if v < 0 {
				t.Fatalf("ρ %v: a probability of %v", rho, v)
			}
		}
		near(t, "sum", sum, 1, 1e-12)
		want := min(rho, m0-1)
		near(t, fmt.Sprintf("divergence for ρ %v", rho), divergence(q), want, 1e-9*want)
		if v := value(q); v <= last && rho < m0 {
			t.Errorf("ρ %v: value %v, but %v with a smaller ρ", rho, v, last)
		} else {
			last = v
		}
		for range 20 { // other feasible points, between q and a random point of the simplex
			other := make([]float64, m0)
			for i := range other {
				other[i] = rng.ExpFloat64()
			}
			total := 0.0
			for _, v := range other {
				total += v
			}
			for step := 1.0; step > 1e-3; step /= 3 {
				mix := make([]float64, m0)
				for i := range mix {
					mix[i] = (1-step)*q[i] + step*other[i]/total
				}
				if divergence(mix) <= rho && value(mix) > value(q)*(1+1e-12) {
					t.Errorf("ρ %v: a feasible point is better", rho)
				}
			}
		}
	}
}

func TestEqualEnergiesGiveUniformWeights(t *testing.T) {
	for _, rho := range kernelRadii() {
		for _, q := range kernelWeights([]float64{0.25, 0.25, 0.25}, rho) {
			near(t, "weight", q, 1.0/3, 1e-15)
		}
	}
}

func TestLearnedKernelKeepsAllIfFewArePositive(t *testing.T) {
	q := []float64{0, 0.25, 0, 0.75, 0}
	w := learnKernel([]float64{1, 2, 1, 4, 1}, q, 2, 1)
	if !slices.Equal(w.index, []int32{3, 1}) || !slices.Equal(w.score, []float64{4, 2}) {
		t.Errorf("kept %v with %v", w.index, w.score)
	}
	for k, i := range w.index {
		z := float64(w.weight[k]) * float64(w.scale)
		near(t, "squared factor", z*z, q[i], 1e-6)
	}
	c := scoring.Candidates{Sigma: 1, Dim: 3, Count: 5}
	if err := w.set(c).Validate(); err != nil {
		t.Error(err)
	}
}

// TestLearnedKernelDraws checks that the mean over seeds of the kernel's shares is q, and that
// every set counts m draws.
func TestLearnedKernelDraws(t *testing.T) {
	const m, seeds = 3, 4000
	energy := []float64{5, 1, 3, 0, 2, 4}
	q := kernelWeights(energy, 0.2)
	shares := make([]float64, len(q))
	for seed := range uint64(seeds) {
		w := learnKernel(energy, q, m, seed)
		total := 0.0
		for k, i := range w.index {
			share := math.Pow(float64(w.weight[k])*float64(w.scale), 2)
			shares[i] += share / seeds
			total += share
		}
		near(t, "sum of the shares", total, 1, 1e-6)
	}
	for i := range q {
		near(t, fmt.Sprint("share of ", i), shares[i], q[i], 5*math.Sqrt(q[i]/(m*seeds)))
	}
}
