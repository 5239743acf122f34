package training

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/training/internal/linear"
)

// FitAt fits the squared loss with one λ, as [Train] does for each λ that it tries. The error wraps
// [ErrNotFinite] if a sum is not finite.
func FitAt(fit *Sums, o Options, lambda float64) (*Model, error) {
	o.Budget.Spend(factorSeconds(fit.features) + solveSeconds(fit.features, fit.outputs))
	sys, err := newSystem(fit.gram.Settled(), o.Intercept)
	if err != nil {
		return nil, fmt.Errorf("fit %d rows: %w", fit.Rows, err)
	}
	answer, err := sys.solve(max(lambda, sys.rounding/4), linear.NewCholesky(fit.features), false)
	return answer.model, err
}

// FitLogisticAt fits the logistic loss with one λ, starting from the weights of another model of
// the same features and classes.
func FitLogisticAt(ctx context.Context, fit *Rows, o Options, lambda float64, begin *Model) (*Model, error) {
	p, err := newLogistic(fit, o)
	if err != nil {
		return nil, fmt.Errorf("fit %d rows: %w", fit.Len(), err)
	}
	factor := linear.NewCholesky(fit.features)
	a, err := p.solve(ctx, answer{x: p.pointOf(begin)}, lambda, solver{factor, pathTolerance, o.Budget})
	if err != nil {
		return nil, fmt.Errorf("fit %d rows: %w", fit.Len(), err)
	}
	return p.model(a.x, a.lambda), nil
}

// pointOf returns the weights of a model as a point of the problem. If the classes with rows
// differ, it returns the constant model.
func (p *logistic) pointOf(m *Model) []float64 {
	if m.Features != p.features || m.Outputs != p.columns || len(p.unseen) > 0 {
		return p.start
	}
	x := make([]float64, len(p.start))
	copy(x, m.Theta)
	if p.mean == nil {
		return x
	}
	for k := range p.columns {
		at := p.columns*p.features + k
		x[at] = m.Intercept[k]
		for j, theta := range m.Theta[k*p.features : (k+1)*p.features] {
			x[at] += float64(theta * p.mean[j])
		}
	}
	return x
}

// RowLosses returns the loss of a model on each row: for the squared loss the mean of (f − y)² over
// outputs, in units of y, and −log p for the logistic loss. z is rows×M. y is rows×K, for classes
// as written by [CodeClasses]. It panics if the lengths do not match.
func RowLosses(m *Model, z, y []float32, rows int) []float64 {
	pred := make([]float32, rows*m.Outputs)
	m.Predict(pred, z, rows)
	losses := make([]float64, rows)
	for n := range losses {
		f, want := pred[n*m.Outputs:(n+1)*m.Outputs], y[n*m.Outputs:(n+1)*m.Outputs]
		if m.Loss == LossLogistic {
			if class := CodedClass(want); class != UnknownClass {
				losses[n] = NegativeLog(f, class)
			}
			continue
		}
		for k := range f {
			d := float64(f[k]) - float64(want[k])
			losses[n] += d * d / float64(m.Outputs)
		}
	}
	return losses
}

// MeanAndError returns the mean of values and its standard error, which is infinite for a single
// value.
func MeanAndError(values []float64) (mean, standardError float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	return mean, meanError(values)
}
