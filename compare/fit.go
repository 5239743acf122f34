package compare

import (
	"context"
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// fitted is a model with the figures of its training.
type fitted struct {
	model     *training.Model
	transform *scoring.Transformer
	// loss is the least loss of all λ, by which λ was chosen: the mean loss on held-out rows, or
	// generalised cross-validation; of several members the mean.
	loss       float64
	atEdge     bool
	iterations int // iterations of the logistic loss, over all λ
	note       string
}

// fit trains a model on the features of a set: the mean of a model on each of its members.
func (r *repeat) fit(ctx context.Context, choice *Selected) (*fitted, error) {
	members := choice.Set.MemberFeatures()
	if len(members) == 1 {
		return r.fitMember(ctx, scoring.NewTransformer(choice.Set))
	}
	mean := &fitted{transform: scoring.NewTransformer(choice.Set)}
	var models []*training.Model
	for _, features := range members {
		f, err := r.fitMember(ctx, scoring.NewTransformer(choice.Set.Pick(features)))
		if err != nil {
			return nil, err
		}
		models = append(models, f.model)
		mean.loss += f.loss / float64(len(members))
		mean.atEdge = mean.atEdge || f.atEdge
		mean.iterations += f.iterations
		if mean.note == "" {
			mean.note = f.note
		}
	}
	mean.model = training.Mean(mean.transform.Len(), members, models)
	return mean, nil
}

// fitMember trains a model on the features of a member: it chooses λ on the held-out rows, then
// refits on all training rows. Only this function distinguishes losses.
func (r *repeat) fitMember(ctx context.Context, transform *scoring.Transformer) (*fitted, error) {
	if r.options.Loss == training.LossLogistic {
		return r.fitLogistic(ctx, transform)
	}
	return r.fitSquared(transform)
}

func (r *repeat) fitSquared(transform *scoring.Transformer) (*fitted, error) {
	fit, heldOut := r.sumProducts(transform)
	found, err := training.Train(fit, heldOut, r.training())
	if err != nil {
		return nil, err
	}
	losses := found.HeldOutLoss
	if found.Rule != training.RuleHeldOut {
		losses = found.GCV
	}
	return newFitted(found, transform, losses), nil
}

func (r *repeat) fitLogistic(ctx context.Context, transform *scoring.Transformer) (*fitted, error) {
	fit, heldOut := r.keepRows(transform)
	found, err := training.TrainLogistic(ctx, fit, heldOut, r.training())
	if err != nil {
		return nil, err
	}
	f := newFitted(&found.Fit, transform, found.HeldOutLoss)
	for _, step := range append(found.Path, found.Last) {
		f.iterations += step.Iterations
	}
	if !found.Last.Converged { // others on the path only compete for λ
		f.note = join(f.note, fmt.Sprintf("the fit did not converge in %d iterations", found.Last.Iterations))
	}
	return f, nil
}

// training returns the options of package training.
func (r *repeat) training() training.Options {
	return training.Options{Intercept: r.options.Intercept, Grid: r.options.Grid}
}

func newFitted(found *training.Fit, transform *scoring.Transformer, losses []float64) *fitted {
	f := &fitted{model: found.Model, transform: transform, loss: math.Inf(1), atEdge: found.AtEdge}
	if found.Rule != training.RuleHeldOut {
		f.note = fmt.Sprintf("λ by %s: %d held-out rows", found.Rule, found.HeldOutRows)
	}
	for _, v := range losses {
		f.loss = min(f.loss, v)
	}
	return f
}
