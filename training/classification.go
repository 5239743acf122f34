package training

import "fmt"

// Classification accumulates the errors of decided classes. Use NewClassification.
type Classification struct {
	Rows          int64 // rows added
	Wrong         int64 // rows whose decided class was not theirs
	ConstantWrong int64 // rows that the constant predictor gets wrong

	outputs  int
	majority int32
}

// NewClassification returns the metric of no rows of that many outputs (1 for two classes, else the
// number of classes). majority is the commonest class of the training rows (Sums.MajorityClass), the
// class of the constant predictor.
func NewClassification(outputs int, majority int32) *Classification {
	if outputs <= 0 {
		panic(fmt.Sprintf("training: classification metric of %d outputs", outputs))
	}
	return &Classification{outputs: outputs, majority: majority}
}

// Add adds rows of predictions (len(class)×K, row-major) with their true classes.
func (c *Classification) Add(pred []float32, class []int32) {
	if len(pred) != len(class)*c.outputs {
		panic(fmt.Sprintf("training: %d rows of %d outputs, given %d predictions", len(class), c.outputs, len(pred)))
	}
	for n, want := range class {
		c.add(pred[n*c.outputs:(n+1)*c.outputs], want)
	}
}

// AddCoded adds rows of predictions with true outputs as CodeClasses writes them, both rows×K.
func (c *Classification) AddCoded(pred, y []float32, rows int) {
	if rows < 0 || len(pred) != rows*c.outputs || len(y) != rows*c.outputs {
		panic(fmt.Sprintf("training: %d rows of %d outputs, given %d predictions and %d outputs",
			rows, c.outputs, len(pred), len(y)))
	}
	for n := range rows {
		row := y[n*c.outputs : (n+1)*c.outputs]
		c.add(pred[n*c.outputs:(n+1)*c.outputs], DecideClass(row, c.outputs))
	}
}

func (c *Classification) add(pred []float32, want int32) {
	c.Rows++
	if DecideClass(pred, c.outputs) != want {
		c.Wrong++
	}
	if c.majority != want {
		c.ConstantWrong++
	}
}

// Misclassification returns the share of wrong decisions in percent, 0 when there are no rows.
func (c *Classification) Misclassification() float64 {
	return percent(float64(c.Wrong), float64(c.Rows))
}

// ConstantError returns the Misclassification of always predicting the majority class of training.
func (c *Classification) ConstantError() float64 {
	return percent(float64(c.ConstantWrong), float64(c.Rows))
}
