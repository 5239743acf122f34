package stages

import (
	"context"
	"errors"
	"fmt"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/training"
)

// ErrRowMemory says that the rows of the logistic loss do not fit the memory that they may take.
var ErrRowMemory = errors.New("the rows do not fit train.row_memory")

// trainStock is what a loss takes from the rows, those to fit on and those held out: sums for the squared loss, the rows
// themselves for the logistic one.
type trainStock struct {
	fit, held         *training.Sums
	fitRows, heldRows *training.Rows
}

func (t *Trainer) newStock() trainStock {
	m := t.set.Set.Features.Len()
	if t.config.Loss == training.LossLogistic {
		classes := max(2, t.outputs)
		return trainStock{fitRows: training.NewRows(m, classes), heldRows: training.NewRows(m, classes)}
	}
	return trainStock{fit: training.NewSums(m, t.outputs), held: training.NewSums(m, t.outputs)}
}

// reserve takes memory for so many rows more.
func (p *TrainPartition) reserve(rows int) error {
	if p.config.Loss != training.LossLogistic {
		return nil
	}
	m := p.set.Set.Features.Len()
	if kept := p.kept.Add(int64(rows) * int64(m+1) * 4); kept > p.config.RowMemory {
		return pipeline.Permanent(fmt.Errorf("%w: more than %d rows of %d features take more than %d bytes; raise it, or use train.loss %s, which keeps none",
			ErrRowMemory, p.config.RowMemory/int64(m+1)/4, m, p.config.RowMemory, training.LossSquared))
	}
	return nil
}

func (s trainStock) add(fit, held *rowBuffer) {
	if s.fitRows != nil {
		s.fitRows.Add(fit.z, fit.class)
		s.heldRows.Add(held.z, held.class)
		return
	}
	s.fit.Add(fit.z, fit.rows, fit.y)
	s.held.Add(held.z, held.rows, held.y)
}

func (s trainStock) merge(other trainStock) {
	if s.fitRows != nil {
		s.fitRows.Append(other.fitRows)
		s.heldRows.Append(other.heldRows)
		return
	}
	s.fit.Merge(other.fit)
	s.held.Merge(other.held)
}

// rows is the number of rows to fit on.
func (s trainStock) rows() int64 {
	if s.fitRows != nil {
		return int64(s.fitRows.Len())
	}
	return s.fit.Rows
}

// majority is the commonest class of the rows to fit on.
func (s trainStock) majority() int32 {
	if s.fitRows != nil {
		return s.fitRows.MajorityClass()
	}
	return s.fit.MajorityClass()
}

// trained is a fit with what only the logistic loss has.
type trained struct {
	*training.Fit
	logLoss  *float64
	descents []training.Convergence // of every λ
	last     *wire.Descent
}

func (s trainStock) train(ctx context.Context, o training.Options) (*trained, error) {
	if s.fitRows == nil {
		fit, err := training.Train(s.fit, s.held, o)
		return &trained{Fit: fit}, err
	}
	found, err := training.TrainLogistic(ctx, s.fitRows, s.heldRows, o)
	if err != nil {
		return nil, err
	}
	result := &trained{Fit: &found.Fit, descents: found.Path, last: describeDescent(found.Last)}
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
func (t *trained) path() []wire.LambdaPoint {
	var points []wire.LambdaPoint
	for i, lambda := range t.Lambdas {
		point := wire.LambdaPoint{Lambda: lambda}
		if i < len(t.HeldOutLoss) {
			point.HeldOutLoss = wire.Measured(t.HeldOutLoss[i])
		}
		if i < len(t.GCV) {
			point.GCV = wire.Measured(t.GCV[i])
		}
		if i < len(t.descents) {
			point.Descent = describeDescent(t.descents[i])
		}
		points = append(points, point)
	}
	return points
}
