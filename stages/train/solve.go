package train

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// Solve fits a model to the rows so far. More rows may be added afterwards.
func (t *Trainer) Solve(ctx context.Context, pipelineName string, now time.Time) (*wire.Model, error) {
	if needed := max(1, t.config.MinRows); t.Rows() < needed {
		return nil, fmt.Errorf("%w: feature set %s has %d, train.min_rows asks for %d", ErrTooFewRows, t.id, t.Rows(), needed)
	}
	result, err := t.solve(ctx, training.Options{
		Intercept: t.config.Intercept,
		Grid:      t.grid,
		Budget:    training.NewBudget(t.config.LearningTime),
	})
	if err != nil {
		return nil, fmt.Errorf("train on feature set %s: %w", t.id, err)
	}
	metrics := t.metrics(result)
	if t.config.Measure != training.MeasureAuto {
		metrics.Measure = t.measure
	}
	metrics.HalfLife = result.halfLife
	metrics.Seen = t.seenRows(result.seen, result.HeldOutRows)
	if metrics.Seen != nil && metrics.Seen.Share > 0.5 { // errors on rows that taught the features would be too low
		metrics.Measures, metrics.MeasuredRows = training.Measures{Measure: metrics.Measure}, 0
	}
	if share := t.RowShare(); share < 1 {
		metrics.RowShare = share
		if t.shareByTime {
			result.economies = append(result.economies, wire.FewerRows)
		}
	}
	metrics.Economies = result.economies
	judged := result.OnFit
	if judged == result.Model { // either no rows were held out, or all were
		judged = nil
	} else {
		t.decode(judged)
	}
	t.decode(result.Model)
	model := &wire.Model{
		Pipeline:        pipelineName,
		FeatureSetID:    t.id,
		Sequence:        t.set.Lineage.Sequence,
		Model:           result.Model,
		Label:           t.set.Encoder.Label,
		Metrics:         metrics,
		TrainRows:       result.TrainRows,
		HeldOutRows:     result.HeldOutRows,
		HeldOutSeed:     t.config.HeldOutSeed,
		HeldOutFraction: t.config.HeldOutFraction,
		Ranges:          t.ranges(),
		TrainedAt:       now,
		ConfigHash:      t.config.hash(),
		Judged:          judged,
	}
	if w := t.config.Window; w > 0 {
		model.Window = strconv.FormatInt(w, 10)
	}
	if result.seen == 0 {
		model.NotHeldOut = t.learnedFrom
	}
	if err := model.Validate(); err != nil {
		return nil, fmt.Errorf("train on feature set %s: %w", t.id, err)
	}
	model.ID = wire.ModelID(model)
	return model, nil
}

// ranges lists the ranges of events that were read, by partition.
func (t *Trainer) ranges() (ranges []wire.Range) {
	for _, p := range t.parts {
		ranges = append(ranges, p.ranges...)
	}
	return ranges
}

// seenRows describes the held-out rows that the exploration may have seen, nil if there are none.
func (t *Trainer) seenRows(seen, heldOut int64) *wire.SeenRows {
	if seen == 0 {
		return nil
	}
	share := float64(seen) / float64(heldOut)
	if t.learnedFrom[0].SampleRate == 0 { // the sampled rows of the ranges are unknown, but not their share
		share *= t.set.Lineage.SampleRate
	}
	return &wire.SeenRows{InRanges: seen, Share: share}
}

// metrics measures the model that was fitted without the held-out rows on the held-out rows.
func (t *Trainer) metrics(result *solved) wire.Metrics {
	evaluation, all := result.evaluation, result.data
	metrics := wire.Metrics{LambdaRule: string(result.Rule), LambdaPath: result.path(), Descent: result.last}
	if evaluation.Len() == 0 || all.fit.len() == 0 {
		return metrics
	}
	metrics.MeasuredRows = int64(evaluation.Len())
	if t.set.Task != scoring.Regression {
		metrics.Measures = evaluation.Classification(result.OnFit, all.majority()).Measures()
		metrics.NameClasses(t.set.Encoder.Label.Classes)
		return metrics
	}
	coded, trainMean := t.coded(result.OnFit), all.fit[0].sums.OutputMean()
	for k, offset := range t.coding.Offset {
		trainMean[k] += offset - t.fitOffset[k]
	}
	metrics.Measures = evaluation.Regression(coded, trainMean, labelUnits(t.coding, t.set.Encoder.Label)).Measures()
	return metrics
}
