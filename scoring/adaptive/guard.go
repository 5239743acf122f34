package adaptive

import (
	"math"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// ridgeLevel is λ of the fits that gradients come from, relative to the mean variance of the features.
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

// fitMoments returns the moments of features f, which t computes, over the rows learned from.
func (l *learner) fitMoments(f *scoring.Features, t *scoring.Transformer) *training.Sums {
	if sums := l.last.of(f); sums != nil {
		return sums
	}
	return l.fit.moments(t, l.o.Workers)
}

// ridge fits the rows learned from.
func (l *learner) ridge(f *scoring.Features) (*ridgeModel, error) {
	model, _, err := l.fitMoments(f, scoring.NewFeatureTransformer(f)).Ridge(ridgeLevel, 0)
	return &ridgeModel{model}, err
}

// judge returns the loss of features on the held-out rows and its standard error. The loss is that of the best λ of the
// path fitted on the other rows, as a share of the variances of the outputs, averaged over outputs. If too few rows are
// held out to choose λ, training chooses it by generalised cross-validation.
func (l *learner) judge(f *scoring.Features) (loss, standardError float64, err error) {
	t := scoring.NewFeatureTransformer(f)
	fit, heldOut := l.fitMoments(f, t), l.heldOut.moments(t, l.o.Workers)
	found, err := training.Train(fit, heldOut, training.Options{Intercept: true})
	if err != nil {
		return 0, 0, err
	}
	share, err := l.shares(fit)
	if err != nil {
		return 0, 0, err
	}
	sum, squares, outputs := 0.0, 0.0, l.heldOut.outputs
	predicted := make([]float32, min(l.heldOut.n, scoring.BlockRows)*outputs)
	t.EachBlock(l.heldOut.x, l.heldOut.n, l.o.Workers, func(phi []float32, first, next int) {
		found.OnFit.Predict(predicted[:(next-first)*outputs], phi, next-first)
		for i := first; i < next; i++ {
			own := 0.0
			for k, weight := range share {
				e := float64(predicted[(i-first)*outputs+k]) - float64(l.heldOut.y[i*outputs+k])
				own += float64(weight * float64(e*e))
			}
			sum += own
			squares += float64(own * own)
		}
	})
	n := float64(l.heldOut.n)
	mean := sum / n
	return mean, math.Sqrt(max(squares/n-float64(mean*mean), 0) / n), nil
}

// shares returns the factors of the squared error of each output: 1/variance over the number of outputs that vary, and
// 0 for a constant output.
func (l *learner) shares(fit *training.Sums) ([]float64, error) {
	c, err := fit.Covariances()
	if err != nil {
		return nil, err
	}
	share, varying := make([]float64, l.fit.outputs), 0
	for k := range share {
		if v := c.Cov(l.o.Features+k, l.o.Features+k); v > 0 {
			share[k] = 1 / v
			varying++
		}
	}
	for k := range share {
		share[k] /= float64(max(varying, 1))
	}
	return share, nil
}
