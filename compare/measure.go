package compare

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"github.com/eerf-stream/eerf/internal/cputime"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// measured is the result of a model on the test rows.
type measured struct {
	training.Measures
	// error is by the measure of the comparison.
	error float64
	// rowLoss is the contribution of each test row; error is its mean. Rows of unknown classes are
	// wrong, but have no log loss.
	rowLoss []float32
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
	if test.task == scoring.Regression {
		metric := training.NewRegression(r.trainMean).InUnits(r.units)
		metric.Add(predicted, test.y, test.rows)
		m := &measured{Measures: metric.Measures()}
		m.error, m.rowLoss = r.shareOfConstant(predicted)
		return m
	}
	metric := training.NewClassification(test.outputs, r.majority)
	metric.Logits = loss == training.LossLogistic
	metric.Add(predicted, test.class)
	metric.AddUnknown(int64(r.unknown))
	m := &measured{Measures: metric.Measures(), rowLoss: make([]float32, test.rows)}
	m.NameClasses(r.classNames)
	sum := 0.0
	for i, class := range test.class {
		v := r.classLoss(predicted[i*test.outputs:(i+1)*test.outputs], class)
		m.rowLoss[i] = float32(v)
		sum += v
	}
	if r.options.Measure == training.MeasureMisclassification {
		m.rowLoss = append(m.rowLoss, slices.Repeat([]float32{100}, r.unknown)...)
		sum += 100 * float64(r.unknown)
	}
	m.error = sum / float64(len(m.rowLoss))
	return m
}

// classLoss returns the loss of a row of classes.
func (r *repeat) classLoss(predicted []float32, class int32) float64 {
	switch {
	case r.options.Measure == training.MeasureLogLoss:
		return training.NegativeLog(predicted, class)
	case training.DecideClass(predicted, r.test.outputs) != class:
		return 100
	}
	return 0
}

// shareOfConstant returns the mean loss of predictions of a regression as a share of the loss of a
// constant, in percent and averaged over the outputs, and the contribution of each row: to first
// order, how much the share would change if there were more rows like it.
func (r *repeat) shareOfConstant(predicted []float32) (percent float64, rowLoss []float32) {
	outputs, n := r.test.outputs, float64(r.test.rows)
	rowLoss = make([]float32, r.test.rows)
	loss, base := make([]float64, r.test.rows), make([]float64, r.test.rows)
	for k := range outputs {
		constant := r.constantOf(k)
		for i := range r.test.rows {
			at := i*outputs + k
			y := r.counted(at, r.test.y[at])
			loss[i] = r.numberLoss(r.counted(at, predicted[at]), y)
			base[i] = r.numberLoss(constant, y)
		}
		whole := floats.Sum(base) / n
		share := floats.Sum(loss) / n
		switch {
		case whole > 0:
			share *= 100 / whole
		case share > 0:
			share = 100
		}
		percent += share / float64(outputs)
		for i := range loss {
			v := share
			if whole > 0 {
				v = (100*loss[i] - share*(base[i]-whole)) / whole
			}
			rowLoss[i] += float32(v / float64(outputs))
		}
	}
	return percent, rowLoss
}

// numberLoss returns the loss of a prediction of a number.
func (r *repeat) numberLoss(predicted, y float64) float64 {
	if r.options.Measure == training.MeasureAbsoluteError {
		return math.Abs(predicted - y)
	}
	return (predicted - y) * (predicted - y)
}

// constantOf returns the prediction of output k that has the error 100 %: the mean of the test
// labels for the unexplained variance, of the training labels for absolute errors, and 0 for the
// paper's measure.
func (r *repeat) constantOf(k int) float64 {
	switch r.options.Measure {
	case training.MeasureRelativeSquaredError:
		return 0
	case training.MeasureAbsoluteError:
		return r.counted(k, float32(r.trainMean[k]))
	}
	mean := 0.0
	for i := range r.test.rows {
		at := i*r.test.outputs + k
		mean += r.counted(at, r.test.y[at]) / float64(r.test.rows)
	}
	return mean
}

// counted converts the coded value at index i of the test labels for the error: to the units of the
// label, or, for the paper's measure, not at all.
func (r *repeat) counted(i int, coded float32) float64 {
	if r.options.Measure == training.MeasureRelativeSquaredError {
		return float64(coded)
	}
	return r.units(i%r.test.outputs, float64(coded))
}

// constant measures the predictor that ignores all features: the shares of the training classes, or
// the mean label.
func (r *repeat) constant() *measured {
	test := r.test
	one := make([]float32, test.outputs)
	if test.task == scoring.Regression {
		for k := range one {
			one[k] = float32(r.trainMean[k])
		}
	} else {
		r.train.logShares(one)
	}
	m := r.evaluate(slices.Repeat(one, test.rows), r.options.Loss)
	if r.options.Measure == training.MeasureUnexplainedVariance { // of the best constant for these rows
		m.error = 100
		for i := range m.rowLoss {
			m.rowLoss[i] = 100
		}
	}
	return m
}

// overlap returns the number of test rows for each training row.
func (r *repeat) overlap() float64 { return float64(r.test.rows) / float64(r.train.rows) }
