package cli

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/training"
)

// ThresholdFlags choose how predictions decide between two classes.
type ThresholdFlags struct {
	threshold float64
	costs     string
}

// The names of the flags.
const (
	flagThreshold = "threshold"
	flagCost      = "cost"
)

// Add defines the flags on a command.
func (f *ThresholdFlags) Add(c *cobra.Command) {
	c.Flags().Float64Var(&f.threshold, flagThreshold, 0,
		"probability of the second of two classes above which it is predicted (default: predict the more probable class)")
	c.Flags().StringVar(&f.costs, flagCost, "",
		"FALSE_POSITIVE:FALSE_NEGATIVE, the costs of the two mistakes, such as 1:5; sets the threshold of least cost")
}

// Decision is how predictions decide between two classes.
type Decision struct {
	Threshold float64 // 0 = the more probable class
	Costs     training.Costs
}

// EqualCosts returns the decision at a threshold, with equal costs of the two mistakes.
func EqualCosts(threshold float64) Decision {
	return Decision{threshold, training.Costs{FalsePositive: 1, FalseNegative: 1}}
}

// Check returns an error if a model with a label and a loss cannot decide like this.
func (d Decision) Check(label *encoder.Label, loss string) error {
	classes := 0
	if label != nil {
		classes = len(label.Classes)
	}
	return training.CheckThreshold(d.Threshold, classes, loss)
}

// Decision returns the decision that the flags choose. The costs are equal unless they are given.
func (f *ThresholdFlags) Decision(c *cobra.Command) (d Decision, err error) {
	d = EqualCosts(0)
	set, costs := c.Flags().Changed(flagThreshold), c.Flags().Changed(flagCost)
	switch {
	case set && costs:
		return d, Usagef("--threshold and --cost both set the threshold: give only one of the two")
	case set:
		if !(f.threshold > 0 && f.threshold < 1) {
			return d, Usagef("--threshold %v: expected a probability above 0 and below 1", f.threshold)
		}
		d.Threshold = f.threshold
	case costs:
		if d.Costs, err = training.ParseCosts(f.costs); err != nil {
			return d, Usagef("--%w", err)
		}
		d.Threshold = d.Costs.Threshold()
	}
	return d, nil
}

// Args returns the flags as they were given, to repeat them on another command.
func (f *ThresholdFlags) Args(c *cobra.Command) string {
	switch {
	case c.Flags().Changed(flagThreshold):
		return fmt.Sprintf(" --%s %v", flagThreshold, f.threshold)
	case c.Flags().Changed(flagCost):
		return fmt.Sprintf(" --%s %s", flagCost, f.costs)
	}
	return ""
}

// Overrides returns the threshold by configuration key, if the flags set it.
func (f *ThresholdFlags) Overrides(c *cobra.Command) (map[string]any, error) {
	d, err := f.Decision(c)
	if err != nil || d.Threshold == 0 {
		return nil, err
	}
	return map[string]any{"predict.threshold": strconv.FormatFloat(d.Threshold, 'g', -1, 64)}, nil
}

// WriteDecisions prints the effect of thresholds on the rows on which a model was measured. It
// prints nothing unless the model has probabilities of two classes.
func WriteDecisions(w io.Writer, m *training.Measures, chosen Decision) {
	if len(m.Decisions) == 0 {
		return
	}
	class := m.Recall[1].Class
	t := NewTable(w, "predict "+class+" above a probability of: the effect on these held-out rows",
		"threshold", class+" predicted", "precision", "recall", "cost "+chosen.Costs.String()+" per 100 rows", "")
	for _, d := range m.Decisions {
		recall, cost := m.Outcome(d, chosen.Costs)
		mark := ""
		switch {
		case d.Threshold == chosen.Threshold:
			mark = "chosen"
		case d.Threshold == 0.5:
			mark = "the more probable class"
		}
		t.AppendRow([]any{
			strconv.FormatFloat(d.Threshold, 'g', 4, 64),
			d.Decided,
			shareText(d.Precision()),
			shareText(recall),
			strconv.FormatFloat(100*cost, 'f', 2, 64),
			mark,
		})
	}
	t.Render()
}

// shareText writes a share in percent, nothing if it is not a number.
func shareText(share float64) string {
	if math.IsNaN(share) {
		return ""
	}
	return strconv.FormatFloat(100*share, 'f', 1, 64) + " %"
}
