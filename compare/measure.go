package compare

import (
	"math"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/eerf-stream/eerf/internal/cputime"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// measured is the result of a model on the test rows.
type measured struct {
	training.Measures
	// percent is the error by which methods are compared: misclassification, unexplained variance,
	// or relative squared error.
	percent float64
	// rowLoss is the contribution of each test row; percent is its mean.
	rowLoss []float64
}

// measure predicts the test rows.
func (r *repeat) measure(f *fitted) *measured {
	predicted := make([]float32, r.test.rows*r.test.outputs)
	r.predict(f, predicted)
	return r.evaluate(predicted, f.model.Loss)
}

// predict featurizes the test rows and predicts them, on one core.
func (r *repeat) predict(f *fitted, predicted []float32) {
	outputs := r.test.outputs
	f.transform.EachBlock(r.test.x, r.test.rows, 1, func(phi []float32, first, next int) {
		f.model.Predict(predicted[first*outputs:next*outputs], phi, next-first)
	})
}

// timedSeconds is the duration for which predictions of the test rows are repeated to time them.
// Tests set it to 0.
var timedSeconds = 0.05

// rowMicroseconds returns the processor time per test row in the fastest of several passes, which
// other programs disturb least.
func (r *repeat) rowMicroseconds(f *fitted) float64 {
	predicted, least := make([]float32, r.test.rows*r.test.outputs), math.Inf(1)
	for first := time.Now(); math.IsInf(least, 1) || time.Since(first).Seconds() < timedSeconds; {
		began, processor := time.Now(), cputime.Process()
		r.predict(f, predicted)
		used := (cputime.Process() - processor).Seconds()
		if used <= 0 { // unknown
			used = time.Since(began).Seconds()
		}
		least = min(least, used)
	}
	return 1e6 * least / float64(r.test.rows)
}

// evaluate measures predictions of the test rows by a model trained with this loss.
func (r *repeat) evaluate(predicted []float32, loss string) *measured {
	test := r.test
	m := &measured{rowLoss: make([]float64, test.rows)}
	if test.task == scoring.Regression {
		metric := training.NewRegression(r.trainMean).InUnits(r.units)
		metric.Add(predicted, test.y, test.rows)
		m.Measures, m.percent = metric.Measures(), metric.UnexplainedVariance()
		if r.options.Paper {
			m.percent = metric.RelativeSquaredError()
		}
		for i, f := range predicted {
			d := r.counted(i, f) - r.counted(i, test.y[i])
			m.rowLoss[i/test.outputs] += d * d
		}
		if sum := floats.Sum(m.rowLoss); sum > 0 {
			floats.Scale(m.percent*float64(test.rows)/sum, m.rowLoss)
		}
		return m
	}
	metric := training.NewClassification(test.outputs, r.majority)
	metric.Logits = loss == training.LossLogistic
	metric.Add(predicted, test.class)
	m.Measures, m.percent = metric.Measures(), metric.Misclassification()
	m.NameClasses(r.classNames)
	for i, class := range test.class {
		if training.DecideClass(predicted[i*test.outputs:(i+1)*test.outputs], test.outputs) != class {
			m.rowLoss[i] = 100
		}
	}
	return m
}

// counted converts the coded value at index i of the test labels for the error: to the units of the
// label, or, with --paper, not at all.
func (r *repeat) counted(i int, coded float32) float64 {
	if r.options.Paper {
		return float64(coded)
	}
	return r.units(i%r.test.outputs, float64(coded))
}

// constantError returns the error of the predictor that ignores all features: the commonest
// training class, or the mean label.
func (r *repeat) constantError() float64 {
	if r.test.task == scoring.Regression {
		if !r.options.Paper {
			return 100
		}
		metric := training.NewRegression(r.trainMean)
		metric.Add(make([]float32, len(r.test.y)), r.test.y, r.test.rows)
		return metric.ConstantError()
	}
	metric := training.NewClassification(r.test.outputs, r.majority)
	metric.Add(make([]float32, len(r.test.y)), r.test.class)
	return metric.ConstantError()
}
