package demo

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/train"
)

// describe adds the published set, model and counters to the result.
func (r *run) describe(set *wire.FeatureSet, model *wire.Model) {
	lineage, totals := set.Lineage, r.runtime.Env.Meter.Totals()
	r.result.Set = set
	r.result.Model = Model{ID: model.ID, Loss: model.Model.Loss, Lambda: model.Model.Lambda,
		Metric: "unexplained variance"}
	if set.Task != scoring.Regression {
		r.result.Model.Metric = "misclassification"
	}
	for stage, rows := range map[meter.Stage]int64{
		meter.StageSubsample: lineage.Counts.Rows,
		meter.StageFeaturize: totals.Featurize.Rows,
		meter.StageTrain:     totals.Train.Rows,
	} {
		r.result.RowsPerSecond[stage] = rate(rows, r.result.Seconds[stage])
	}
}

// evaluate measures the model on the test rows.
func (r *run) evaluate(set *wire.FeatureSet, model *wire.Model) error {
	r.progress("measuring on test rows", 0, 0)
	errs, err := train.Evaluate(set, model, r.test)
	if err != nil {
		return err
	}
	if errs.Rows == 0 {
		return ErrNoTestRows
	}
	r.result.Model.Test, r.result.Model.Error = errs, errs.Error()
	_, r.result.Model.ConstantError = errs.Percent()
	return nil
}

// baseline trains on plain random features, the first M candidates of the same pool without a
// bandwidth mix. Encoder, bandwidth, training rows, held-out rows and the choice of lambda are the
// same.
func (r *run) baseline(ctx context.Context, set *wire.FeatureSet) error {
	plain := selection.PlainSet(set)
	partitions, err := r.broker.Partitions(ctx, r.Settings.Topics.Events)
	if err != nil {
		return err
	}
	limits := arrowio.DefaultLimits()
	featurizer, err := featurize.New(plain, featurize.Settings{
		Source:         events.Source{Limits: limits},
		MaxOutputBytes: r.Settings.Featurize.MaxOutputBytes,
	})
	if err != nil {
		return err
	}
	trainer, err := train.New(plain, r.Settings.Train, limits, partitions)
	if err != nil {
		return err
	}
	for partition := range partitions {
		if err := r.retrain(ctx, featurizer, trainer.Partition(partition), partition, trainer.Rows); err != nil {
			return fmt.Errorf("baseline on partition %d: %w", partition, err)
		}
	}
	model, err := trainer.Solve(ctx, r.Settings.Pipeline.Name, r.runtime.Env.Clock())
	if err != nil {
		return err
	}
	errs, err := train.Evaluate(plain, model, r.test)
	if err != nil {
		return err
	}
	r.result.Model.BaselineTest, r.result.Model.BaselineError = errs, errs.Error()
	return nil
}

// retrain rereads a partition of events and trains on its plain features; trained counts the rows
// of all partitions.
func (r *run) retrain(
	ctx context.Context,
	featurizer *featurize.Featurizer,
	trainer *train.Partition,
	partition int,
	trained func() int64,
) error {
	topic := r.Settings.Topics.Events
	reader := pipeline.NewReader(r.broker, r.runtime.Env.Logger, topic, partition,
		pipeline.ReadOptions{From: pipeline.FirstOffset, Until: pipeline.PresentEnd, Ahead: true})
	for fetched, err := range reader.Fetches(ctx) {
		if err != nil {
			return err
		}
		r.progress("training on plain random features", trained(), r.sent.rows)
		for _, rec := range fetched.Records {
			err := featurizer.Process(rec, 0, rec.Time, func(part featurize.Part) error {
				if part.Output == nil {
					return nil
				}
				part.Output.Topic, part.Output.Partition = topic, partition
				return trainer.Add(*part.Output)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
