package main

import (
	"fmt"
	"io"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/demo"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/training"
)

// printDemo writes what a demo found as text; generated says that the rows were generated.
func printDemo(w io.Writer, r *demo.Result, generated bool) {
	if !generated {
		cli.WriteColumns(w, r.Encoder.Uses, "--json lists them")
	}
	t := cli.NewFacts(w)
	addRows(t, r)
	addExploration(t, r)
	t.Line()
	addErrors(t, r)
	t.Line()
	for _, part := range append([]string{"produce"}, meter.Stages()...) {
		if rate := r.RowsPerSecond[part]; rate > 0 {
			t.Add(part, "%.2f s, %s rows/s", r.Seconds[part], cli.Thousands(rate))
		} else {
			t.Add(part, "%.2f s", r.Seconds[part])
		}
	}
	t.Render()
	printLearning(w, r.Exploration.Learning, r.Exploration.Importance)
	printSpectrum(w, r)
	for _, warning := range r.Warnings {
		fmt.Fprintln(w, "note:", warning)
	}
	printNext(w, r, generated)
}

func addRows(t cli.Facts, r *demo.Result) {
	n := r.Rows
	t.Add("rows in", "%d", n.In)
	t.Add("  scored", "%d", n.Scored)
	t.Add("  not sampled", "%d", n.NotSampled)
	t.Add("  unlabelled", "%d", n.Unlabelled)
	t.Add("  rejected", "%d", n.Rejected)
}

func addExploration(t cli.Facts, r *demo.Result) {
	e := r.Exploration
	t.Add("columns, dimensions", "%d, %d", r.Encoder.Columns, r.Encoder.Dim)
	t.Add("bandwidth σ", "%.4g (%s)", e.Sigma, e.BandwidthRule)
	t.Add("candidates M0", "%d, %s map, %s draws", e.Candidates, e.Map, e.Distribution)
	t.Add("features kept M", "%d", e.Features)
	addLearning(t, e.Learning)
	switch {
	case e.Learned:
		t.Add("contribution to the model", "%.4g (best) to %.4g (least)", e.BestScore, e.CutoffScore)
	case e.ByResidual == nil:
		t.Add("  by "+e.Criterion, "%.4g (best) to %.4g (cut-off)", e.BestScore, e.CutoffScore)
	default:
		t.Add("  by residual", "%d, %d more by correlation", *e.ByResidual, e.Features-*e.ByResidual)
	}
	if !e.Learned {
		var criterion scoring.Criterion
		var kind scoring.Map
		_, _ = criterion.UnmarshalText([]byte(e.Criterion)), kind.UnmarshalText([]byte(e.Map)) // as they were written
		addRadius(t, kind, criterion, e.ConfidenceRadius, e.LargeSampleRadius,
			fmt.Sprintf(" at %d rows; %d of %d above it", e.SampleRows, e.AboveNoise, e.Features))
	}
	t.Add("feature set", "%s", r.FeatureSet.ID)
}

// addErrors adds the test errors of the models on selected and on plain features, and of a constant.
func addErrors(t cli.Facts, r *demo.Result) {
	m := r.Model
	t.Add("test "+m.Metric, "%.2f %% with selected features, λ = %.3g, %s loss", m.Error, m.Lambda, m.Loss)
	t.Add("", "%.2f %% with %d plain random features", m.BaselineError, r.Exploration.Features)
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
		t.Add("RMSE", "%s selected, %s plain, %s the mean", cli.InUnits(ours.RMSE), cli.InUnits(plain.RMSE), cli.InUnits(ours.ConstantRMSE))
		t.Add("MAE", "%s selected, %s plain", cli.InUnits(ours.MAE), cli.InUnits(plain.MAE))
	}
	t.Add("test rows", "%d", r.Rows.Test)
	if ours.NoBetterThanConstant() && plain.NoBetterThanConstant() {
		t.Add("", training.NothingBeatsConstant)
	}
}

// threeWays adds a figure for the models on selected and on plain features and, if there is one, for a
// constant.
func threeWays(t cli.Facts, name string, ours, plain, constant *float64) {
	switch {
	case ours == nil || plain == nil:
	case constant == nil:
		t.Add(name, "%.4f selected, %.4f plain", *ours, *plain)
	default:
		t.Add(name, "%.4f selected, %.4f plain, %.4f a constant", *ours, *plain, *constant)
	}
}

func printSpectrum(w io.Writer, r *demo.Result) {
	if len(r.Spectrum) == 0 {
		return
	}
	fmt.Fprintln(w, "\nThe target is a sum of cosines. How near do the features come to its frequencies?")
	t := cli.NewTable(w, "", "amplitude", "nearest kept", "nearest plain", "kept within 1", "plain within 1")
	for _, s := range r.Spectrum {
		t.AppendRow([]any{s.Amplitude, fmt.Sprintf("%.2f", s.NearestKept), fmt.Sprintf("%.2f", s.NearestPlain),
			s.KeptWithinOne, s.PlainWithinOne})
	}
	t.Render()
}

// keptBy returns the features that a demo kept.
func keptBy(r *demo.Result) keptFeatures {
	e := r.Exploration
	return keptFeatures{e.Features, e.AboveNoise, e.SampleRows, e.Learned}
}

func printNext(w io.Writer, r *demo.Result, generated bool) {
	fmt.Fprintln(w, "\nNext:")
	if generated {
		fmt.Fprintln(w, "  your own rows       featurizer demo --data rows.csv --label COLUMN")
		fmt.Fprintln(w, "  the paper's score   featurizer demo --criterion energy --intercept=false")
	} else {
		if keptBy(r).growing() {
			fmt.Fprintf(w, "  more features       add --features %d\n", 2*r.Exploration.Features)
		}
		fmt.Fprintln(w, "  a file to keep      featurizer explore --data FILE --label COLUMN --out set.arrow")
	}
	fmt.Fprintln(w, "  on your Kafka       featurizer config print > eerf.yaml; set kafka.brokers and events.label in it; then")
	fmt.Fprintln(w, "                      featurizer topics create -c eerf.yaml; featurizer run -c eerf.yaml")
	if r.Kept != "" {
		fmt.Fprintf(w, "The broker's data are in %s.\n", r.Kept)
	}
}
