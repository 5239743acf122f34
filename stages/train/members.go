package train

import (
	"context"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// solution is the result of a fit: the mean of the models of the members, with the fit of each.
type solution struct {
	*training.Fit
	members []*memberFit
	last    *wire.Descent // logistic loss: the slowest member's
}

// memberFit is the fit of a member, with the descents of the logistic loss.
type memberFit struct {
	*training.Fit
	descents []training.Convergence // one for every λ
	last     training.Convergence
}

// solveMembers fits the model of every member, each with its own λ.
func (t *Trainer) solveMembers(ctx context.Context, d dataset, o training.Options) (*solution, error) {
	s := &solution{}
	for j := range d.fit {
		own := o
		own.Budget = o.Budget.Within(1 / float64(len(d.fit)-j))
		fit, err := d.solve(ctx, j, own)
		if err != nil {
			return nil, err
		}
		s.members = append(s.members, fit)
		if d.fit[j].rows != nil && (s.last == nil || fit.last.Iterations > s.last.Iterations) {
			s.last = describeDescent(fit.last)
		}
	}
	s.Fit = s.members[0].Fit
	if len(s.members) > 1 {
		s.Fit = t.meanFit(s.members)
	}
	return s, nil
}

// solve fits the model of a member.
func (d dataset) solve(ctx context.Context, member int, o training.Options) (*memberFit, error) {
	fit, heldOut := d.fit[member], d.heldOut[member]
	if fit.rows == nil {
		found, err := training.Train(fit.sums, heldOut.sums, o)
		return &memberFit{Fit: found}, err
	}
	found, err := training.TrainLogistic(ctx, fit.rows.Rows, heldOut.rows.Rows, o)
	if err != nil {
		return nil, err
	}
	return &memberFit{Fit: &found.Fit, descents: found.Path, last: found.Last}, nil
}

// meanFit returns the fit of the mean of the members. Its path is theirs, see [solution.path].
func (t *Trainer) meanFit(members []*memberFit) *training.Fit {
	mean := *members[0].Fit
	var models, onFit []*training.Model
	for _, m := range members {
		models, onFit = append(models, m.Model), append(onFit, m.OnFit)
	}
	mean.Model = t.mean(models)
	mean.OnFit = mean.Model
	if members[0].OnFit != members[0].Model {
		mean.OnFit = t.mean(onFit)
	}
	mean.Economies, mean.ConstantFeatures = nil, 0
	for _, m := range members {
		mean.AtEdge = mean.AtEdge || m.AtEdge
		mean.ConstantFeatures += m.ConstantFeatures
		for _, e := range m.Economies {
			if !slices.Contains(mean.Economies, e) {
				mean.Economies = append(mean.Economies, e)
			}
		}
	}
	return &mean
}

// mean returns the mean of the models of the members as one model on all features.
func (t *Trainer) mean(models []*training.Model) *training.Model {
	if len(models) == 1 {
		return models[0]
	}
	return training.Mean(t.set.Set.Features.Len(), t.members, models)
}

// onFit returns the model of each member that was fitted without the held-out rows.
func (s *solution) onFit() (models []*training.Model) {
	for _, m := range s.members {
		models = append(models, m.OnFit)
	}
	return models
}

func describeDescent(c training.Convergence) *wire.Descent {
	return &wire.Descent{Iterations: c.Iterations, RelativeGradient: c.RelativeGradient, Converged: c.Converged}
}

// path returns every λ of every member with its losses.
func (s *solution) path() []wire.LambdaPoint {
	var points []wire.LambdaPoint
	for j, fit := range s.members {
		for i, lambda := range fit.Lambdas {
			point := wire.LambdaPoint{Lambda: lambda}
			if len(s.members) > 1 {
				point.Member = j + 1
			}
			if i < len(fit.HeldOutLoss) {
				point.HeldOutLoss = wire.Measured(fit.HeldOutLoss[i])
			}
			if i < len(fit.GCV) {
				point.GCV = wire.Measured(fit.GCV[i])
			}
			if i < len(fit.descents) {
				point.Descent = describeDescent(fit.descents[i])
			}
			points = append(points, point)
		}
	}
	return points
}

// fitAt fits the model of every member with a λ for each, starting from other models.
func (d dataset) fitAt(
	ctx context.Context,
	o training.Options,
	lambdas []float64,
	begin []*training.Model,
) (models []*training.Model, err error) {
	for j, fit := range d.fit {
		var model *training.Model
		if fit.rows == nil {
			model, err = training.FitAt(fit.sums, o, lambdas[j])
		} else {
			model, err = training.FitLogisticAt(ctx, fit.rows.Rows, o, lambdas[j], begin[j])
		}
		if err != nil {
			return nil, err
		}
		models = append(models, model)
	}
	return models, nil
}
