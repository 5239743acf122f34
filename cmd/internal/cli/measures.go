package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/training"
)

// PaperFlag adds the flag --paper.
func PaperFlag(c *cobra.Command, paper *bool) {
	c.Flags().BoolVar(paper, "paper", false, "also show the paper's measure for regressions, "+
		"the relative squared error, which depends on the zero point of the label")
}

// recallsShown is the maximum number of classes listed.
const recallsShown = 10

// AddMeasures adds the measures of a model on rows that it was not fitted on, the deciding one
// first. The paper's relative
// squared error, which depends on the label's zero point, is added only if paper is set.
func AddMeasures(t Facts, m *training.Measures, paper bool) {
	misclassified := func() {
		beside(t, "misclassification", "%.2f %%", m.Misclassification, m.ConstantError)
		if m.UnknownClassRows > 0 {
			t.Add("  unknown classes", "%d of these rows, counted as wrong", m.UnknownClassRows)
		}
	}
	deciding, _, _ := m.Main()
	if deciding == training.MeasureMisclassification {
		misclassified()
	}
	beside(t, "log loss", "%.4f", m.LogLoss, m.ConstantLogLoss)
	if deciding != training.MeasureMisclassification {
		misclassified()
	}
	beside(t, "AUC", "%.4f", m.AUC, nil)
	if m.AveragePrecision != nil {
		t.Add("average precision", "%.4f of class %s, which is rare", *m.AveragePrecision, m.RareClass)
	}
	AddByClass(t, m)
	if m.UnexplainedVariance != nil {
		text := fmt.Sprintf("%.2f %%", *m.UnexplainedVariance)
		if text == "0.00 %" {
			text = "below 0.01 %"
		}
		t.Add("unexplained variance", "%s, R² %.4f", text, 1-*m.UnexplainedVariance/100)
	}
	if len(m.RMSE) > 0 {
		t.Add("RMSE", "%s, a constant %s", InUnits(m.RMSE), InUnits(m.ConstantRMSE))
		t.Add("MAE", "%s", InUnits(m.MAE))
	}
	if paper && m.Misclassification == nil {
		beside(t, "relative squared error", "%.2f %%", m.RelativeSquaredError, m.ConstantError)
	}
	if m.NoBetterThanConstant() {
		t.Add("", training.NothingBeatsConstant)
	}
}

// AddByClass adds the recall of the classes and the calibration of the probabilities.
func AddByClass(t Facts, m *training.Measures) {
	if len(m.Recall) > 0 {
		t.Add("recall by class", "%s", recallText(m.Recall))
	}
	if off := m.CalibrationError(); off != nil {
		t.Add("probabilities", "off by %.1f points on average", 100**off)
	}
}

// beside adds a figure of the model next to the figure of a constant prediction.
func beside(t Facts, name, format string, value, constant *float64) {
	switch {
	case value == nil:
	case constant == nil:
		t.Add(name, format, *value)
	default:
		t.Add(name, format+", a constant "+format, *value, *constant)
	}
}

// InUnits formats a figure in units of the label, for each output.
func InUnits(values []float64) string {
	texts := make([]string, len(values))
	for k, v := range values {
		texts[k] = training.FigureText(v)
	}
	return strings.Join(texts, "; ")
}

func recallText(classes []training.ClassRecall) string {
	var parts []string
	for _, c := range classes[:min(len(classes), recallsShown)] {
		parts = append(parts, fmt.Sprintf("%s %.1f %% of %d", c.Class, 100*c.Share(), c.Rows))
	}
	if more := len(classes) - recallsShown; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}
