package main

import (
	"fmt"
	"io"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/training"
)

func printModels(w io.Writer, list modelList) {
	if list.Current == nil {
		fmt.Fprintf(w, "pipeline %s has no current model\n", list.Pipeline)
	} else {
		fmt.Fprintf(w, "current: %s\n", currentText(list.Current))
	}
	fmt.Fprintln(w, liveText(list.Live))
	if len(list.Models) == 0 {
		return
	}
	t := cli.NewTable(w, "", "model", "trained", "rows", "error", "of rows", "compared", "verdict", "feature set", "")
	for _, m := range list.Models {
		mark := ""
		if m.Current {
			mark = "current"
		}
		own, compared, verdict := errorsOf(m.Metrics, m.Judgement)
		t.AppendRow([]any{
			m.ID,
			m.TrainedAt.Format(time.RFC3339),
			m.Rows,
			own,
			measuredText(m.Metrics),
			compared,
			verdict,
			m.FeatureSet,
			mark,
		})
	}
	t.Render()
	fmt.Fprintln(w, "error: by the deciding measure, on rows held out of training. "+
		"compared: with the model current then, on held-out rows new to both")
}

// liveText describes the errors of live predictions.
func liveText(r live.Report) string {
	s := r.Short
	if s == nil {
		return "live error: unknown, because no model has predicted a labelled row yet"
	}
	text := fmt.Sprintf("live error: %s on the newest %d labelled rows, up to %s",
		liveError(s, s.Loss, s.Error), s.Rows, s.To.Format(time.RFC3339))
	if s.AUC != nil {
		text += fmt.Sprintf(", AUC %.4f", *s.AUC)
	}
	if s.Column != "" {
		text += ", as predicted in the column " + s.Column
	} else {
		text += ", predicted as of the label"
	}
	if s.PromisedError != nil {
		text += fmt.Sprintf("; promised %s on %d held-out rows", liveError(s, *s.Promised, *s.PromisedError), s.PromisedRows)
	}
	switch r.State {
	case live.Wrong:
		return text + fmt.Sprintf(": WORSE than promised since %s, the loss by %.1f standard errors",
			r.WrongSince.Format(time.RFC3339), *r.Excess)
	case live.Well:
		return text + ": as promised"
	}
	return text + "; judged after 1,000 rows in four blocks"
}

// liveError writes the deciding error of rows, and for classes the share of wrong predictions.
func liveError(f *live.Figures, loss, percent float64) string {
	switch f.Measure {
	case wire.LiveLogLoss:
		return fmt.Sprintf("log loss %.4f, %.2f %% wrong,", loss, percent)
	case wire.LiveSquaredError:
		return fmt.Sprintf("%.2f %% of the variance", percent)
	}
	return fmt.Sprintf("%.2f %% wrong", percent)
}

// currentText describes the pointer to the current model: since when, and its pin.
func currentText(c *wire.Current) string {
	text := c.ID + " since " + c.Time.Format(time.RFC3339)
	switch c.Pin {
	case wire.PinHold:
		text += ", pinned until `trainer models unpin`"
	case wire.PinBeaten:
		text += ", pinned until a model beats it"
	}
	if c.Reason != "" {
		text += fmt.Sprintf(" (%s)", c.Reason)
	}
	return text
}

// errorsOf returns the error of a model, the errors of its comparison, and the verdict.
func errorsOf(metrics wire.Metrics, j *wire.Judgement) (own, compared, verdict string) {
	if measure, value, _ := metrics.Main(); value != nil {
		own = training.MeasureText(measure, *value)
	}
	if j == nil {
		return own, "", ""
	}
	if j.Compared() {
		compared = training.MeasureText(j.Measure, *j.ChallengerError) + " vs " +
			training.MeasureText(j.Measure, *j.IncumbentError)
	}
	return own, compared, string(j.Verdict)
}

// measuredText returns the number of rows on which the error of a model in a list was measured.
func measuredText(metrics wire.Metrics) string {
	switch {
	case metrics.MeasuredRows == 0 && metrics.Seen != nil:
		return "none unseen yet"
	case metrics.MeasuredRows == 0:
		return ""
	case metrics.Seen != nil:
		return fmt.Sprintf("%d, %.0f %% seen", metrics.MeasuredRows, 100*metrics.Seen.Share)
	}
	return fmt.Sprint(metrics.MeasuredRows)
}

// printLineage prints the details of `models show` that `fit` does not print.
func printLineage(w io.Writer, d modelDetails) {
	t := cli.NewFacts(w)
	if d.Current != nil {
		t.Add("current", "%s", currentText(d.Current))
	} else {
		t.Add("current", "no")
	}
	t.Add("trained", "%s, configuration %.12s", d.TrainedAt.Format(time.RFC3339), d.ConfigHash)
	for _, r := range d.Ranges {
		t.Add(fmt.Sprintf("events of partition %d", r.Partition), "offset %d row %d to offset %d row %d: %d rows",
			r.FirstOffset, r.FirstRow, r.NextOffset, r.NextRow, r.Rows)
	}
	t.Render()
}

// addJudgement adds how a model compared with the current one.
func addJudgement(t cli.Facts, j *wire.Judgement) {
	if j == nil {
		return
	}
	t.Add("verdict", "%s", verdictText(j.Verdict))
	if j.Incumbent != "" {
		t.Add("incumbent", "%s", j.Incumbent)
	}
	if j.IncumbentSet != "" {
		t.Add("its feature set", "%s", j.IncumbentSet)
	}
	if j.Compared() {
		t.Add("compared", "on %d held-out rows new to both: %s %s, the incumbent %s",
			j.Rows, training.MeasureTitle(j.Measure), training.MeasureText(j.Measure, *j.ChallengerError),
			training.MeasureText(j.Measure, *j.IncumbentError))
		if !j.To.IsZero() {
			t.Add("  rows held out of", "the newest rows, from %s to %s",
				j.From.Format(time.RFC3339), j.To.Format(time.RFC3339))
		}
	} else if j.NotCompared != "" {
		t.Add("not compared", "%s", j.NotCompared)
	}
	t.Add("rule", "%s, by %s", j.Rule, marginText(j))
}

// marginText describes the gain that a model needed to win.
func marginText(j *wire.Judgement) string {
	switch {
	case j.MarginRule != wire.MarginAuto:
		return fmt.Sprintf("%.2g %% of the incumbent's error", 100*j.Margin)
	case j.Compared() && j.StandardError != nil && *j.StandardError == 0:
		return "nothing, because both predict alike"
	case j.Compared() && j.StandardError != nil:
		return fmt.Sprintf("%.2g%s, the standard error of the difference", *j.StandardError, training.MeasureUnit(j.Measure))
	}
	return "the standard error of the difference"
}

var verdictTexts = map[wire.Verdict]string{
	wire.VerdictFirst:     "made current: the first model",
	wire.VerdictBetter:    "made current: it beat the incumbent",
	wire.VerdictNewSet:    "made current: the feature set of the incumbent is no longer current",
	wire.VerdictUnopposed: "made current: the incumbent could not be compared",
	wire.VerdictAlways:    "made current: train.promote.rule always ignores errors",
	wire.VerdictNotBetter: "not made current: it did not beat the incumbent by the margin",
	wire.VerdictPinned:    "not made current: the incumbent is pinned",
}

func verdictText(v wire.Verdict) string { return fmt.Sprintf("%s (%s)", verdictTexts[v], v) }
