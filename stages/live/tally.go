package live

import (
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/training"
)

// Tally sums the errors of the predictions of one model. It belongs to one goroutine and is reused.
type Tally struct {
	sums   wire.LiveSums // without scores
	scores [2][]int32    // rows of each of two classes by bin; nil for a regression and for more classes
}

// NewTally returns an empty tally for a model: of a regression if classes is 0, with the origin
// from which the labels of each output are summed, otherwise of a number of classes. If the rows
// supply their predictions, column names their column.
func NewTally(model *wire.Model, column string, origins []float64, classes int) *Tally {
	t := &Tally{sums: wire.LiveSums{Model: model.ID, Column: column, Measure: measureOf(model, column, classes)}}
	if classes == 0 {
		t.sums.Outputs = make([]wire.OutputSums, len(origins))
		for k, origin := range origins {
			t.sums.Outputs[k].Origin = bounded(origin)
		}
	} else {
		t.sums.Classes = make([]int64, classes)
	}
	if classes == 2 && column == "" {
		t.scores = [2][]int32{make([]int32, wire.ScoreBins), make([]int32, wire.ScoreBins)}
	}
	t.sums.Promised = credible(promise(&model.Metrics, t.sums.Measure))
	t.sums.PromisedRows = model.Metrics.MeasuredRows
	percent, _ := model.Metrics.Percent()
	t.sums.PromisedError = credible(percent)
	return t
}

// credible returns a promised figure, nil if no error has its value: blocks with it would be invalid.
func credible(figure *float64) *float64 {
	if figure == nil || !(*figure >= 0 && *figure <= wire.LargestPromise) {
		return nil
	}
	return figure
}

func measureOf(model *wire.Model, column string, classes int) string {
	switch {
	case classes == 0:
		return wire.LiveSquaredError
	case column == "" && model.Model.Loss == training.LossLogistic:
		return wire.LiveLogLoss
	}
	return wire.LiveMisclassification
}

// promise returns the mean loss of a model on its held-out rows; nil if it was not measured.
func promise(m *wire.Metrics, measure string) *float64 {
	var mean float64
	switch {
	case measure == wire.LiveLogLoss:
		return m.LogLoss
	case measure == wire.LiveMisclassification && m.Misclassification != nil:
		mean = *m.Misclassification / 100
	case measure == wire.LiveSquaredError && len(m.RMSE) > 0:
		for _, v := range m.RMSE {
			mean += v * v / float64(len(m.RMSE))
		}
	default:
		return nil
	}
	return &mean
}

// AddRegression adds a row of predictions and labels, both in the units of the label. It panics
// unless every output has one of each.
func (t *Tally) AddRegression(predicted, label []float64) {
	if len(predicted) != len(t.sums.Outputs) || len(label) != len(predicted) {
		panic(fmt.Sprintf("live: %d predictions and %d labels of %d outputs",
			len(predicted), len(label), len(t.sums.Outputs)))
	}
	loss := 0.0
	for k := range predicted {
		o := &t.sums.Outputs[k]
		r, y := bounded(predicted[k]-label[k]), bounded(label[k]-o.Origin)
		o.Residual += r
		o.SquaredResidual += float64(r * r)
		o.AbsoluteResidual += math.Abs(r)
		o.Label += y
		o.SquaredLabel += float64(y * y)
		loss += float64(r * r)
	}
	t.add(loss / float64(len(predicted)))
}

// bounded returns a difference, clipped so that its fourth power is finite.
func bounded(d float64) float64 {
	if math.IsNaN(d) {
		return wire.LargestResidual
	}
	return min(max(d, -wire.LargestResidual), wire.LargestResidual)
}

// AddClass adds a row with the outputs of the model and the number of its class. It panics if the
// number is not a class.
func (t *Tally) AddClass(outputs []float32, class int32) {
	if t.scores[0] != nil {
		t.scores[class][scoreBin(t.score(outputs[0]))]++
	}
	loss := t.decided(training.DecideClass(outputs, len(outputs)), class)
	if t.sums.Measure == wire.LiveLogLoss {
		loss = logLoss(outputs, class)
	}
	t.add(loss)
}

// AddDecision adds a row with the numbers of its supplied class and its actual one. It panics if a
// number is not a class.
func (t *Tally) AddDecision(predicted, class int32) { t.add(t.decided(predicted, class)) }

// AddUnknown adds a row of a class that the feature set does not know: every prediction is wrong.
func (t *Tally) AddUnknown() {
	t.sums.Unknown++
	t.sums.Wrong++
	if t.sums.Measure == wire.LiveLogLoss { // the class has no probability
		t.sums.Rows++
		return
	}
	t.add(1)
}

// AddForeignDecision adds a row of a class for which a class was supplied that the feature set does
// not know.
func (t *Tally) AddForeignDecision(class int32) {
	t.sums.Classes[class]++
	t.sums.Wrong++
	t.add(1)
}

// decided counts a row of a class and returns 1 if another one was predicted.
func (t *Tally) decided(predicted, class int32) float64 {
	t.sums.Classes[class]++
	if predicted == class {
		return 0
	}
	t.sums.Wrong++
	return 1
}

// largestLogLoss is the log loss of the smallest positive float32: larger losses come from
// meaningless outputs.
const largestLogLoss = 104

func logLoss(outputs []float32, class int32) float64 {
	loss := training.NegativeLog(outputs, class)
	if math.IsNaN(loss) {
		return largestLogLoss
	}
	return min(loss, largestLogLoss)
}

// score is the score for the second of two classes.
func (t *Tally) score(output float32) float64 {
	if t.sums.Measure == wire.LiveLogLoss {
		return 1 / (1 + math.Exp(-float64(output)))
	}
	return (1 + float64(output)) / 2
}

func scoreBin(score float64) int {
	if !(score > 0) { // NaN as well
		return 0
	}
	return int(min(score*wire.ScoreBins, wire.ScoreBins-1))
}

func (t *Tally) add(loss float64) {
	t.sums.Rows++
	t.sums.Loss += loss
	t.sums.Squares += float64(loss * loss)
}

// Take returns the sums and clears them. It returns nil without rows.
func (t *Tally) Take() *wire.LiveSums {
	if t.sums.Rows == 0 {
		return nil
	}
	taken := t.sums.Clone()
	for class, bins := range t.scores {
		for bin, n := range bins {
			if n > 0 {
				taken.Scores[class] = append(taken.Scores[class], wire.ScoreBin{int64(bin), int64(n)})
			}
		}
		clear(bins)
	}
	clear(t.sums.Classes)
	for k := range t.sums.Outputs {
		t.sums.Outputs[k] = wire.OutputSums{Origin: t.sums.Outputs[k].Origin}
	}
	t.sums.Rows = 0
	t.sums.Loss = 0
	t.sums.Squares = 0
	t.sums.Wrong = 0
	t.sums.Unknown = 0
	return &taken
}
