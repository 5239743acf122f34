package featurize

import (
	"context"
	"sync"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/supervise"
	"github.com/eerf-stream/eerf/stages/topics"
)

// Runner is the stage: it maps the partitions of events that this process owns to the same
// partitions of features.
type Runner struct {
	Env    env.Env // its clock is called from several goroutines
	Config Config
	Source events.Source // how events are read
	// Amplification, CompressedAmplification and PredictionColumn are as in [Settings].
	Amplification           int64
	CompressedAmplification int64
	PredictionColumn        string
	// Threshold is predict.threshold.
	Threshold float64
	// ClassMinRows is the number of rows of a class unknown to the newest exploration for which
	// featurizers request another one; 0 = never.
	ClassMinRows int64

	sets    preparedSets
	outputs *outputMemory // made by the first partition
	once    sync.Once
}

// settings are the settings of every feature set.
func (r *Runner) settings() Settings {
	return Settings{
		Source:                  r.Source,
		MaxOutputBytes:          r.Config.MaxOutputBytes,
		Amplification:           r.Amplification,
		CompressedAmplification: r.CompressedAmplification,
		Predictions:             r.Config.Predictions,
		Threshold:               r.Threshold,
		PredictionColumn:        r.PredictionColumn,
	}
}

// Run owns partitions until ctx ends, and loads the current model.
func (r *Runner) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	classes := newClassWatch(r)
	group.Go(func() error { return classes.run(ctx) })
	models := newModelLoader(r.Env.State, r.Env.Logger, r.Config.Predictions, r.Threshold)
	group.Go(func() error { return models.run(ctx) })
	supervised := &supervise.Stage{
		Name:   meter.StageFeaturize,
		Meter:  r.Env.Meter,
		Logger: r.Env.Logger,
		Policy: r.Env.Quarantine,
	}
	group.Go(func() error {
		return r.Env.Broker.Own(ctx, r.Env.Group, r.Env.Topics.Events, func(ctx context.Context, o pipeline.Ownership) error {
			return supervised.Run(ctx, o.Partition, func(ctx context.Context) error { return r.own(ctx, o, models, classes) })
		})
	})
	return group.Wait()
}

// own works on a partition until ctx ends.
func (r *Runner) own(ctx context.Context, o pipeline.Ownership, models *modelLoader, classes *classWatch) error {
	logger := r.Env.Logger.With(zap.Int("partition", o.Partition))
	return pipeline.Retake(ctx, logger, func() error { return r.take(ctx, logger, o, models, classes) })
}

// take fences earlier owners of the partition, then maps it from the end of its output until ctx
// ends.
func (r *Runner) take(
	ctx context.Context,
	logger *zap.Logger,
	o pipeline.Ownership,
	models *modelLoader,
	classes *classWatch,
) error {
	if err := topics.WaitCoPartitioned(ctx, r.Env.Broker, logger, o.Partition, r.Env.Topics.Features,
		r.Env.Topics.DeadLetters); err != nil {
		return pipeline.EndOf(ctx, err)
	}
	if _, err := r.Env.State.Wait(ctx, func(s state.Snapshot) bool { return s.CurrentSet() != nil }); err != nil {
		return pipeline.EndOf(ctx, err)
	}
	models.wait(ctx)
	if ctx.Err() != nil {
		return nil
	}
	return r.featurize(ctx, o, models, classes, logger)
}

// featurize maps a partition until ctx ends.
func (r *Runner) featurize(
	ctx context.Context,
	o pipeline.Ownership,
	models *modelLoader,
	classes *classWatch,
	logger *zap.Logger,
) error {
	hasLive, err := r.hasLive(ctx, logger, o.Partition)
	if err != nil {
		return pipeline.EndOf(ctx, err)
	}
	writer, err := r.openWriter(ctx, logger, o.Partition, hasLive)
	if err != nil {
		return pipeline.EndOf(ctx, err)
	}
	p := newPartition(r, o, writer, models, classes, logger)
	p.hasLive = hasLive
	if err := p.resume(ctx); err != nil {
		return pipeline.EndOf(ctx, err)
	}
	failpoint.Hit(failpoint.ResumeAfter)
	logger.Info("featurizing", zap.Int64("next_offset", p.next), zap.Int32("next_row", p.nextRow))
	p.at = r.Env.Meter.Follow(meter.StageFeaturize, r.Env.Topics.Events, o.Partition, p.next)
	defer p.at.Leave()
	err = pipeline.RunPartition(ctx, r.Env.Broker, logger, r.Env.Topics.Events, o.Partition, r.Env.DrainTimeout, p)
	if err != nil && ctx.Err() != nil { // the output is valid, only incomplete
		r.Env.Meter.LeftUndone(logger, meter.StageFeaturize, o.Partition, err)
		return nil
	}
	return err
}

// openWriter opens the writer for the owner of a partition of events.
func (r *Runner) openWriter(
	ctx context.Context,
	logger *zap.Logger,
	partition int,
	hasLive bool,
) (pipeline.Producer, error) {
	targets := []pipeline.Target{
		{Topic: r.Env.Topics.Features, Partition: partition},
		{Topic: r.Env.Topics.DeadLetters, Partition: partition},
	}
	if hasLive {
		targets = append(targets, pipeline.Target{Topic: r.Env.Topics.Live, Partition: partition})
	}
	return pipeline.OpenWriter(ctx, r.Env.Broker, logger,
		&pipeline.WriterID{Group: r.Env.Group, Topic: r.Env.Topics.Events, Partition: partition}, targets...)
}
