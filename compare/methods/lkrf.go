package methods

import (
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/scoring"
)

// KernelWeights returns the probabilities q of candidates, [M0], that maximise Σ q_m·energy_m over the simplex within
//
//	M0·‖q − 1/M0‖² ≤ ρ
//
// of the uniform ones, the χ² divergence: learned kernels of Sinha and Duchi, "Learning Kernels with Random Features"
// (NIPS 2016). energy is [scoring.CriterionValues] under Energy, as it is in the paper up to a factor, which q does not depend on.
// It panics when energy is empty or has a number that is negative or not finite, or ρ is negative or NaN.
//
// By the conditions of optimality q_m is in proportion to max(energy_m − t, 0) for a threshold t below the greatest energy.
// With k energies above t, their mean μ and the sum V of their squared deviations, the divergence is
// M0·(V + k(μ−t)²)/(k(μ−t))² − 1, which is solved for t exactly for each k; the right one has t between the k-th and the next energy.
// When even equal shares among the greatest are within ρ, they are the answer and the constraint is not tight.
func KernelWeights(energy []float64, rho float64) []float64 {
	if len(energy) == 0 || !(rho >= 0) {
		panic(fmt.Sprintf("methods: kernel weights of %d candidates within %v", len(energy), rho))
	}
	for i, e := range energy {
		if !(e >= 0) || math.IsInf(e, 0) {
			panic(fmt.Sprintf("methods: energy of candidate %d is %v", i, e))
		}
	}
	q := make([]float64, len(energy))
	if rho == 0 {
		for i := range q {
			q[i] = 1 / float64(len(q))
		}
		return q
	}
	order := scoring.Rank(energy)
	active, threshold := kernelThreshold(energy, order, rho)
	sum := 0.0
	for _, i := range order[:active] {
		q[i] = 1
		if !math.IsInf(threshold, -1) {
			q[i] = max(energy[i]-threshold, 0) // only rounding makes it negative
		}
		sum += q[i]
	}
	for i := range q {
		q[i] /= sum
	}
	return q
}

// kernelThreshold returns how many energies, in falling order, are above the threshold, and the threshold: -Inf if all
// of them have equal shares.
func kernelThreshold(energy []float64, order []int32, rho float64) (active int, threshold float64) {
	m0 := float64(len(energy))
	ties := 1
	for ties < len(order) && energy[order[ties]] == energy[order[0]] {
		ties++
	}
	if m0/float64(ties)-1 <= rho {
		return ties, math.Inf(-1)
	}
	mean, deviations := 0.0, 0.0 // of the k first, by Welford's recursion
	for i, index := range order {
		k := float64(i + 1)
		delta := energy[index] - mean
		mean += delta / k
		deviations += float64(delta * (energy[index] - mean))
		excess := float64((1+rho)*k) - m0
		if i < ties || excess <= 0 {
			continue
		}
		// The divergence rises with t, so the first k whose threshold is not below the next energy is right.
		t := mean - math.Sqrt(m0*deviations/float64(k*excess))
		if i+1 == len(order) || t >= energy[order[i+1]] {
			return i + 1, t
		}
	}
	panic("methods: energies are not finite")
}

// LearnKernel returns the features of LKRF by the probabilities q of [KernelWeights]. If at most m of them are
// positive, it keeps all these candidates, with the weight √(M0·q) and the scale 1/√M0, so that the kernel is Σ q·φφ′
// exactly. Otherwise it makes m independent draws from q with the scale 1/√m; a candidate drawn c times is kept once
// with the weight √c, which is the same model. It panics if m is not positive.
func LearnKernel(energy, q []float64, m int, seed uint64) Weighting {
	if m < 1 || len(energy) != len(q) {
		panic(fmt.Sprintf("methods: %d features of %d energies and %d probabilities", m, len(energy), len(q)))
	}
	positive := 0
	for _, v := range q {
		if v > 0 {
			positive++
		}
	}
	square, scale := make([]float64, len(q)), 1/math.Sqrt(float64(m))
	if positive <= m {
		scale = 1 / math.Sqrt(float64(len(q)))
		for i, v := range q {
			square[i] = v * float64(len(q))
		}
	} else {
		for i, count := range drawIndependently(q, m, seed) {
			square[i] = float64(count)
		}
	}
	w := Weighting{Scale: float32(scale)}
	for _, i := range scoring.Rank(energy) {
		if square[i] > 0 {
			w.Index, w.Score = append(w.Index, i), append(w.Score, energy[i])
			w.Weight = append(w.Weight, float32(math.Sqrt(square[i])))
		}
	}
	return w
}

// KernelRadii are the ρ tried for LKRF: the powers of ten from 1e-5 to 1e5.
func KernelRadii() []float64 {
	return []float64{1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 1e1, 1e2, 1e3, 1e4, 1e5}
}
