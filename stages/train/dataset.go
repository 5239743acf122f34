package train

import (
	"context"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// dataset is what a loss needs of the rows, those to fit on and those held out: sums for the squared loss, the rows
// themselves for the logistic one.
type dataset struct {
	fit, heldOut         *training.Sums
	fitRows, heldOutRows *training.Rows
}

func (t *Trainer) newDataset() dataset {
	m := t.set.Set.Features.Len()
	if t.config.Loss == training.LossLogistic {
		classes := max(2, t.outputs)
		return dataset{fitRows: training.NewRows(m, classes), heldOutRows: training.NewRows(m, classes)}
	}
	return dataset{fit: training.NewSums(m, t.outputs), heldOut: training.NewSums(m, t.outputs)}
}

func (d dataset) add(fit, heldOut *rowBuffer) {
	if d.fitRows != nil {
		d.fitRows.Add(fit.z, fit.class)
		d.heldOutRows.Add(heldOut.z, heldOut.class)
		return
	}
	d.fit.Add(fit.z, fit.rows, fit.y)
	d.heldOut.Add(heldOut.z, heldOut.rows, heldOut.y)
}

func (d dataset) merge(other dataset) {
	if d.fitRows != nil {
		d.fitRows.Append(other.fitRows)
		d.heldOutRows.Append(other.heldOutRows)
		return
	}
	d.fit.Merge(other.fit)
	d.heldOut.Merge(other.heldOut)
}

// rows is the number of rows to fit on.
func (d dataset) rows() int64 {
	if d.fitRows != nil {
		return int64(d.fitRows.Len())
	}
	return d.fit.Rows
}

// majority is the commonest class of the rows to fit on.
func (d dataset) majority() int32 {
	if d.fitRows != nil {
		return d.fitRows.MajorityClass()
	}
	return d.fit.MajorityClass()
}

// solution is what a fit found, with what only the logistic loss has.
type solution struct {
	*training.Fit
	logLoss  *float64
	descents []training.Convergence // of every λ
	last     *wire.Descent
}

func (d dataset) solve(ctx context.Context, o training.Options) (*solution, error) {
	if d.fitRows == nil {
		found, err := training.Train(d.fit, d.heldOut, o)
		return &solution{Fit: found}, err
	}
	found, err := training.TrainLogistic(ctx, d.fitRows, d.heldOutRows, o)
	if err != nil {
		return nil, err
	}
	result := &solution{Fit: &found.Fit, descents: found.Path, last: describeDescent(found.Last)}
	if found.Rule == training.RuleHeldOut {
		for i, level := range found.Levels {
			if level == found.Level {
				result.logLoss = wire.Measured(found.HeldOutLoss[i])
			}
		}
	}
	return result, nil
}

func describeDescent(c training.Convergence) *wire.Descent {
	return &wire.Descent{Iterations: c.Iterations, RelativeGradient: c.RelativeGradient, Converged: c.Converged}
}

// path is every λ with what it was judged by.
func (s *solution) path() []wire.LambdaPoint {
	var points []wire.LambdaPoint
	for i, lambda := range s.Lambdas {
		point := wire.LambdaPoint{Lambda: lambda}
		if i < len(s.HeldOutLoss) {
			point.HeldOutLoss = wire.Measured(s.HeldOutLoss[i])
		}
		if i < len(s.GCV) {
			point.GCV = wire.Measured(s.GCV[i])
		}
		if i < len(s.descents) {
			point.Descent = describeDescent(s.descents[i])
		}
		points = append(points, point)
	}
	return points
}
