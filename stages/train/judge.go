package train

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
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
		if err := r.compare(ctx, j, challenger); err != nil {
			return nil, err
		}
	}
	settleMargin(promote.Margin, j)
	j.Verdict = verdictOf(promote, pin, j)
	return j, nil
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

// compare measures a challenger and the incumbent if both can be measured.
func (r *Runner) compare(ctx context.Context, j *wire.Judgement, challenger *wire.Model) error {
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
		return r.trainer.compare(j, challenger, incumbent, r.trainer.sameSet(incumbent), 0)
	}
	j.IncumbentSet = incumbent.FeatureSetID
	if err := r.compareAcross(ctx, j, challenger, incumbent); err != nil {
		if ctx.Err() != nil {
			return err
		}
		r.Logger.Warn("model not compared with that of another feature set", zap.String("model", incumbent.ID), zap.Error(err))
		j.NotCompared = shorten(err.Error())
	}
	return nil
}

// incumbent loads the model in use.
func (r *Runner) incumbent(ctx context.Context) (*wire.Model, error) {
	entry, err := r.models.Find(r.models.Current.ID)
	if err != nil {
		return nil, err
	}
	if r.inUse == nil || r.inUse.ID != entry.ID {
		if r.inUse, err = r.State.LoadModel(ctx, entry); err != nil {
			return nil, err
		}
	}
	return r.inUse, nil
}

// compareAcross compares models of two feature sets on the events that the rows came from.
func (r *Runner) compareAcross(ctx context.Context, j *wire.Judgement, challenger, incumbent *wire.Model) error {
	if !r.other.is(r.trainer, incumbent) {
		entry, ok := r.State.Snapshot().Sets[incumbent.FeatureSetID]
		if !ok {
			return fmt.Errorf("%w: feature set %s is not on its topic any more", errNotComparable, incumbent.FeatureSetID)
		}
		set, err := r.State.LoadSet(ctx, entry)
		if err != nil {
			return err
		}
		if r.other, err = newOtherSet(r.Broker, r.Logger, r.Topics.Events, r.trainer, incumbent, set, r.Source); err != nil {
			return err
		}
	}
	return r.trainer.compare(j, challenger, incumbent, r.other.baseline(ctx), acrossRows)
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
