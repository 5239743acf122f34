package training

import (
	"fmt"
	"math"
)

// Regression accumulates the errors of predictions of K outputs. Use [NewRegression]: the zero
// value is not usable. Percentages are averaged over the outputs, so the unit of an output does not
// matter. With one output they are the plain formulas.
type Regression struct {
	Rows    int64
	outputs []outputError
	units   Units // nil = labels are already in their units
}

// Units converts a prediction or label of output k, as given to a metric, to the units of the
// label.
type Units func(k int, coded float64) float64

// outputError holds the sums for one output, of labels as given and in the units of the label.
type outputError struct {
	trainMean    float64 // prediction of the constant predictor
	coded, units errorSums
}

// errorSums are sums over rows. The second moment is kept about the running mean, so that labels
// far from zero lose no digits.
type errorSums struct {
	squared  float64 // Σ(f−y)²
	absolute float64 // Σ|f−y|
	constant float64 // Σ|c−y| of the constant predictor
	// Sums of e⁴, e²w² and w⁴ of the errors e = f−y and w = c−y.
	fourth, crossed, constantFourth float64
	constantSquared                 float64 // Σw²
	mean                            float64 // ȳ
	centred                         float64 // Σ(y−ȳ)²
}

// NewRegression returns the metric of no rows. trainMean holds the mean of each output over the
// training rows ([Sums.OutputMean]), which is the prediction of the constant predictor.
func NewRegression(trainMean []float64) *Regression {
	if len(trainMean) == 0 {
		panic("training: regression metric of 0 outputs")
	}
	r := &Regression{outputs: make([]outputError, len(trainMean))}
	for k, v := range trainMean {
		r.outputs[k].trainMean = v
	}
	return r
}

// InUnits makes r measure the unexplained variance, the RMSE and the MAE in the units of the label.
// The other figures keep the units of the added rows.
func (r *Regression) InUnits(units Units) *Regression {
	r.units = units
	return r
}

// Add adds rows of predictions and true outputs, both rows×K and row-major. It panics if the
// lengths do not match.
func (r *Regression) Add(pred, y []float32, rows int) {
	outputs := len(r.outputs)
	if rows < 0 || len(pred) != rows*outputs || len(y) != rows*outputs {
		panic(fmt.Sprintf("training: %d rows of %d outputs, given %d predictions and %d outputs",
			rows, outputs, len(pred), len(y)))
	}
	for n := range rows {
		r.Rows++
		for k := range r.outputs {
			o := &r.outputs[k]
			f, y := float64(pred[n*outputs+k]), float64(y[n*outputs+k])
			o.coded.add(f, y, o.trainMean, r.Rows)
			if r.units != nil {
				o.units.add(r.units(k, f), r.units(k, y), r.units(k, o.trainMean), r.Rows)
			} else {
				o.units = o.coded
			}
		}
	}
}

// add adds the n-th row, with the prediction of a constant: Welford, Technometrics 4 (1962), for
// the mean and centred second moment.
func (s *errorSums) add(f, y, constant float64, n int64) {
	s.squared += float64((f - y) * (f - y))
	s.absolute += math.Abs(f - y)
	s.constant += math.Abs(constant - y)
	e, w := float64((f-y)*(f-y)), float64((constant-y)*(constant-y))
	s.constantSquared += w
	s.fourth += float64(e * e)
	s.crossed += float64(e * w)
	s.constantFourth += float64(w * w)
	delta := y - s.mean
	s.mean += delta / float64(n)
	s.centred += float64(delta * (y - s.mean))
}

// RelativeSquaredError returns 100·Σ(f−y)²/Σy², the paper's regression error, in percent. If all
// labels are zero it returns 0 for exact predictions and otherwise 100. Without rows it returns 0.
func (r *Regression) RelativeSquaredError() float64 {
	return r.average(func(o outputError) float64 { return percent(o.coded.squared, o.coded.about(0, r.Rows)) })
}

// UnexplainedVariance returns 100·Σ(f−y)²/Σ(y−ȳ)² in percent, where ȳ is the mean over the added
// rows. If all labels are equal it returns 0 for exact predictions and otherwise 100. Without rows
// it returns 0.
func (r *Regression) UnexplainedVariance() float64 {
	return r.average(func(o outputError) float64 { return percent(o.units.squared, o.units.centred) })
}

// AbsoluteError returns 100·Σ|f−y|/Σ|c−y| in percent, where c is the prediction of the constant
// predictor.
func (r *Regression) AbsoluteError() float64 {
	return r.average(func(o outputError) float64 { return percent(o.units.absolute, o.units.constant) })
}

// ConstantError returns the RelativeSquaredError of the constant predictor, which predicts the
// training mean. The error of a useful model is lower.
func (r *Regression) ConstantError() float64 {
	return r.average(func(o outputError) float64 {
		return percent(o.coded.about(o.trainMean, r.Rows), o.coded.about(0, r.Rows))
	})
}

// about returns Σ(y−value)² over the n rows.
func (s errorSums) about(value float64, n int64) float64 {
	bias := value - s.mean
	return s.centred + float64(float64(n)*bias*bias)
}

// Measures returns every figure.
func (r *Regression) Measures() Measures {
	if r.Rows == 0 {
		return Measures{}
	}
	n := float64(r.Rows)
	each := func(figure func(errorSums) float64) []float64 {
		values := make([]float64, len(r.outputs))
		for k, o := range r.outputs {
			values[k] = figure(o.units)
		}
		return measuredAll(values)
	}
	unexplained := r.UnexplainedVariance()
	return Measures{
		RelativeSquaredError: measured(r.RelativeSquaredError()), ConstantError: measured(r.ConstantError()),
		AbsoluteError:       measured(r.AbsoluteError()),
		ConstantNoise:       measured(r.constantNoise()),
		UnexplainedVariance: measured(unexplained), R2: measured(1 - unexplained/100),
		RMSE:         each(func(s errorSums) float64 { return math.Sqrt(s.squared / n) }),
		MAE:          each(func(s errorSums) float64 { return s.absolute / n }),
		ConstantRMSE: each(func(s errorSums) float64 { return math.Sqrt(s.centred / n) }),
	}
}

// constantNoise returns the standard error of the unexplained variance, a ratio, to first order,
// with the labels about the training mean. Outputs are taken as dependent.
func (r *Regression) constantNoise() float64 {
	return r.average(func(o outputError) float64 {
		s := o.units
		whole := s.constantSquared
		share := s.squared / whole
		squares := s.fourth - float64(2*share*s.crossed) + float64(share*share*s.constantFourth)
		return 100 * math.Sqrt(max(0, squares)) / whole
	})
}

func (r *Regression) average(metric func(outputError) float64) float64 {
	if r.Rows == 0 {
		return 0
	}
	sum := 0.0
	for _, o := range r.outputs {
		sum += metric(o)
	}
	return sum / float64(len(r.outputs))
}

// percent returns 100·part/whole. A whole of zero has no percentage: the result is 0 if the part is
// zero as well and otherwise 100, so that reports stay finite.
func percent(part, whole float64) float64 {
	switch {
	case whole > 0:
		return 100 * part / whole
	case part > 0:
		return 100
	}
	return 0
}
