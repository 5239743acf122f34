package scoring

import (
	"fmt"
	"slices"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/training"
)

const (
	// poolFactor times the features that a round finds is the size of its pool.
	poolFactor = 5
	// residualRidge is the ridge of the residual criterion's fits, relative to the variance of a feature.
	residualRidge = 1e-4
)

// PoolSize returns how many candidates a round of the residual criterion chooses from at most: 5·M/R, rounded up. rounds 0
// means [DefaultRounds].
func PoolSize(features, rounds int) int {
	rounds = SelectOptions{Features: features, Rounds: rounds}.rounds()
	return poolFactor * ((features + rounds - 1) / rounds)
}

// residual is one selection by the residual criterion: M features in R rounds, after the greedy selection of random
// features of Shahrampour and Tarokh ("Learning Bounds for Greedy Approximation with Explicit Feature Maps from
// Multiple Kernels", NeurIPS 2018).
//
// A round scores all candidates against the residual of the model so far, in round 1 against the outputs themselves.
// The best by correlation are its pool. From the second moments of the kept features and the pool, features are chosen
// one by one, each the one that lowers the ridge objective most. A round ends with a refit of the weights of all kept
// features.
//
// If no candidate's correlation with the residual exceeds the noise level, [HoeffdingRadius], the rounds end and the
// best by [Correlation] with the outputs fill the remaining places: with few rows, features chosen from noise would
// only look like a gain.
type residual struct {
	bank   *Bank
	first  *Sums // of the first round
	sample *Sample
	o      SelectOptions
	rounds int

	chosen Selection
	// intercept and weight are the model of the raw outputs on the chosen features: f_k(x) = intercept[k] +
	// Σ_j weight[k·chosen+j]·φ_j(x).
	intercept, weight []float64
}

// selectResidual is [SelectFrom] by Residual.
func selectResidual(bank *Bank, sums *Sums, sample *Sample, task Task, o SelectOptions) (Selection, error) {
	fill, err := Select(sums, task, Correlation, o.Features)
	if err != nil {
		return Selection{}, err
	}
	if err := checkSample(bank, sums, sample); err != nil {
		return Selection{}, err
	}
	r := &residual{bank: bank, first: sums, sample: sample, o: o, rounds: o.rounds(), chosen: sums.newSelection(task, o.Features)}
	for round := 1; round <= r.rounds; round++ {
		if o.Progress != nil {
			o.Progress(round)
		}
		if round > 1 {
			sums = r.score()
		}
		pool := r.pool(sums)
		if pool == nil {
			break
		}
		found, err := r.choose(round, pool)
		if err != nil {
			return Selection{}, err
		}
		if !found {
			break
		}
	}
	return r.fillUp(&fill), nil
}

// score returns the sums of all candidates against the residuals of the model. The residual of a row is computed in float64
// from float32 features and rounded to float32 once.
func (r *residual) score() *Sums {
	outputs, kept := r.sample.Targets.Outputs, len(r.chosen.Index)
	left := make([]float32, r.sample.Rows*outputs)
	r.features(r.chosen.Index, func(phi []float32, first, next int) {
		parallel.On(r.o.Workers, next-first, 16, func(from, to int) {
			for i := from; i < to; i++ {
				r.residualOf(left[(first+i)*outputs:][:outputs], phi[i*kept:(i+1)*kept], first+i)
			}
		})
	})
	return r.o.Store.Score(r.bank, r.sample.X, r.sample.Rows, Targets{Outputs: outputs, Values: left}, r.o.Workers)
}

// residualOf sets dst to what the model on the features phi leaves of the outputs of a row.
func (r *residual) residualOf(dst, phi []float32, row int) {
	for k := range dst {
		f := r.intercept[k]
		for j, w := range r.weight[k*len(phi) : (k+1)*len(phi)] {
			f += float64(w * float64(phi[j]))
		}
		dst[k] = float32(float64(r.sample.Targets.Raw(row, k)) - f)
	}
}

// pool returns the best candidates that are not chosen yet, by Σ_k cov(residual_k, φ)²/var(φ) of the coded outputs; nil when
// the correlation of none with the residual exceeds the level of noise.
func (r *residual) pool(s *Sums) []int32 {
	values := s.correlations(r.chosen.Coding)
	for _, i := range r.chosen.Index {
		values[i] = 0
	}
	order := Rank(values)
	order = slices.DeleteFunc(order, func(i int32) bool { return values[i] == 0 })
	loud := slices.ContainsFunc(order, func(i int32) bool {
		return s.greatestCorrelation(r.chosen.Coding, int(i), nil) > r.chosen.Radius
	})
	if !loud {
		return nil
	}
	return order[:min(PoolSize(r.o.Features, r.o.Rounds), len(order))]
}

// choose takes from the pool, one by one, the feature that lowers the ridge objective most, until the round has its share,
// M·round/R with what earlier rounds left, or no feature's correlation with the residual, both freed of what is chosen,
// exceeds the level of noise. It reports whether there were any; then the model is fitted again, but in the last round.
func (r *residual) choose(round int, pool []int32) (found bool, err error) {
	before := len(r.chosen.Index)
	columns := slices.Concat(r.chosen.Index, pool)
	moments, err := r.moments(columns)
	if err != nil {
		return false, fmt.Errorf("select features: %w", err)
	}
	fit := newForwardFit(moments, len(columns), r.chosen.Coding.Gain)
	fit.workers = r.o.Workers
	for i := range before {
		fit.take(i)
	}
	for range r.o.Features*round/r.rounds - before {
		best, loud := fit.best(r.chosen.Radius)
		if best < 0 {
			break
		}
		if loud {
			r.chosen.AboveNoise++
		}
		r.chosen.add(r.first, columns[best], int32(round), fit.gain(best))
		fit.take(best)
	}
	if round < r.rounds {
		r.intercept, r.weight = fit.weights()
	}
	return len(r.chosen.Index) > before, nil
}

// moments returns the covariances of the features of candidates and of the raw outputs, in this order of columns.
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

// features calls do for the rows of the sample, some at a time, with their features of candidates, row-major.
func (r *residual) features(candidates []int32, do func(phi []float32, first, next int)) {
	NewFeatureTransformer(r.bank.Draw(candidates)).EachBlock(r.sample.X, r.sample.Rows, r.o.Workers, do)
}

// fillUp returns the selection with the best by correlation, given in their order, in the places that rounds have left.
func (r *residual) fillUp(best *Selection) Selection {
	sel := r.chosen
	sel.ByResidual = len(sel.Index)
	for i := 0; len(sel.Index) < r.o.Features; i++ {
		if !slices.Contains(r.chosen.Index, best.Index[i]) {
			sel.add(r.first, best.Index[i], 0, best.Score[i])
		}
	}
	return sel
}
