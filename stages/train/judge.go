package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

// reasonRunes bounds the text of an error in a record.
const reasonRunes = 200

// judge compares a challenger with the model in use and decides whether to promote it.
func (r *Runner) judge(ctx context.Context, challenger *wire.Model) (*wire.Judgement, error) {
	promote := r.Config.Promote
	j := &wire.Judgement{Rule: promote.Rule}
	var pin wire.Pin
	if current := r.models.Current; current != nil {
		j.Incumbent, pin = current.ID, current.Pin
		err := r.compare(ctx, j, challenger)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			j.NotCompared = shorten(err.Error())
		}
	}
	settleMargin(promote.Margin, j)
	j.Verdict = verdictOf(promote, pin, j)
	return j, nil
}

// compare measures a challenger and the model in use, and records the result in j. An error says why they are not
// compared.
func (r *Runner) compare(ctx context.Context, j *wire.Judgement, challenger *wire.Model) error {
	entry, err := r.models.Find(r.models.Current.ID)
	if err != nil {
		return err
	}
	if err := r.loadInUse(ctx, entry); err != nil {
		return err
	}
	most := 0
	if incumbent := r.inUse; incumbent.FeatureSetID != challenger.FeatureSetID {
		j.IncumbentSet, most = incumbent.FeatureSetID, acrossRows
	}
	against, err := r.opponent(ctx, r.inUse)
	if err != nil {
		return err
	}
	return r.trainer.compare(ctx, j, challenger, r.inUse, against, most)
}

// loadInUse loads the model in use, unless that is done.
func (r *Runner) loadInUse(ctx context.Context, entry state.ModelEntry) error {
	if r.inUse != nil && r.inUse.ID == entry.ID {
		return nil
	}
	model, err := r.State.LoadModel(ctx, entry)
	if err == nil {
		r.inUse = model
	}
	return err
}

// opponent returns what predicts with the model in use.
func (r *Runner) opponent(ctx context.Context, incumbent *wire.Model) (opponent, error) {
	if incumbent.FeatureSetID == r.trainer.FeatureSetID() {
		r.other = nil
		return r.newOpponent(incumbent, r.trainer.set)
	}
	if r.other != nil && r.other.trainer == r.trainer && r.other.model.ID == incumbent.ID {
		return r.other, nil // it remembers predictions
	}
	entry, ok := r.State.Snapshot().Sets[incumbent.FeatureSetID]
	if !ok {
		return nil, fmt.Errorf("feature set %s is not on its topic any more", incumbent.FeatureSetID)
	}
	set, err := r.State.LoadSet(ctx, entry)
	if err != nil {
		return nil, err
	}
	return r.newOpponent(incumbent, set)
}

// newOpponent returns what predicts with a model of a feature set, unless the model cannot be compared.
func (r *Runner) newOpponent(model *wire.Model, set *wire.FeatureSet) (opponent, error) {
	t := r.trainer
	ours, theirs := t.set.Encoder.Label, set.Encoder.Label
	switch {
	case theirs == nil || t.set.Task != set.Task || !slices.Equal(ours.Columns, theirs.Columns) || ours.Transform != theirs.Transform:
		return nil, errors.New("the labels of their feature sets differ")
	case model.Model.Features != set.Set.Features.Len() || model.Model.Outputs != set.Encoder.Outputs():
		return nil, errors.New("the model in use does not fit its feature set")
	case model.Judged == nil:
		return nil, errors.New("the model in use comes without the weights that it is to be judged by")
	case set == t.set:
		return sameSet{t, model}, nil
	}
	r.other = newOtherSet(r, model, set)
	return r.other, nil
}

// settleMargin records how much better the challenger has to be. Under auto that is one standard error of the
// difference. Of two equally good models, one beats the other by that much in one of six comparisons, so models do not
// take turns with the noise of the held-out rows.
func settleMargin(margin Margin, j *wire.Judgement) {
	if margin != MarginAuto {
		j.Margin = float64(margin)
		return
	}
	j.MarginRule = wire.MarginAuto
	if j.Compared() && j.StandardError != nil && *j.IncumbentError > 0 {
		j.Margin = *j.StandardError / *j.IncumbentError
	}
}

// shorten cuts a text for a record.
func shorten(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), reasonRunes)])
}

// verdictOf decides about a challenger after the comparison, or without one if there could be none. pin is that of the
// incumbent.
func verdictOf(promote Promote, pin wire.Pin, j *wire.Judgement) wire.Verdict {
	otherSet := j.IncumbentSet != ""
	switch {
	case j.Incumbent == "":
		return wire.VerdictFirst
	case pin == wire.PinHold:
		return wire.VerdictPinned
	case pin == wire.PinBeaten && !(beats(j) && *j.ChallengerError < *j.IncumbentError):
		return wire.VerdictPinned
	case pin == wire.PinBeaten:
		return wire.VerdictBetter
	case promote.Rule == PromoteAlways:
		return wire.VerdictAlways
	case otherSet && promote.Rule != PromoteBetterAcrossSets:
		return wire.VerdictNewSet
	case !j.Compared():
		return wire.VerdictUnopposed
	case beats(j):
		return wire.VerdictBetter
	}
	return wire.VerdictWorse
}

// beats reports whether the challenger's error is lower than the incumbent's by the margin. Without a margin, and
// between models that predict alike, a tie is enough: the challenger has seen more rows.
func beats(j *wire.Judgement) bool {
	if !j.Compared() {
		return false
	}
	if j.MarginRule == wire.MarginAuto {
		return j.StandardError != nil && *j.ChallengerError <= *j.IncumbentError-*j.StandardError
	}
	return *j.ChallengerError <= *j.IncumbentError*(1-j.Margin)
}
