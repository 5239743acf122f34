package featurize

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/training"
)

// Reasons for a row without a prediction.
const (
	missingModel      = "no_model"          // no model is current yet
	missingOtherSet   = "other_feature_set" // the current model belongs to another feature set
	missingUnreadable = "unusable_model"    // the current model cannot be read or does not fit its feature set
)

// label is a set's label as predictions and their comparison need it. It is immutable.
type label struct {
	set      string // id
	features int
	task     scoring.Task
	outputs  int
	classes  []string
	invert   encoder.Transform // of a regression
	mean     []float64         // of a regression: targets are relative to it
	columns  wire.Predictions  // of the output, without a model
	attached bool              // predictions are added to the output
	cut      float32           // of two classes: the output above which the second is decided
	supplied *supplied         // reads the predictions in events; nil = the model's are compared
}

// newLabel returns the label of a set, or nil. Predictions in a column of the events, if named, are
// compared with it.
func newLabel(set *wire.FeatureSet, predictionColumn string) *label {
	of := set.Encoder.Label
	if of == nil {
		return nil
	}
	l := &label{
		set:      set.ID(),
		features: set.Set.Features.Len(),
		task:     set.Task,
		outputs:  set.Encoder.Outputs(),
		classes:  of.Classes,
		invert:   of.Transform,
	}
	if set.Task == scoring.Regression {
		l.columns.Outputs = l.outputs
		l.mean = of.Mean
	} else {
		l.columns.Classes = wire.NewClasses(of.Classes)
	}
	if predictionColumn != "" {
		l.supplied = newSupplied(of, predictionColumn)
	}
	return l
}

// checkPredictable returns an error if the output of a set cannot have predictions, decided by a
// threshold if it is not 0.
func checkPredictable(set *wire.FeatureSet, threshold float64) error {
	if set.Encoder.Label == nil {
		return pipeline.Permanent(fmt.Errorf("featurize.predictions: feature set %s has no label to predict", set.ID()))
	}
	if err := wire.CheckPredictionColumns(events.OutputColumns(set.Encoder)); err != nil {
		return pipeline.Permanent(fmt.Errorf("featurize.predictions: passthrough and label columns of feature set %s: %w",
			set.ID(), err))
	}
	if err := training.CheckThreshold(threshold, len(set.Encoder.Label.Classes), training.LossLogistic); err != nil {
		return pipeline.Permanent(fmt.Errorf("feature set %s: predict.%w", set.ID(), err))
	}
	return nil
}

// predictor predicts rows with a model, compares the predictions with the labels of the rows and,
// if asked to, writes them next to the features. It belongs to one goroutine.
type predictor struct {
	label   *label
	columns wire.Predictions // of the current message
	model   *training.Model
	outputs []float32 // reused: scores of classes of a block of rows
	values  []float64 // reused: predictions of a regression of a block of rows

	tally    *live.Tally // of the model; nil = nothing to compare
	supplied suppliedRows
	truth    []float64 // reused: the label of one row
}

// predictionBlock is the number of rows predicted at a time, while their features are in the cache.
const predictionBlock = 64

// comparedRows is the approximate number of rows of an output that are compared with their labels,
// in blocks of predictionBlock spread over the output. The live error needs no more rows, and
// comparing all would take a tenth of the time.
const comparedRows = 128

// predictor returns a predictor without a model; nil for a set without a label.
func (l *label) predictor() *predictor {
	if l == nil {
		return nil
	}
	p := &predictor{label: l}
	if l.task == scoring.Regression {
		p.values, p.truth = make([]float64, predictionBlock*l.outputs), make([]float64, l.outputs)
	} else {
		p.outputs = make([]float32, predictionBlock*l.outputs)
	}
	if l.supplied != nil {
		p.supplied.fault = l.supplied.fault
	}
	p.use(nil, missingModel)
	return p
}

// attaches reports whether predictions are added to the output.
func (p *predictor) attaches() bool { return p != nil && p.label.attached }

// take returns the live sums since the last call, nil if no row was compared.
func (p *predictor) take() *wire.LiveSums {
	if p == nil || p.tally == nil {
		return nil
	}
	return p.tally.Take()
}

