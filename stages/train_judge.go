package stages

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// reasonBytes bounds the text of an error in a record.
const reasonBytes = 200

// judge compares a challenger with the model in use and decides what becomes of it.
func (r *TrainRunner) judge(ctx context.Context, challenger *wire.Model) (*wire.Judgement, error) {
	promote := r.Settings.Train.Promote
	j := &wire.Judgement{Rule: promote.Rule, Margin: promote.Margin}
	var pin wire.Pin
	if current := r.models.Current(); current != nil {
		j.Incumbent, pin = current.ID, current.Pin
		if err := r.compare(ctx, j, challenger); err != nil {
			return nil, err
		}
	}
	j.Verdict = verdictOf(promote, pin, j)
	return j, nil
}

// compare measures a challenger and the incumbent, where both are there to be measured.
func (r *TrainRunner) compare(ctx context.Context, j *wire.Judgement, challenger *wire.Model) error {
	incumbent, err := r.incumbent(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		j.NotCompared = shorten(err.Error())
		return nil
	}
	if incumbent.FeatureSetID == challenger.FeatureSetID {
		if incumbent.Model.Features != challenger.Model.Features || incumbent.Model.Outputs != challenger.Model.Outputs {
			j.NotCompared = "the model in use does not fit its feature set"
			return nil
		}
		r.other = nil
		return r.trainer.contest(j, challenger, incumbent, r.trainer.sameSet(incumbent), 0)
	}
	j.IncumbentSet = incumbent.FeatureSetID
	if err := r.compareAcross(ctx, j, challenger, incumbent); err != nil {
		if ctx.Err() != nil {
			return err
		}
		r.logger.Warn("model not compared with that of another feature set", zap.String("model", incumbent.ID), zap.Error(err))
		j.NotCompared = shorten(err.Error())
	}
	return nil
}

// incumbent loads the model in use.
func (r *TrainRunner) incumbent(ctx context.Context) (*wire.Model, error) {
	entry, err := r.models.Find(r.models.Current().ID)
	if err != nil {
		return nil, err
	}
	if r.inUse == nil || r.inUse.ID != entry.ID {
		if r.inUse, err = r.models.Load(ctx, entry); err != nil {
			return nil, err
		}
	}
	return r.inUse, nil
}

// compareAcross compares on the events behind the rows.
func (r *TrainRunner) compareAcross(ctx context.Context, j *wire.Judgement, challenger, incumbent *wire.Model) error {
	if !r.other.is(r.trainer, incumbent) {
		set, ok := r.Watch.State().Sets[incumbent.FeatureSetID]
		if !ok {
			return fmt.Errorf("%w: feature set %s is not on its topic any more", errNotComparable, incumbent.FeatureSetID)
		}
		var err error
		if r.other, err = newOtherSet(r.Runtime, r.trainer, incumbent, set.Set, r.Settings.Limits.decoder()); err != nil {
			return err
		}
	}
	return r.trainer.contest(j, challenger, incumbent, r.other.rival(ctx), acrossRows)
}

// shorten cuts a text for a record.
func shorten(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), reasonBytes)])
}

// Fitted is a model that was just made, and what became of it.
type Fitted struct {
	*wire.Model
	Current   bool // it is in use now
	Unchanged bool // it was in use before: no other rows came
}

// publish judges a model, writes it to its topic and, where it is to be, makes it the one in use. A model that is on the topic
// already is not written again unless it is promoted: its record tells how it stood the first time.
func (r *TrainRunner) publish(ctx context.Context, model *wire.Model) (*Fitted, error) {
	if current, ok := r.models.CurrentEntry(); ok && current.ID == model.ID {
		model.Judgement = nil
		if current.Model != nil {
			model.Judgement = current.Model.Judgement
		}
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
		if fitted.Current, err = r.promote(ctx, model); err != nil {
			return nil, err
		}
	}
	r.Counters.challenged(judgement)
	defer r.tell()
	return fitted, r.retire(ctx)
}
