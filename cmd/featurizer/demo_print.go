package main

import (
	"fmt"
	"io"

	"github.com/dustin/go-humanize"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/demo"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/training"
)

// printDemo writes the results of a demo as text. If generated is set, the rows were generated.
func printDemo(w io.Writer, s demoSummary, set *wire.FeatureSet, generated bool) {
	if !generated {
		cli.WriteColumns(w, s.Lineage.Columns, "use --json for the list")
	}
	printSet(w, set, s.setSummary)
	t := cli.NewFacts(w)
	addErrors(t, s)
	t.Line()
	for _, part := range append([]meter.Stage{"produce"}, stages.Names()...) {
		if rate := s.RowsPerSecond[part]; rate > 0 {
			t.Add(string(part), "%.2f s, %s rows/s", s.Seconds[part], humanize.Comma(int64(rate)))
		} else {
			t.Add(string(part), "%.2f s", s.Seconds[part])
		}
	}
	t.Render()
	printLearning(w, s.Lineage.Learning, s.Importance)
	cli.WriteNotes(w, s.Warnings)
	printNext(w, s, generated)
}

// addErrors adds the test errors of the models on selected and on plain features, and of a
// constant.
func addErrors(t cli.Facts, s demoSummary) {
	m := s.Model
	t.Add("test "+m.Metric, "%.2f %% with selected features, λ = %.3g, %s loss", m.Error, m.Lambda, m.Loss)
	t.Add("", "%.2f %% with %d plain random features", m.BaselineError, s.Exploration.Features)
	switch {
	case m.Test.Misclassification != nil && m.ConstantError != nil:
		t.Add("", "%.2f %% by always answering the commonest class", *m.ConstantError)
	case m.Test.UnexplainedVariance != nil:
		t.Add("", "100 %% by always answering the mean")
	}
	ours, plain := m.Test.Measures, m.BaselineTest.Measures
	threeWays(t, "log loss", ours.LogLoss, plain.LogLoss, ours.ConstantLogLoss)
	threeWays(t, "AUC", ours.AUC, plain.AUC, nil)
	threeWays(t, "average precision of "+ours.RareClass, ours.AveragePrecision, plain.AveragePrecision, nil)
	cli.AddByClass(t, &ours)
	if len(ours.RMSE) > 0 && len(plain.RMSE) > 0 {
		t.Add("RMSE", "%s selected, %s plain, %s the mean",
			cli.InUnits(ours.RMSE), cli.InUnits(plain.RMSE), cli.InUnits(ours.ConstantRMSE))
		t.Add("MAE", "%s selected, %s plain", cli.InUnits(ours.MAE), cli.InUnits(plain.MAE))
	}
	t.Add("test rows", "%d", m.Test.Rows)
	if ours.NoBetterThanConstant() && plain.NoBetterThanConstant() {
		t.Add("", training.NothingBeatsConstant)
	}
}

// threeWays adds a measure of the models on selected features, on plain features and, if present,
// of a constant prediction.
func threeWays(t cli.Facts, name string, ours, plain, constant *float64) {
	switch {
	case ours == nil || plain == nil:
	case constant == nil:
		t.Add(name, "%.4f selected, %.4f plain", *ours, *plain)
	default:
		t.Add(name, "%.4f selected, %.4f plain, %.4f a constant", *ours, *plain, *constant)
	}
}

// flipLines lists the seconds after a flip that are printed.
var flipLines = []int{0, 2, 5, 10, 15, 20, 30, 40, 50, 60, 90, 120}

// printFlip writes how live errors follow a flip.
func printFlip(w io.Writer, f *demo.Flipped) {
	fmt.Fprintf(
		w,
		"Seconds are simulated: %d rows arrive in each. At second 0 the largest term of the target changes its sign.\n",
		f.Rate,
	)
	fmt.Fprintln(w, "promised: the error of the current model on its held-out rows, which live errors should not exceed;")
	fmt.Fprintln(w, "half-life: the number of newer rows after which a row counts half in training (train.forget).")
	t := cli.NewTable(w, "",
		"seconds after the flip", "live error %", "promised %", "", "new model since the line before", "half-life")
	last := 0
	for _, second := range flipLines {
		at := f.At(second)
		if at == nil {
			continue
		}
		model, halfLife := "", ""
		for i := last + 1; i <= second; i++ {
			if m := f.At(i); m != nil && m.Model != "" {
				model, halfLife = m.Model, halfLifeText(m.HalfLife)
			}
		}
		last = second
		t.AppendRow([]any{second, flipPercent(at.Error), flipPercent(at.Promised), string(at.State), model, halfLife})
	}
	t.Render()
	fmt.Fprintf(w, "live error: over the newest %d rows, in percent of the variance\n", live.ShortRows)
}

func flipPercent(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.2f", *v)
}

func halfLifeText(rows float64) string {
	if rows == 0 {
		return "none"
	}
	return fmt.Sprintf("%.0f rows", rows)
}

func printNext(w io.Writer, s demoSummary, generated bool) {
	fmt.Fprintln(w, "\nNext:")
	if generated {
		fmt.Fprintln(w, "  your own rows       featurizer demo --data rows.csv --label COLUMN")
		fmt.Fprintln(w, "  the paper's score   featurizer demo --criterion energy --intercept=false")
	} else {
		if s.growing() {
			fmt.Fprintf(w, "  more features       add --features %d\n", 2*s.Exploration.Features)
		}
		fmt.Fprintln(w, "  a file to keep      featurizer explore --data FILE --label COLUMN --out set.arrow")
	}
	fmt.Fprintln(w, "  on your Kafka       eerf.yaml with kafka.brokers and events.label, as in README.md; then")
	fmt.Fprintln(w, "                      featurizer topics create -c eerf.yaml; featurizer run -c eerf.yaml")
	if s.Kept != "" {
		fmt.Fprintf(w, "The broker's data are in %s.\n", s.Kept)
	}
}