// use predicts with a model from now on, or with none for the given reason.
func (p *predictor) use(model *wire.Model, missing string) {
	if model != nil {
		missing = p.label.unfit(model)
	}
	p.columns = p.label.columns
	p.columns.Missing = missing
	p.model = nil
	p.tally = nil
	if missing != "" {
		return
	}
	p.model = model.Model
	p.columns.Model = model.ID
	p.columns.Probabilities = p.label.task != scoring.Regression && model.Model.Loss == training.LossLogistic
	if p.label.supplied == nil || p.columns.Outputs <= 1 {
		p.tally = live.NewTally(model, p.label.supplied.column(), p.label.origins(), len(p.label.classes))
	}
}

// unfit returns the reason why a model cannot be used for the set; empty if it can.
func (l *label) unfit(model *wire.Model) string {
	switch w := model.Model; {
	case model.FeatureSetID != l.set:
		return missingOtherSet
	case w.Features != l.features || w.Outputs != l.outputs:
		return missingUnreadable
	}
	return ""
}

// origins returns the calibration mean of each output of a regression in the units of the label.
func (l *label) origins() []float64 {
	origins := make([]float64, len(l.mean))
	for k, mean := range l.mean {
		origins[k] = l.invert.Invert(mean)
	}
	return origins
}

// predict predicts the rows from first up to, not including, next, whose features are in the body.
// Predictions stay valid until the next call; if they are attached, they are also written into the
// body.
func (p *predictor) predict(body *wire.FeaturesBody, first, next int) {
	if p.model == nil {
		return
	}
	n := next - first
	z := body.Features[first*p.label.features : next*p.label.features]
	if p.label.task == scoring.Regression {
		values := p.values[:n*p.label.outputs]
		p.model.PredictValues(values, z, n)
		p.label.invert.InvertAll(values)
		if p.label.attached {
			copy(body.Prediction[first*p.label.outputs:], values)
		}
		return
	}
	f := p.outputs[:n*p.label.outputs]
	p.model.Predict(f, z, n)
	if p.label.attached {
		p.writeClasses(body, f, first, n)
	}
}

// writeClasses puts the classes and probabilities of n rows, from first on, into the body.
func (p *predictor) writeClasses(body *wire.FeaturesBody, f []float32, first, n int) {
	outputs, classes := p.label.outputs, len(p.label.classes)
	for i := range n {
		row := f[i*outputs : (i+1)*outputs]
		body.Class[first+i] = training.DecideAbove(row, outputs, p.label.cut)
		if body.Probabilities != nil {
			training.Probabilities(body.Probabilities[(first+i)*classes:(first+i+1)*classes], row)
		}
	}
}

// compare adds the predictions of encoded rows of a chunk, from first up to, not including, next,
// to the live sums. The rows without a label are left out. The predictions are those of the last
// call of predict, or supplied by the rows.
func (p *predictor) compare(chunk arrow.Record, rows *encoder.Rows, first, next int) {
	if p.tally == nil {
		return
	}
	if p.label.supplied != nil {
		p.compareSupplied(chunk, rows, first, next)
		return
	}
	outputs := p.label.outputs
	for i := first; i < next; i++ {
		if rows.Unseen[i] {
			p.tally.AddUnknown()
		}
		if !rows.Labelled[i] {
			continue
		}
		at := (i - first) * outputs
		if p.label.task == scoring.Regression {
			p.tally.AddRegression(p.values[at:at+outputs], p.labelOf(rows, i))
		} else {
			p.tally.AddClass(p.outputs[at:at+outputs], classOf(rows, i))
		}
	}
}

// labelOf returns the label of a row of a regression in its units.
func (p *predictor) labelOf(rows *encoder.Rows, i int) []float64 {
	outputs := p.label.outputs
	for k, v := range rows.Targets.Values[i*outputs : (i+1)*outputs] {
		p.truth[k] = p.label.invert.Invert(float64(v) + p.label.mean[k])
	}
	return p.truth
}

// classOf is the class of a row. With two classes, the sign of the target gives it.
func classOf(rows *encoder.Rows, i int) int32 {
	if rows.Targets.Class != nil {
		return rows.Targets.Class[i]
	}
	return training.DecideClass(rows.Targets.Values[i:i+1], 1)
}

// count adds rows to the outcomes of predictions.
func (p *predictor) count(c *meter.FeaturizeCounts, rows int64) {
	switch p.columns.Missing {
	case "":
		c.Predicted += rows
	case missingModel:
		c.NoModel += rows
	case missingOtherSet:
		c.OtherSetModel += rows
	default:
		c.UnusableModel += rows
	}
}
