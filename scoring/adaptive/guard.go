package adaptive

import (
	"errors"
	"math"
	"slices"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// ridgeLevel is λ of the fits from which gradients are computed, relative to the mean variance of
// the features.
const ridgeLevel = 1e-4

// ridgeModel is a model of the raw outputs on features φ.
type ridgeModel struct{ *training.Model }

// weight returns the weight of feature m for output k.
func (r *ridgeModel) weight(m, k int) float64 { return r.Theta[k*r.Features+m] }

// moments returns the sums of features and raw outputs over rows.
func (r *rows) moments(t *scoring.Transformer, workers int) *training.Sums {
	sums := training.NewSums(t.Len(), r.outputs)
	sums.Workers = workers
	t.EachBlock(r.x, r.n, workers, func(phi []float32, first, next int) {
		sums.Add(phi, next-first, r.y[first*r.outputs:next*r.outputs])
	})
	return sums
}

// fitMoments returns the moments of features f over the training rows. It computes the slopes as
// well, because the next pool is usually drawn from the features that were just measured.
func (l *learner) fitMoments(f *scoring.Features) *training.Sums {
	if sums := l.last.of(f); sums != nil {
		return sums
	}
	if l.o.ChooseOnly { // any map, and no pool follows
		return l.fit.moments(scoring.NewFeatureTransformer(f), l.o.Workers)
	}
	return l.evaluation(f).fill(f)
}

// ridge fits the training rows.
func (l *learner) ridge(f *scoring.Features) (*ridgeModel, error) {
	model, _, err := l.fitMoments(f).Ridge(ridgeLevel, 0)
	return &ridgeModel{model}, err
}

// prefixes are the shares of the chosen features, in the order of choice, that the guard tries: the
// last choices may do harm.
var prefixes = []float64{1, 0.75, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05}

// minLeadStdErrs is the lead, in standard errors, that fewer features need over more. The least
// loss on few rows is luck, and a model that is trained on more rows than the guard's can use more
// features: with 300 rows of airfoil and concrete, choosing the prefix of the least loss cost up to
// a quarter.
const minLeadStdErrs = 2

// verdict is the guard's result for features: the number to keep, and their loss on the held-out
// rows.
type verdict struct {
	kept                int
	loss, standardError float64
	losses              []float64 // sum of the losses of each identity's rows; nil if they are not finite
}

// beats reports whether the loss of v is clearly less than that of other, by the differences on the
// same rows.
func (r *rows) beats(v, other verdict) bool {
	if v.losses == nil || other.losses == nil {
		return v.losses != nil
	}
	less := make([]float64, len(v.losses))
	for i, loss := range v.losses {
		less[i] = other.losses[i] - loss
	}
	mean, standardError := r.spread(less)
	return mean > float64(minLeadStdErrs*standardError)
}

// spread returns the mean over rows of a quantity, given its sum over the rows of each identity, and
// the standard error of the mean. Copies of a row say nothing new, so identities are the
// observations: (Σ (sum - size·mean)²)^½ / n, the error of a ratio of two means.
func (r *rows) spread(sums []float64) (mean, standardError float64) {
	total := 0.0
	for _, v := range sums {
		total += v
	}
	n := float64(r.n)
	mean = total / n
	squares := 0.0
	for i, v := range sums {
		e := v - float64(r.sizes[i]*mean)
		squares += float64(e * e)
	}
	return mean, math.Sqrt(squares) / n
}

// judge returns the verdict on features. Given their order of choice, it returns the verdict on the
// longest prefix that the prefix of least loss does not beat. A loss that is not finite counts as
// the greatest number.
func (l *learner) judge(f *scoring.Features, order []int32) (verdict, error) {
	t := scoring.NewFeatureTransformer(f)
	fit, heldOut := l.fitMoments(f), l.heldOut.moments(t, l.o.Workers)
	whole, err := l.loss(t, fit, heldOut)
	found, best := []verdict{whole}, whole
	for _, share := range prefixes[1:] {
		n := int(share * float64(len(order)))
		if err != nil || n == 0 {
			break
		}
		var v verdict
		some := slices.Sorted(slices.Values(order[:n]))
		v, err = l.loss(scoring.NewFeatureTransformer(f.Pick(some)), fit.Pick(some), heldOut.Pick(some))
		found = append(found, v)
		if v.loss < best.loss {
			best = v
		}
	}
	longest := slices.IndexFunc(found, func(v verdict) bool { return !l.heldOut.beats(best, v) })
	return found[longest], err
}

// loss returns the verdict on the features of t, given their moments over both parts of the rows.
// The loss is the squared error of [learner.predict], as a share of the variances of the outputs,
// averaged over outputs.
func (l *learner) loss(t *scoring.Transformer, fit, heldOut *training.Sums) (verdict, error) {
	worst := verdict{kept: t.Len(), loss: math.MaxFloat64}
	predicted, err := l.predict(t, fit, heldOut)
	if errors.Is(err, training.ErrNotFinite) {
		return worst, nil
	}
	if err != nil {
		return worst, err
	}
	weights, err := l.shares(fit, t.Len())
	if err != nil {
		return worst, err
	}
	return l.heldOut.verdict(t.Len(), weights, func(at int) float64 { return float64(predicted[at]) }), nil
}

// predict returns the predictions for the held-out rows, [n·K], at the best λ of the path fitted on
// the training rows. If too few rows are held out to choose λ, training chooses it by generalised
// cross-validation.
func (l *learner) predict(t *scoring.Transformer, fit, heldOut *training.Sums) ([]float32, error) {
	found, err := training.Train(fit, heldOut, training.Options{Intercept: true})
	if err != nil {
		return nil, err
	}
	outputs := l.heldOut.outputs
	predicted := make([]float32, l.heldOut.n*outputs)
	t.EachBlock(l.heldOut.x, l.heldOut.n, l.o.Workers, func(phi []float32, first, next int) {
		found.OnFit.Predict(predicted[first*outputs:next*outputs], phi, next-first)
	})
	return predicted, nil
}

// verdict returns the verdict on predictions of the outputs of rows, [n·K], from a number of
// features, given the factors of the squared errors.
func (r *rows) verdict(features int, weights []float64, predicted func(at int) float64) verdict {
	losses := make([]float64, len(r.sizes))
	for i, unit := range r.unit {
		for k, weight := range weights {
			e := predicted(i*r.outputs+k) - float64(r.y[i*r.outputs+k])
			losses[unit] += float64(weight * float64(e*e))
		}
	}
	mean, standardError := r.spread(losses)
	if v := mean + standardError; math.IsInf(v, 0) || math.IsNaN(v) {
		return verdict{kept: features, loss: math.MaxFloat64}
	}
	return verdict{features, mean, standardError, losses}
}

// shares returns the factors of the squared error of each output: 1/variance over the number of
// outputs that vary, and 0 for a constant output.
func (l *learner) shares(fit *training.Sums, features int) ([]float64, error) {
	c, err := fit.Covariances()
	if err != nil {
		return nil, err
	}
	share, varying := make([]float64, l.fit.outputs), 0
	for k := range share {
		if v := c.Cov(features+k, features+k); v > 0 {
			share[k] = 1 / v
			varying++
		}
	}
	for k := range share {
		share[k] /= float64(max(varying, 1))
	}
	return share, nil
}
