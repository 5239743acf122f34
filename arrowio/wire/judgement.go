package wire

import (
	"fmt"
	"slices"
	"time"
)

// Verdict is the decision about a challenger, a newly trained model. The word also gives the
// reason.
type Verdict string

// The verdicts. The first five make the challenger current.
const (
	VerdictFirst     Verdict = "first"      // there was no model
	VerdictBetter    Verdict = "better"     // it beat the incumbent on the same rows
	VerdictNewSet    Verdict = "new_set"    // the incumbent belongs to a feature set that is no longer current
	VerdictUnopposed Verdict = "unopposed"  // the incumbent could not be compared; not_compared has the reason
	VerdictAlways    Verdict = "always"     // every challenger is made current, as configured
	VerdictNotBetter Verdict = "not_better" // it did not beat the incumbent by the margin
	VerdictPinned    Verdict = "pinned"     // the incumbent is pinned
)

// Verdicts lists them.
func Verdicts() []Verdict {
	return []Verdict{
		VerdictFirst,
		VerdictBetter,
		VerdictNewSet,
		VerdictUnopposed,
		VerdictAlways,
		VerdictNotBetter,
		VerdictPinned,
	}
}

// Promoted reports whether the challenger was to become current.
func (v Verdict) Promoted() bool { return v != VerdictNotBetter && v != VerdictPinned }

// MarginAuto is the rule for a margin that is derived from the noise of the comparison.
const MarginAuto = "auto"

// Judgement compares a challenger with the incumbent, the model that was current when it was
// trained. Both errors are in percent, on the same rows, on which none of the compared weights were
// fitted.
type Judgement struct {
	Verdict      Verdict `json:"verdict"`
	Incumbent    string  `json:"incumbent,omitempty"`             // id
	IncumbentSet string  `json:"incumbent_feature_set,omitempty"` // if it differs from the challenger's
	Rule         string  `json:"rule"`
	// Margin is the share of the incumbent's error by which the challenger's had to be lower. Under
	// MarginRule auto it is the standard error as such a share, or 0 if unknown.
	Margin     float64 `json:"margin"`
	MarginRule string  `json:"margin_rule,omitempty"` // auto, or absent: as configured
	Measure    string  `json:"measure,omitempty"`     // see [training.PairedBy]
	Rows       int64   `json:"rows"`
	// From and To are the times of the first and the last event of the newest rows, which these
	// were chosen from by hash.
	From            time.Time `json:"from,omitzero"`
	To              time.Time `json:"to,omitzero"`
	ChallengerError *float64  `json:"challenger_error,omitempty"`
	IncumbentError  *float64  `json:"incumbent_error,omitempty"`
	// StandardError is the standard error of the difference of the errors, from the
	// differences row by row; nil for a single row.
	StandardError *float64 `json:"standard_error,omitempty"`
	NotCompared   string   `json:"not_compared,omitempty"` // why there are no errors, for people
}

// Compared reports whether both errors are known.
func (j *Judgement) Compared() bool { return j.ChallengerError != nil && j.IncumbentError != nil }

// Promoted reports whether the model was to become current. A model that was never judged was.
func (m *Model) Promoted() bool { return m.Judgement == nil || m.Judgement.Verdict.Promoted() }

func (j *Judgement) validate() error {
	if j == nil {
		return nil
	}
	if !slices.Contains(Verdicts(), j.Verdict) {
		return fmt.Errorf("unknown verdict %q", cutText(string(j.Verdict), 40))
	}
	if j.Rows < 0 || !finite([]float64{j.Margin}) {
		return fmt.Errorf("judgement on %d rows with margin %v", j.Rows, j.Margin)
	}
	return nil
}
