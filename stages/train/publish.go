package train

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
)

// Fitted is a new model with its outcome.
type Fitted struct {
	*wire.Model
	Current   bool // it is current now
	Unchanged bool // it already was current, because there were no new rows
	// UnseenClasses are the most frequent classes that the feature set does not know.
	UnseenClasses []encoder.ClassRows
}

// publish judges a model, writes it to its topic and, if it wins, makes it current. A model that is
// already on the topic is not rewritten unless it is promoted, because its record holds its first
// judgement.
func (r *Runner) publish(ctx context.Context, model *wire.Model) (*Fitted, error) {
	if current, ok := r.models.CurrentEntry(); ok && current.ID == model.ID && current.Model != nil {
		model.Judgement = current.Model.Judgement
		return &Fitted{Model: model, Current: true, Unchanged: true}, nil
	}
	judgement, err := r.judge(ctx, model)
	if err != nil {
		return nil, fmt.Errorf("judge model %s: %w", model.ID, err)
	}
	model.Judgement = judgement
	fitted := &Fitted{Model: model}
	if err := r.writeModel(ctx, model); err != nil {
		return nil, err
	}
	if judgement.Verdict.Promoted() {
		fitted.Current, err = r.promote(ctx, model)
		if err != nil {
			return nil, err
		}
	}
	r.Env.Meter.Judged(judgement)
	defer r.report(ctx)
	return fitted, r.Env.State.RetireModels(ctx, r.Env.Clock())
}

// writeModel writes the record of a challenger.
func (r *Runner) writeModel(ctx context.Context, model *wire.Model) error {
	failpoint.Hit(failpoint.ModelBefore)
	if _, err := r.models.Find(model.ID); err == nil && !model.Promoted() {
		return nil
	}
	return r.Env.State.PublishModel(ctx, model)
}

// promote writes the pointer to a model to its topic. A pointer that was written in the meantime
// stays.
func (r *Runner) promote(ctx context.Context, model *wire.Model) (stays bool, err error) {
	failpoint.Hit(failpoint.ModelBetween)
	stays, err = r.Env.State.PointModel(ctx, r.models, wire.Current{
		ID: model.ID, Sequence: model.Sequence, Time: model.TrainedAt, Replaced: model.Judgement.Incumbent,
	})
	failpoint.Hit(failpoint.ModelAfter)
	return stays, err
}
