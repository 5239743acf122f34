package featurize

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
)

// Runner is the stage: it maps the partitions of events that this process owns to the same partitions of features.
type Runner struct {
	Broker pipeline.Broker
	State  *state.Follower // with predictions it follows the models too
	Meter  *meter.Meter
	Logger *zap.Logger
	Clock  func() time.Time // called from several goroutines
	Tracer trace.Tracer     // nil = none
	Group  string           // consumer group
	Topics topics.Config
	Config Config
	Source events.Source // says how events are read
	// DrainTimeout bounds the work that is finished after a shutdown has begun.
	DrainTimeout time.Duration
}

// Run owns partitions until ctx ends. With predictions it loads the models meanwhile.
func (r *Runner) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	var models *modelLoader
	if r.Config.Predictions {
		models = newModelLoader(r.State, r.Logger)
		group.Go(func() error { return models.run(ctx) })
	}
	group.Go(func() error {
		return r.Broker.Own(ctx, r.Group, r.Topics.Events, func(ctx context.Context, o pipeline.Ownership) error {
			return r.own(ctx, o, models)
		})
	})
	return group.Wait()
}

// own maps a partition from where its output ends until ctx ends.
func (r *Runner) own(ctx context.Context, o pipeline.Ownership, models *modelLoader) error {
	logger := r.Logger.With(zap.Int("partition", o.Partition))
	if err := topics.WaitCoPartitioned(ctx, r.Broker, logger, o.Partition, r.Topics.Features, r.Topics.DeadLetters); err != nil {
		return pipeline.EndOf(ctx, err)
	}
	if _, err := r.State.Wait(ctx, func(s state.Snapshot) bool { return s.CurrentSet() != nil }); err != nil {
		return pipeline.EndOf(ctx, err)
	}
	if models.wait(ctx); ctx.Err() != nil {
		return nil
	}
	p := newPartition(r, o, models, logger)
	if err := p.resume(ctx); err != nil {
		return pipeline.EndOf(ctx, err)
	}
	failpoint.Hit(failpoint.ResumeAfter)
	logger.Info("featurizing", zap.Int64("next_offset", p.next), zap.Int32("next_row", p.nextRow))
	p.at = r.Meter.Follow(meter.StageFeaturize, r.Topics.Events, o.Partition, p.next)
	defer p.at.Leave()
	err := pipeline.RunPartition(ctx, r.Broker, logger, r.Topics.Events, o.Partition, r.DrainTimeout, p)
	if err != nil && ctx.Err() != nil { // the output is valid, only incomplete
		r.Meter.LeftUndone(logger, meter.StageFeaturize, o.Partition, err)
		return nil
	}
	return err
}
