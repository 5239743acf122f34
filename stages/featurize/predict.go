package featurize

import (
	"fmt"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/training"
)

// Why a row has no prediction, in one word.
const (
	missingModel      = "no_model"          // none is in use yet
	missingOtherSet   = "other_feature_set" // the one in use belongs to another feature set
	missingUnreadable = "unusable_model"    // the one in use is not on its topic, is not understood, or does not fit its feature set
)

// predictor writes what a model predicts next to the features that it is given. It belongs to one featurizer.
type predictor struct {
	set     string // id
	task    scoring.Task
	columns wire.Predictions // of the current message
	outputs int
	names   []string
	invert  encoder.Transform // of a regression label
	m       int
	model   *training.Model
	f       []float32 // reused: outputs of a block of rows
}

// predictionBlock is how many rows are predicted at a time, while their features are in the cache.
const predictionBlock = 64

func newPredictor(set *wire.FeatureSet) (*predictor, error) {
	label := set.Encoder.Label
	if label == nil {
		return nil, pipeline.Permanent(fmt.Errorf("featurize.predictions: feature set %s has no label to predict", set.ID()))
	}
	if err := wire.CheckPredictionColumns(events.OutputColumns(set.Encoder)); err != nil {
		return nil, pipeline.Permanent(fmt.Errorf("featurize.predictions: passthrough and label columns of feature set %s: %w", set.ID(), err))
	}
	p := &predictor{set: set.ID(), task: set.Task, outputs: set.Encoder.Outputs(), names: label.Classes, invert: label.Transform, m: set.Set.Features.Len()}
	if set.Task == scoring.Regression {
		p.columns.Outputs = p.outputs
	} else {
		p.columns.Classes = wire.NewClasses(label.Classes)
	}
	p.f = make([]float32, predictionBlock*p.outputs)
	p.use(nil, missingModel)
	return p, nil
}

// use predicts with a model from now on, or with none for the given reason.
func (p *predictor) use(model *wire.Model, missing string) {
	if model != nil {
		missing = p.unfit(model)
	}
	p.model, p.columns.Model, p.columns.Missing, p.columns.Probabilities = nil, "", missing, false
	if missing == "" {
		p.model, p.columns.Model = model.Model, model.ID
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

// predict fills in predictions of the rows from first up to, not including, next, whose features are already there.
func (p *predictor) predict(body *wire.FeaturesBody, first, next int) {
	if p.model == nil {
		return
	}
	z, n := body.Features[first*p.m:next*p.m], next-first
	if p.task == scoring.Regression {
		predicted := body.Prediction[first*p.outputs : next*p.outputs]
		p.model.Predict(predicted, z, n)
		p.invert.InvertAll(predicted)
		return
	}
	f := p.f[:n*p.outputs]
	p.model.Predict(f, z, n)
	classes := len(p.names)
	for i := range n {
		row := f[i*p.outputs : (i+1)*p.outputs]
		body.Class[first+i] = training.DecideClass(row, p.outputs)
		if body.Probabilities != nil {
			training.Probabilities(body.Probabilities[(first+i)*classes:(first+i+1)*classes], row)
		}
	}
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
