package train

import (
	"context"
	"errors"
	"math"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/training"
)

// reasonRunes bounds the length of an error in a record.
const reasonRunes = 200

// judge compares a challenger with the current model and decides whether to promote it.
func (r *Runner) judge(ctx context.Context, challenger *wire.Model) (*wire.Judgement, error) {
	promote := r.Config.Promote
	j := &wire.Judgement{Rule: promote.Rule}
	var pin wire.Pin
	ruined := false
	if current := r.models.Current; current != nil {
		j.Incumbent, pin = current.ID, current.Pin
		err := r.compare(ctx, j, challenger)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			ruined = errors.Is(err, errNotMeasurable)
			j.NotCompared = shorten(err.Error())
		}
	}
	margin := promote.Margin
	if challenger.Metrics.MeasuredRows > 0 && r.inUse != nil && r.inUse.Metrics.MeasuredRows == 0 {
		margin = 0 // only the challenger has an error with which live errors can be compared
	}
	settleMargin(margin, j)
	j.Verdict = verdictOf(promote, pin, j)
	if ruined && j.Verdict == wire.VerdictUnopposed {
		j.Verdict = wire.VerdictNotBetter
	}
	return j, nil
}

// compare measures a challenger and the current model, and records the result in j. An error is the
// reason why they are not compared.
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
		return errors.New("the current model belongs to another feature set")
	}
	switch set := r.trainer.set; {
	case r.inUse.Model.Features != set.Set.Features.Len() || r.inUse.Model.Outputs != set.Encoder.Outputs():
		return errors.New("the current model does not fit its feature set")
	case r.inUse.Judged == nil:
		return errors.New("the current model lacks the weights for comparisons")
	}
	return r.trainer.compare(j, challenger, r.inUse)
}

// loadInUse loads the current model unless it is loaded.
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

// settleMargin records the necessary gain of the challenger. Under auto it is one standard error of
// the difference. Of two equally good models, one beats the other by that margin in one of six
// comparisons, so models rarely take turns because of noise in the held-out rows.
func settleMargin(margin Margin, j *wire.Judgement) {
	if margin != MarginAuto {
		j.Margin = float64(margin)
		return
	}
	j.MarginRule = wire.MarginAuto
	if j.Compared() && j.StandardError != nil && *j.IncumbentError > 0 {
		j.Margin = min(*j.StandardError / *j.IncumbentError, math.MaxFloat64) // the error may be denormal
	}
}

// shorten cuts a text for a record.
func shorten(text string) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), reasonRunes)])
}

// verdictOf decides about a challenger after the comparison, or without one if it was impossible.
// pin belongs to the incumbent.
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
	return wire.VerdictNotBetter
}

// beats reports whether the error of the challenger is lower than that of the incumbent by the
// margin, which is at least the rounding error of the two. Without a margin, and between models
// with equal predictions, a tie is enough, because the challenger has seen more rows.
func beats(j *wire.Judgement) bool {
	if !j.Compared() {
		return false
	}
	gain, margin := *j.IncumbentError-*j.ChallengerError, *j.IncumbentError*j.Margin
	if j.MarginRule == wire.MarginAuto {
		if j.StandardError == nil {
			return false
		}
		margin = *j.StandardError
	}
	equal := gain == 0 && j.StandardError != nil && *j.StandardError == 0
	if margin >= 0 && !equal {
		margin = max(margin, rounding(j))
	}
	return gain >= margin
}

// relativeRounding is the relative rounding error of a squared loss: predictions and labels are
// float32.
const relativeRounding = 0x1p-23

// rounding returns the rounding error of the errors of a judgement. A single enormous label can
// make every other loss disappear in it, and then any model would beat any other. Misclassification
// is exact.
func rounding(j *wire.Judgement) float64 {
	if j.Measure == training.MeasureMisclassification || j.Measure == "" {
		return 0
	}
	return relativeRounding * max(*j.ChallengerError, *j.IncumbentError)
}
