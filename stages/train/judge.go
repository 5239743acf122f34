package train

import (
	"context"
	"errors"

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
	margin := promote.Margin
	if challenger.Metrics.MeasuredRows > 0 && r.inUse != nil && r.inUse.Metrics.MeasuredRows == 0 {
		margin = 0 // live errors can be judged by the challenger's alone
	}
	settleMargin(margin, j)
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
	if incumbent := r.inUse; incumbent.FeatureSetID != challenger.FeatureSetID {
		j.IncumbentSet = incumbent.FeatureSetID
		return errors.New("it is of another feature set")
	}
	switch set := r.trainer.set; {
	case r.inUse.Model.Features != set.Set.Features.Len() || r.inUse.Model.Outputs != set.Encoder.Outputs():
		return errors.New("the model in use does not fit its feature set")
	case r.inUse.Judged == nil:
		return errors.New("the model in use comes without the weights that it is to be judged by")
	}
	return r.trainer.compare(j, challenger, r.inUse)
}

// loadInUse loads the model in use, unless that is done.
func (r *Runner) loadInUse(ctx context.Context, entry state.ModelEntry) error {
	if r.inUse != nil && r.inUse.ID == entry.ID {
		return nil
	}
	model, err := r.Env.State.LoadModel(ctx, entry)
	if err == nil {
		r.inUse = model
	}
	return err
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
	case j.IncumbentSet != "":
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
