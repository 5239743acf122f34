package stages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// Solve fits a model to the rows so far. The trainer can go on taking rows afterwards.
func (t *Trainer) Solve(ctx context.Context, pipelineName string, now time.Time) (*wire.Model, error) {
	if t.Rows() < max(1, t.config.MinRows) {
		return nil, fmt.Errorf("%w: feature set %s has %d, %d are asked for", ErrTooFewRows, t.id, t.Rows(), t.config.MinRows)
	}
	stock, evaluation, ranges := t.merge()
	result, err := stock.train(ctx, training.Options{Intercept: t.config.Intercept, Grid: t.grid})
	if err != nil {
		return nil, fmt.Errorf("train on feature set %s: %w", t.id, err)
	}
	metrics := t.metrics(result, stock, evaluation)
	judged := result.OnFit
	if judged == result.Model { // there was nothing to be held out, or nothing else
		judged = nil
	} else {
		t.decode(judged)
	}
	t.decode(result.Model)
	model := &wire.Model{
		Pipeline: pipelineName, FeatureSetID: t.id, Sequence: t.set.Lineage.Sequence, Model: result.Model,
		Label: t.set.Encoder.Label, Metrics: metrics,
		TrainRows: result.TrainRows, HeldOutRows: result.HeldOutRows,
		HeldOutSeed: t.config.HeldOutSeed, HeldOutFraction: t.config.HeldOutFraction, Ranges: ranges, TrainedAt: now,
		ConfigHash: t.config.hash(), Judged: judged,
	}
	if err := model.Validate(); err != nil {
		return nil, fmt.Errorf("train on feature set %s: %w", t.id, err)
	}
	model.ID = wire.ModelID(model)
	return model, nil
}

// merge adds up the partitions in partition order.
func (t *Trainer) merge() (stock trainStock, evaluation *training.EvaluationSample, ranges []wire.Range) {
	stock = t.newStock()
	evaluation = training.NewEvaluationSample(t.set.Set.Features.Len(), t.outputs, t.config.EvaluationRows)
	for _, p := range t.parts {
		stock.merge(p.stock)
		evaluation.Merge(p.evaluation)
		if p.any {
			ranges = append(ranges, p.seen)
		}
	}
	return stock, evaluation, ranges
}

// decode turns a regression model of coded labels into one that predicts in the units of the label.
func (t *Trainer) decode(model *training.Model) {
	if t.set.Task != scoring.Regression {
		return
	}
	for k, gain := range t.coding.Gain {
		for i := range model.Features {
			model.Theta[k*model.Features+i] /= gain
		}
		model.Intercept[k] = (model.Intercept[k]-t.fitOffset[k])/gain + t.set.Encoder.Label.Mean[k]
	}
}

// metrics measures, on held-out rows, the model that was fitted without them.
func (t *Trainer) metrics(result *trained, stock trainStock, evaluation *training.EvaluationSample) wire.Metrics {
	metrics := wire.Metrics{LambdaRule: string(result.Rule), LambdaPath: result.path(), Descent: result.last}
	if evaluation.Len() == 0 || stock.rows() == 0 {
		return metrics
	}
	if t.set.Task != scoring.Regression {
		errs := evaluation.Classification(result.OnFit, stock.majority())
		metrics.LogLoss = result.logLoss
		metrics.Misclassification = wire.Measured(errs.Misclassification())
		metrics.ConstantError = wire.Measured(errs.ConstantError())
		return metrics
	}
	// The evaluation rows are coded with the offset, the fitted ones perhaps without.
	trainMean, coded := stock.fit.OutputMean(), *result.OnFit
	coded.Intercept = slices.Clone(coded.Intercept)
	for k, offset := range t.coding.Offset {
		trainMean[k] += offset - t.fitOffset[k]
		coded.Intercept[k] += offset - t.fitOffset[k]
	}
	errs := evaluation.Regression(&coded, trainMean)
	metrics.RelativeSquaredError = wire.Measured(errs.RelativeSquaredError())
	metrics.UnexplainedVariance = wire.Measured(errs.UnexplainedVariance())
	metrics.ConstantError = wire.Measured(errs.ConstantError())
	return metrics
}

// hash names what is configured about training and changes models, or which of them are put in use.
func (c TrainConfig) hash() string {
	c.Interval, c.RowMemory = 0, 0
	document, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("stages: settings do not marshal: %v", err)) // numbers are checked by config
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:])
}
