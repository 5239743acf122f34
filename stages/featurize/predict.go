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

// Why a row has no prediction, in one word.
const (
	missingModel      = "no_model"          // none is in use yet
	missingOtherSet   = "other_feature_set" // the one in use belongs to another feature set
	missingUnreadable = "unusable_model"    // the one in use is not on its topic, is not understood, or does not fit its feature set
)

// predictor predicts rows with a model, compares the predictions with the labels that the rows have and, if asked to,
// writes them next to the features. It belongs to one featurizer.
type predictor struct {
	attached bool   // predictions go into the output
	set      string // id
	task     scoring.Task
	columns  wire.Predictions // of the current message
	outputs  int
	names    []string
	invert   encoder.Transform // of a regression label
	m        int
	model    *training.Model
	f        []float32 // reused: outputs of a block of rows

	tally   *live.Tally // of the model; nil = nothing to compare
	brought *brought    // predictions that events bring; nil = the model's are compared
	mean    []float64   // of a regression label: targets are relative to it
	label   []float32   // reused: of one row
}

// predictionBlock is how many rows are predicted at a time, while their features are in the cache.
const predictionBlock = 64

// comparedRows is about how many rows of an output are compared with their labels, in blocks of predictionBlock spread
// over the output: the error of live predictions needs no more, and comparing all would take a tenth of the time.
const comparedRows = 128

// newPredictor returns a predictor without a model, nil if the set has no label.
func newPredictor(set *wire.FeatureSet) *predictor {
	label := set.Encoder.Label
	if label == nil {
		return nil
	}
	p := &predictor{set: set.ID(), task: set.Task, outputs: set.Encoder.Outputs(), names: label.Classes, invert: label.Transform, m: set.Set.Features.Len()}
	if set.Task == scoring.Regression {
		p.columns.Outputs, p.mean, p.label = p.outputs, label.Mean, make([]float32, p.outputs)
	} else {
		p.columns.Classes = wire.NewClasses(label.Classes)
	}
	p.f = make([]float32, predictionBlock*p.outputs)
	p.use(nil, missingModel)
	return p
}

// checkPredictable returns an error if the output of a set cannot have predictions.
func checkPredictable(set *wire.FeatureSet) error {
	if set.Encoder.Label == nil {
		return pipeline.Permanent(fmt.Errorf("featurize.predictions: feature set %s has no label to predict", set.ID()))
	}
	if err := wire.CheckPredictionColumns(events.OutputColumns(set.Encoder)); err != nil {
		return pipeline.Permanent(fmt.Errorf("featurize.predictions: passthrough and label columns of feature set %s: %w", set.ID(), err))
	}
	return nil
}

// attaches reports whether predictions go into the output.
func (p *predictor) attaches() bool { return p != nil && p.attached }

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
		missing = p.unfit(model)
	}
	p.model, p.columns.Model, p.columns.Missing, p.columns.Probabilities, p.tally = nil, "", missing, false, nil
	if missing == "" {
		p.model, p.columns.Model = model.Model, model.ID
		if p.brought == nil || p.columns.Outputs <= 1 {
			p.tally = live.NewTally(model, p.brought.column(), p.columns.Outputs, len(p.names))
		}
		p.columns.Probabilities = p.task != scoring.Regression && model.Model.Loss == training.LossLogistic
	}
}

// unfit says why a model cannot be used for the set; empty if it can.
func (p *predictor) unfit(model *wire.Model) string {
	switch w := model.Model; {
	case model.FeatureSetID != p.set:
		return missingOtherSet
	case w.Features != p.m || w.Outputs != p.outputs:
		return missingUnreadable
	}
	return ""
}

// predict predicts the rows from first up to, not including, next, whose features are in the body. Predictions stay
// until the next call; if they are attached, they are written into the body as well.
func (p *predictor) predict(body *wire.FeaturesBody, first, next int) {
	if p.model == nil {
		return
	}
	n := next - first
	f := p.f[:n*p.outputs]
	p.model.Predict(f, body.Features[first*p.m:next*p.m], n)
	if p.task == scoring.Regression {
		p.invert.InvertAll(f)
	}
	if p.attached {
		p.write(body, f, first, n)
	}
}

// write puts n predictions, from first on, into the body.
func (p *predictor) write(body *wire.FeaturesBody, f []float32, first, n int) {
	if p.task == scoring.Regression {
		copy(body.Prediction[first*p.outputs:], f)
		return
	}
	classes := len(p.names)
	for i := range n {
		row := f[i*p.outputs : (i+1)*p.outputs]
		body.Class[first+i] = training.DecideClass(row, p.outputs)
		if body.Probabilities != nil {
			training.Probabilities(body.Probabilities[(first+i)*classes:(first+i+1)*classes], row)
		}
	}
}

// compare adds predictions to the live sums, those of encoded rows of a chunk from first up to, not including, next that
// have a label: what the last call of predict gave, or what the rows bring.
func (p *predictor) compare(chunk arrow.Record, rows *encoder.Rows, first, next int) {
	if p.tally == nil {
		return
	}
	if p.brought != nil {
		p.compareBrought(chunk, rows, first, next)
		return
	}
	for i := first; i < next; i++ {
		if !rows.Labelled[i] {
			continue
		}
		f := p.f[(i-first)*p.outputs : (i-first+1)*p.outputs]
		if p.task == scoring.Regression {
			p.tally.AddRegression(f, p.labelOf(rows, i))
		} else {
			p.tally.AddClass(f, classOf(rows, i))
		}
	}
}

// labelOf is the label of a regression in its units.
func (p *predictor) labelOf(rows *encoder.Rows, i int) []float32 {
	for k, v := range rows.Targets.Values[i*p.outputs : (i+1)*p.outputs] {
		p.label[k] = float32(p.invert.Invert(float64(v) + p.mean[k]))
	}
	return p.label
}

// classOf is the class of a row: of two, the sign of the target says which.
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
