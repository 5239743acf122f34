package scoring

import (
	"fmt"
	"slices"
	"sort"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/training"
)

const (
	// poolFactor is the size of a round's pool per feature that the round chooses.
	poolFactor = 5
	// residualRidge is the ridge of the residual criterion's fits, relative to the variance of a
	// feature.
	residualRidge = 1e-2
	// A candidate must differ from 0, and a box also from 1, in at least the share seldom of the
	// rows and in seldomRows rows.
	seldom, seldomRows = 1. / 500, 10
)

// PoolSize returns the greatest number of candidates from which a round of the residual criterion
// chooses: 5·M/R, rounded up. rounds 0 means [DefaultRounds].
func PoolSize(features, rounds int) int {
	rounds = SelectOptions{Features: features, Rounds: rounds}.rounds()
	return poolFactor * ((features + rounds - 1) / rounds)
}

// binPool is the greatest number of bins from which features are chosen.
func (o SelectOptions) binPool() int { return poolFactor * o.Features / 2 }

// residual is one selection by the residual criterion: M features in R rounds, after the greedy
// selection of random features of Shahrampour and Tarokh ("Learning Bounds for Greedy Approximation
// with Explicit Feature Maps from Multiple Kernels", NeurIPS 2018).
//
// A round scores all candidates against the residual of the model so far, in round 1 against the
// outputs themselves. The best by correlation are its pool. From the second moments of the kept
// features and the pool, features are chosen one by one, each the one that lowers the ridge
// objective most. A round ends with a refit of the weights of all kept features. With bins, a round
// before the others chooses half of the features among them.
//
// Choosing continues when no candidate stands out from the noise: useless features come last, and a
// model that is fitted on other rows shows where to stop.
type residual struct {
	bank   *Bank
	first  *Sums // the sums of the first round
	sample *Sample
	o      SelectOptions
	rounds int

	chosen Selection
	seldom map[int32]bool // whether a candidate is almost constant, as far as this is known
	// The model of the raw outputs on the chosen features, by rising candidate number: f_k(x) =
	// intercept[k] + Σ_j weight[k·len(model)+j]·φ_j(x).
	model             []int32
	intercept, weight []float64
}

// selectResidual is [SelectFrom] by Residual.
func selectResidual(bank *Bank, sums *Sums, sample *Sample, task Task, o SelectOptions) (Selection, error) {
	best, err := Select(sums, task, Correlation, 1)
	if err != nil {
		return Selection{}, err
	}
	if err := checkSample(bank, sums, sample); err != nil {
		return Selection{}, err
	}
	if o.Features < 1 || o.Features > bank.Len() {
		return Selection{}, fmt.Errorf("select features: %d asked of %d candidates", o.Features, bank.Len())
	}
	r := &residual{
		bank:   bank,
		first:  sums,
		sample: sample,
		o:      o,
		rounds: o.rounds(),
		chosen: sums.newSelection(task, o.Features),
	}
	if len(o.Bins) > 0 && o.Features > 1 {
		if err := r.round(0, o.Features/2, o.Bins, o.binPool()); err != nil {
			return Selection{}, err
		}
	}
	bins := len(r.chosen.Index)
	for round := 1; round <= r.rounds; round++ {
		if o.Progress != nil {
			o.Progress(round)
		}
		if o.Stop != nil {
			if err := o.Stop(); err != nil {
				return Selection{}, err
			}
		}
		if err := r.round(round, bins+(o.Features-bins)*round/r.rounds, nil,
			PoolSize(o.Features-bins, o.Rounds)); err != nil {
			return Selection{}, err
		}
	}
	if len(r.chosen.Index) == 0 { // no candidate correlates with the outputs
		r.chosen.add(sums, best.Index[0], 1, best.Score[0])
	}
	return r.chosen, nil
}

// round chooses features until there are upTo, from a pool of at most `most` of the candidates
// among; nil stands for all.
func (r *residual) round(round, upTo int, among []int32, most int) error {
	sums := r.first
	if len(r.chosen.Index) > 0 {
		sums = r.score()
	}
	pool := r.pool(sums, among, most)
	if len(pool) == 0 {
		return nil
	}
	return r.choose(round, upTo, pool)
}

// score returns the sums of all candidates against the residuals of the model. The residual of a
// row is computed in float64 from float32 features and rounded to float32 once.
func (r *residual) score() *Sums {
	outputs, kept := r.sample.Targets.Outputs, len(r.model)
	left := make([]float32, r.sample.Rows*outputs)
	r.features(r.model, func(phi []float32, first, next int) {
		parallel.On(r.o.Workers, next-first, 16, func(from, to int) {
			for i := from; i < to; i++ {
				r.residualOf(left[(first+i)*outputs:][:outputs], phi[i*kept:(i+1)*kept], first+i)
			}
		})
	})
	return r.o.Store.Score(r.bank, r.sample.X, r.sample.Rows, Targets{Outputs: outputs, Values: left}, r.o.Workers)
}

// residualOf sets dst to the residuals of a row with the features phi, [K].
func (r *residual) residualOf(dst, phi []float32, row int) {
	for k := range dst {
		f := r.intercept[k]
		for j, w := range r.weight[k*len(phi) : (k+1)*len(phi)] {
			f += float64(w * float64(phi[j]))
		}
		dst[k] = float32(float64(r.sample.Targets.Raw(row, k)) - f)
	}
}

