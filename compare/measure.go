package compare

import (
	"context"
	"time"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// measured are the errors of a model on the test rows.
type measured struct {
	// percent is the error that methods are compared by: misclassification, or the relative squared error.
	percent float64
	// unexplained is the unexplained variance, of a regression.
	unexplained float64
	// rowLoss is the loss of each test row: 1 where its class is wrong, or its squared error.
	rowLoss []float64
}

// measure predicts the test rows.
func (r *repeat) measure(ctx context.Context, f *fitted) (*measured, error) {
	predicted := make([]float32, r.test.rows*r.test.outputs)
	if err := r.predict(ctx, f, predicted); err != nil {
		return nil, err
	}
	return r.judge(predicted), nil
}

// predict featurizes the test rows, and predicts them.
func (r *repeat) predict(ctx context.Context, f *fitted, predicted []float32) error {
	outputs := r.test.outputs
	return featurize(ctx, f.transform, r.test, 0, r.test.rows, func(at int, z []float32) {
		n := len(z) / f.transform.Len()
		f.model.Predict(predicted[at*outputs:(at+n)*outputs], z, n)
	})
}

// timedSeconds is how long predictions of few test rows are made again to be timed.
const timedSeconds = 0.01

// rowMicroseconds is the time of a test row in the fastest of some passes over them; first is that of the first pass.
func (r *repeat) rowMicroseconds(ctx context.Context, f *fitted, first float64) (float64, error) {
	predicted, least := make([]float32, r.test.rows*r.test.outputs), first
	for spent := first; spent < timedSeconds; {
		began := time.Now()
		if err := r.predict(ctx, f, predicted); err != nil {
			return 0, err
		}
		seconds := time.Since(began).Seconds()
		least = min(least, seconds)
		spent += seconds
	}
	return 1e6 * least / float64(r.test.rows), nil
}

// judge measures predictions of the test rows.
func (r *repeat) judge(predicted []float32) *measured {
	test := r.test
	m := &measured{rowLoss: make([]float64, test.rows)}
	if test.task == scoring.Regression {
		metric := training.NewRegression(r.trainMean)
		metric.Add(predicted, test.y, test.rows)
		m.percent, m.unexplained = metric.RelativeSquaredError(), metric.UnexplainedVariance()
		for i, f := range predicted {
			d := float64(f) - float64(test.y[i])
			m.rowLoss[i/test.outputs] += d * d
		}
		return m
	}
	metric := training.NewClassification(test.outputs, r.majority)
	metric.Add(predicted, test.class)
	m.percent = metric.Misclassification()
	for i, class := range test.class {
		if training.DecideClass(predicted[i*test.outputs:(i+1)*test.outputs], test.outputs) != class {
			m.rowLoss[i] = 1
		}
	}
	return m
}

// constantError is the error of the predictor that looks at no feature: the commonest training class, or the mean
// training label.
func (r *repeat) constantError() float64 {
	if r.test.task == scoring.Regression {
		metric := training.NewRegression(r.trainMean)
		metric.Add(make([]float32, len(r.test.y)), r.test.y, r.test.rows)
		return metric.ConstantError()
	}
	metric := training.NewClassification(r.test.outputs, r.majority)
	metric.Add(make([]float32, len(r.test.y)), r.test.class)
	return metric.ConstantError()
}

// rowWeights are what the losses of test rows are divided by the sum of: 1 for a class, Σ_k y_k² for a regression.
func (r *repeat) rowWeights() []float64 {
	weights := make([]float64, r.test.rows)
	for i := range weights {
		if r.test.task != scoring.Regression {
			weights[i] = 1
			continue
		}
		for _, y := range r.test.y[i*r.test.outputs : (i+1)*r.test.outputs] {
			weights[i] += float64(y) * float64(y)
		}
	}
	return weights
}
