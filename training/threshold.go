package training

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Cut returns the output of the logistic loss at a threshold, a probability of the second of two
// classes. [DecideAbove] decides that class above the cut. 0 stands for no threshold and has the
// cut of 1/2.
func Cut(threshold float64) float32 {
	if threshold == 0 {
		return 0
	}
	return float32(math.Log(threshold / (1 - threshold)))
}

// CheckThreshold returns an error if a model of some number of classes, 0 for a regression, cannot
// decide by a threshold. No threshold (0) is always possible.
func CheckThreshold(threshold float64, classes int, loss string) error {
	switch {
	case threshold == 0:
		return nil
	case !(threshold > 0 && threshold < 1):
		return fmt.Errorf("threshold %v: expected a probability above 0 and below 1", threshold)
	case classes == 0:
		return fmt.Errorf("threshold %v: the label is a number; a threshold decides between two classes", threshold)
	case classes != 2:
		return fmt.Errorf("threshold %v: the label has %d classes; a threshold decides between two", threshold, classes)
	case loss != LossLogistic:
		return fmt.Errorf("threshold %v: a model with loss %s has no probabilities; train it with loss %s",
			threshold, loss, LossLogistic)
	}
	return nil
}

// Costs are the costs of the two kinds of mistakes between two classes: a row of the first class
// taken for the second, and a row of the second class taken for the first.
type Costs struct {
	FalsePositive float64 `json:"false_positive"`
	FalseNegative float64 `json:"false_negative"`
}

// ParseCosts reads costs such as "1:5", the false positive first.
func ParseCosts(text string) (Costs, error) {
	first, second, both := strings.Cut(text, ":")
	positive, err := strconv.ParseFloat(strings.TrimSpace(first), 64)
	negative, otherErr := strconv.ParseFloat(strings.TrimSpace(second), 64)
	c := Costs{positive, negative}
	if t := c.Threshold(); !both || err != nil || otherErr != nil ||
		!(positive > 0 && negative > 0 && t > 0 && t < 1) || math.IsInf(positive+negative, 0) {
		return Costs{}, fmt.Errorf("cost %q: expected two numbers above 0, FALSE_POSITIVE:FALSE_NEGATIVE, such as 1:5", text)
	}
	return c, nil
}

// Threshold returns the threshold of least expected cost for correct probabilities.
func (c Costs) Threshold() float64 { return c.FalsePositive / (c.FalsePositive + c.FalseNegative) }

// String writes costs as ParseCosts reads them.
func (c Costs) String() string {
	return strconv.FormatFloat(c.FalsePositive, 'g', -1, 64) + ":" + strconv.FormatFloat(c.FalseNegative, 'g', -1, 64)
}

// Decision counts the rows that a threshold puts into the second of two classes.
type Decision struct {
	Threshold float64 `json:"threshold"` // probability of the second class above which it is decided
	Decided   int64   `json:"decided"`   // rows put into the second class
	Right     int64   `json:"right"`     // those that belong to it
}

// listedThresholds are the thresholds that every model with probabilities of two classes reports.
var listedThresholds = []float64{0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9}

// decision counts the rows above a threshold.
func (r *ranking) decision(threshold float64) Decision {
	d := Decision{Threshold: threshold}
	cut := ordered(Cut(threshold))
	for class, keys := range r.keys {
		for _, key := range keys {
			if key <= cut {
				continue
			}
			d.Decided++
			if class == 1 {
				d.Right++
			}
		}
	}
	return d
}

// decisions counts the rows above each of the listed thresholds.
func (r *ranking) decisions() (all []Decision) {
	for _, threshold := range listedThresholds {
		all = append(all, r.decision(threshold))
	}
	return all
}

// AddDecision lists the decisions at another threshold, which is possible only in the process that
// measured the model.
func (m *Measures) AddDecision(threshold float64) {
	at, listed := slices.BinarySearchFunc(m.Decisions, threshold, func(d Decision, t float64) int {
		return cmp.Compare(d.Threshold, t)
	})
	if m.ranking != nil && threshold != 0 && !listed {
		m.Decisions = slices.Insert(m.Decisions, at, m.ranking.decision(threshold))
	}
}

// Precision returns the share of the decided rows that belong to the class, NaN without such rows.
func (d Decision) Precision() float64 { return float64(d.Right) / float64(d.Decided) }

// Outcome returns the share of the rows of the second class that a decision found, and its cost per
// row, over the rows that the measures are from. Rows of unknown classes are left out.
func (m *Measures) Outcome(d Decision, costs Costs) (recall, cost float64) {
	if len(m.Recall) != 2 {
		return math.NaN(), math.NaN()
	}
	rows, positives := m.Recall[0].Rows+m.Recall[1].Rows, m.Recall[1].Rows
	wrong := float64(costs.FalsePositive*float64(d.Decided-d.Right)) +
		float64(costs.FalseNegative*float64(positives-d.Right))
	return float64(d.Right) / float64(positives), wrong / float64(rows)
}