// pool returns the best of the candidates that are not chosen yet, at most `most`, by Σ_k
// cov(residual_k, φ)²/var(φ) of the coded outputs. It omits candidates that are almost constant.
// among nil stands for all candidates.
func (r *residual) pool(s *Sums, among []int32, most int) []int32 {
	values := s.correlations(r.chosen.Coding)
	for _, i := range r.chosen.Index {
		values[i] = 0
	}
	if among != nil {
		all := values
		values = make([]float64, len(all))
		for _, i := range among {
			values[i] = all[i]
		}
	}
	order := Rank(values)
	order = order[:sort.Search(len(order), func(i int) bool { return !(values[order[i]] > 0) })]
	return r.often(order, most)
}

// often returns the first `most` candidates that are not almost constant.
func (r *residual) often(order []int32, most int) (pool []int32) {
	for len(order) > 0 && len(pool) < most {
		some := order[:min(most-len(pool), len(order))]
		order = order[len(some):]
		rare := r.rare(some)
		for _, i := range some {
			if !rare[i] {
				pool = append(pool, i)
			}
		}
	}
	return pool
}

// rare reports the candidates that differ from 0, or boxes from 1, in too few rows. Cosines never
// do; the others are counted once. The sum of a box is the number of rows in which it is 1.
func (r *residual) rare(candidates []int32) map[int32]bool {
	if r.bank.given == nil || !r.bank.given.Mixed() {
		return nil
	}
	if r.seldom == nil {
		r.seldom = map[int32]bool{}
	}
	least, n := max(seldomRows, float64(r.sample.Rows)*seldom), float64(r.sample.Rows)
	var unknown []int32
	for _, i := range candidates {
		if _, known := r.seldom[i]; known {
			continue
		}
		switch r.bank.given.Kind(int(i)) {
		case KindCosine:
		case KindBox:
			r.seldom[i] = r.first.Phi[i] < least || n-r.first.Phi[i] < least
		case KindRamp, KindHinge:
			unknown = append(unknown, i)
		}
	}
	if len(unknown) == 0 {
		return r.seldom
	}
	slices.Sort(unknown)
	others := make([]int, len(unknown))
	r.features(unknown, func(phi []float32, first, next int) {
		for from := 0; from < len(phi); from += len(unknown) {
			for i, v := range phi[from : from+len(unknown)] {
				if v != 0 {
					others[i]++
				}
			}
		}
	})
	for at, i := range unknown {
		r.seldom[i] = float64(others[at]) < least
	}
	return r.seldom
}

// choose takes from the pool, one by one, the feature that lowers the ridge objective most (the
// lowest number among equals), until there are upTo features or none lowers it. It refits the model
// if another round may follow.
func (r *residual) choose(round, upTo int, pool []int32) error {
	columns := slices.Concat(r.chosen.Index, pool)
	slices.Sort(columns)
	moments, err := r.moments(columns)
	if err != nil {
		return fmt.Errorf("select features: %w", err)
	}
	fit := newForwardFit(moments, len(columns), r.chosen.Coding.Gain)
	fit.workers = r.o.Workers
	for _, i := range r.chosen.Index {
		at, _ := slices.BinarySearch(columns, i)
		fit.take(at)
	}
	for len(r.chosen.Index) < upTo {
		best := fit.best()
		if best < 0 {
			break
		}
		if fit.correlation(best) > r.chosen.Radius {
			r.chosen.AboveNoise++
		}
		r.chosen.add(r.first, columns[best], int32(round), fit.gain(best))
		fit.take(best)
	}
	if round < r.rounds {
		r.fitted(fit)
	}
	return nil
}

// fitted stores the model of a fit on the chosen features.
func (r *residual) fitted(fit *forwardFit) {
	intercept, weight := fit.weights()
	r.model, r.intercept = slices.Clone(r.chosen.Index), intercept
	slices.Sort(r.model)
	r.weight = make([]float64, len(weight))
	n := len(r.model)
	for at, i := range r.chosen.Index {
		to, _ := slices.BinarySearch(r.model, i)
		for k := range intercept {
			r.weight[k*n+to] = weight[k*n+at]
		}
	}
}

// moments returns the covariances of the columns: the features of the candidates, then the raw
// outputs.
func (r *residual) moments(candidates []int32) (*training.Covariances, error) {
	outputs := r.sample.Targets.Outputs
	sums := training.NewSums(len(candidates), outputs)
	sums.Workers = r.o.Workers
	raw := make([]float32, 0, BlockRows*outputs)
	r.features(candidates, func(phi []float32, first, next int) {
		raw = raw[:0]
		for i := first; i < next; i++ {
			for k := range outputs {
				raw = append(raw, r.sample.Targets.Raw(i, k))
			}
		}
		sums.Add(phi, next-first, raw)
	})
	return sums.Covariances()
}

// features calls do with the features of candidates, row-major, for one block of rows of the sample
// at a time. The candidate numbers must rise.
func (r *residual) features(candidates []int32, do func(phi []float32, first, next int)) {
	NewFeatureTransformer(r.bank.Draw(candidates)).EachBlock(r.sample.X, r.sample.Rows, r.o.Workers, do)
}
