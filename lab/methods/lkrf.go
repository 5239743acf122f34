package methods

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/scoring"
)

var lkrf = &compare.Method{
	Name: "lkrf", Title: "learned kernels (LKRF)",
	Source: "Sinha and Duchi, NIPS 2016",
	Summary: "M draws from the probabilities of candidates that maximise the mean energy within a χ² distance ρ " +
		"of the uniform ones, or all of them with weights if at most M are positive; " +
		"ρ of 1e-5, 1e-4, ..., 1e5 by the loss on held-out rows.",
	Select: func(ctx context.Context, t *compare.Trial) (*compare.Selected, error) {
		var best *compare.Selected
		least := math.Inf(1)
		for _, choice := range learnedKernels(t) {
			loss, err := t.HeldOutLoss(ctx, choice.Set)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", choice.Note, err)
			}
			if best == nil || loss < least {
				least, best = loss, choice
			}
		}
		return best, nil
	},
}

// learnedKernels returns the sets for all ρ; equal sets appear once, under the least ρ.
func learnedKernels(t *compare.Trial) []*compare.Selected {
	sums := t.Sums()
	return compare.Shared(t, fmt.Sprintf("learned kernels of %d", t.M), func() []*compare.Selected {
		energy := scoring.CriterionValues(sums, t.Task, scoring.Energy)
		var all []*compare.Selected
		var last weighting
		for _, rho := range kernelRadii() {
			w := learnKernel(energy, kernelWeights(energy, rho), t.M, t.Seed)
			if len(all) > 0 && slices.Equal(w.index, last.index) && slices.Equal(w.weight, last.weight) &&
				w.scale == last.scale {
				continue
			}
			last = w
			all = append(all, &compare.Selected{Set: w.set(t.Candidates()), Note: fmt.Sprintf("ρ = %g", rho)})
		}
		return all
	})
}

// kernelWeights returns the probabilities q of candidates, [M0], that maximise Σ q_m·energy_m over
// the simplex within
//
//	M0·‖q − 1/M0‖² ≤ ρ
//
// of the uniform ones, the χ² divergence: learned kernels of Sinha and Duchi, "Learning Kernels
// with Random Features" (NIPS 2016). energy is [scoring.CriterionValues] under Energy, which equals
// the paper's up to a factor that does not matter. It panics if energy is empty or has a number
// that is negative or not finite, or if ρ is negative or NaN.
//
// By the conditions of optimality q_m is in proportion to max(energy_m − t, 0) for a threshold t
// below the greatest energy. With k energies above t, their mean μ and the sum V of their squared
// deviations, the divergence is M0·(V + k(μ−t)²)/(k(μ−t))² − 1, which is solved for t exactly for
// each k; the right k has t between the k-th and the next energy. If even equal shares among the
// greatest energies are within ρ, they are the result, and the constraint is not tight.
func kernelWeights(energy []float64, rho float64) []float64 {
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

// kernelThreshold returns the threshold and the number of energies, in falling order, above it. The
// threshold is -Inf if all of these have equal shares.
func kernelThreshold(energy []float64, order []int32, rho float64) (active int, threshold float64) {
	m0 := float64(len(energy))
	ties := 1
	for ties < len(order) && energy[order[ties]] == energy[order[0]] {
		ties++
	}
	if m0/float64(ties)-1 <= rho {
		return ties, math.Inf(-1)
	}
	mean, deviations := 0.0, 0.0 // of the first k, by Welford's recursion
	for i, index := range order {
		k := float64(i + 1)
		delta := energy[index] - mean
		mean += delta / k
		deviations += float64(delta * (energy[index] - mean))
		excess := float64((1+rho)*k) - m0
		if i < ties || excess <= 0 {
			continue
		}
		// The divergence rises with t, so the first k whose threshold is not below the next energy
		// is right.
		t := mean - math.Sqrt(m0*deviations/float64(k*excess))
		if i+1 == len(order) || t >= energy[order[i+1]] {
			return i + 1, t
		}
	}
	panic("methods: energies are not finite")
}

// learnKernel returns the features of LKRF for the probabilities q of kernelWeights. If at most m
// of them are positive, it keeps all these candidates, with the weights √(M0·q) and the scale
// 1/√M0, so that the kernel is exactly Σ q·φφ′. Otherwise it makes m independent draws from q with
// the scale 1/√m. A candidate that is drawn c times is kept once with the weight √c, which gives
// the same model. It panics if m is not positive.
func learnKernel(energy, q []float64, m int, seed uint64) weighting {
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
	w := weighting{scale: float32(scale)}
	for _, i := range scoring.Rank(energy) {
		if square[i] > 0 {
			w.index, w.score = append(w.index, i), append(w.score, energy[i])
			w.weight = append(w.weight, float32(math.Sqrt(square[i])))
		}
	}
	return w
}

// kernelRadii are the values of ρ for LKRF: the powers of ten from 1e-5 to 1e5.
func kernelRadii() []float64 {
	return []float64{1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 1e1, 1e2, 1e3, 1e4, 1e5}
}
