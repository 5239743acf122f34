package main

import (
	"fmt"
	"io"
	"strconv"
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
	mine, promised := liveErrors(s)
	text := fmt.Sprintf("live error: %s on the newest %d labelled rows, up to %s",
		mine, s.Rows, s.To.Format(time.RFC3339))
	if s.AUC != nil {
		text += fmt.Sprintf(", AUC %.4f", *s.AUC)
	}
	if s.Column != "" {
		text += ", as predicted in the column " + s.Column
	} else {
		text += ", predicted as of the label"
	}
	if s.PromisedError != nil {
		text += fmt.Sprintf("; promised %s on %d held-out rows", promised, s.PromisedRows)
	}
	switch r.State {
	case live.Wrong:
		return text + fmt.Sprintf(": WORSE than promised since %s, %s by %.1f standard errors",
			r.WrongSince.Format(time.RFC3339), training.MeasureTitle(r.ExcessMeasure), *r.Excess)
	case live.Well:
		return text + ": as promised"
	}
	return text + "; judged after 1,000 rows in four blocks"
}

// liveErrors writes the errors of rows and the promised ones: the deciding one, followed by the
// misclassification, or the share of the variance, in percent.
func liveErrors(f *live.Figures) (text, promised string) {
	promisedLoss, promisedPercent := f.Loss, f.Error // without a promise
	if f.Promised != nil && f.PromisedError != nil {
		promisedLoss, promisedPercent = *f.Promised, *f.PromisedError
	}
	percent, otherPercent := training.MeasureTexts(training.MeasureMisclassification, f.Error, promisedPercent)
	switch f.Measure {
	case wire.LiveLogLoss:
		loss, other := training.MeasureTexts(training.MeasureLogLoss, f.Loss, promisedLoss)
		return fmt.Sprintf(
				"log loss %s, %s wrong,",
				loss,
				percent,
			), fmt.Sprintf(
				"log loss %s, %s wrong,",
				other,
				otherPercent,
			)
	case wire.LiveSquaredError:
		loss, other := figuresApart(f.Loss, promisedLoss)
		return fmt.Sprintf("squared error %s, %s of the variance,", loss, percent),
			fmt.Sprintf("squared error %s, %s of the variance,", other, otherPercent)
	}
	return percent + " wrong", otherPercent + " wrong"
}

// figuresApart writes two figures with enough digits to tell them apart.
func figuresApart(a, b float64) (one, other string) {
	one, other = training.FigureText(a), training.FigureText(b)
	for digits := 5; one == other && a != b && digits <= 17; digits++ {
		one, other = strconv.FormatFloat(a, 'g', digits, 64), strconv.FormatFloat(b, 'g', digits, 64)
	}
	return one, other
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
		one, other := training.MeasureTexts(j.Measure, *j.ChallengerError, *j.IncumbentError)
		compared = one + " vs " + other
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
	t.Add("verdict", "%s", verdictText(j))
	if j.Incumbent != "" {
		t.Add("incumbent", "%s", j.Incumbent)
	}
	if j.IncumbentSet != "" {
		t.Add("its feature set", "%s", j.IncumbentSet)
	}
	if j.Compared() {
		own, incumbent := training.MeasureTexts(j.Measure, *j.ChallengerError, *j.IncumbentError)
		t.Add("compared", "on %d held-out rows new to both: %s %s, the incumbent %s",
			j.Rows, training.MeasureTitle(j.Measure), own, incumbent)
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

// verdictText describes a verdict. With a margin of 0 or below, a model may become current without
// a lower error.
func verdictText(j *wire.Judgement) string {
	text := verdictTexts[j.Verdict]
	if j.Verdict == wire.VerdictBetter && j.Compared() {
		switch gain := *j.IncumbentError - *j.ChallengerError; {
		case gain == 0:
			text = "made current: its error is that of the incumbent, and it has seen newer rows"
		case gain < 0:
			text = "made current: its error is within train.promote.margin of the incumbent's"
		}
	}
	return fmt.Sprintf("%s (%s)", text, j.Verdict)
}
