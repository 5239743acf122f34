package demo

import (
	"context"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// watchTick is the interval at which a demo reads the counters, because the stages run on without
// an end.
const watchTick = 20 * time.Millisecond

// stream runs the stages until every event is featurized and a model is trained.
func (r *run) stream(ctx context.Context) (*wire.FeatureSet, *wire.Model, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	running, monitored := make(chan error, 1), make(chan struct{})
	go func() {
		r.runtime.Env.FailFast = true
		running <- r.runtime.Run(ctx, meter.StageCalibrate, meter.StageSubsample, meter.StageSelection, meter.StageFeaturize)
		stop()
	}()
	go func() {
		defer close(monitored)
		r.monitor(ctx)
	}()
	set, model, err := r.follow(ctx)
	stop()
	<-monitored
	if failed := <-running; failed != nil {
		return nil, nil, failed
	}
	if err != nil {
		return nil, nil, err
	}
	r.describe(set, model)
	return set, model, nil
}

// monitor reports progress until ctx ends.
func (r *run) monitor(ctx context.Context) {
	tick := time.NewTicker(watchTick)
	defer tick.Stop()
	for ctx.Err() == nil {
		now, totals := r.runtime.Env.State.Snapshot(), r.runtime.Env.Meter.Totals()
		choosing := r.runtime.Env.Meter.Activity().Choosing
		switch {
		case now.Spec == nil:
			r.progress("calibrating", 0, 0)
		case now.CurrentSet() == nil && choosing.Round > 0:
			r.progress(cli.Choosing(choosing.Round, choosing.Rounds, choosing.Point), 0, 0)
		case now.CurrentSet() == nil:
			r.progress("scoring candidates", totals.Scoring.Rows, r.sent.rows)
		case totals.Featurize.Messages < r.sent.messages:
			r.progress("featurizing", totals.Featurize.Rows, r.sent.rows)
		default:
			r.progress("training", 0, 0)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// follow watches the stages from outside, as an operator would, and trains when all events are
// featurized.
func (r *run) follow(ctx context.Context) (*wire.FeatureSet, *wire.Model, error) {
	began := time.Now()
	if _, err := r.runtime.Env.State.Wait(ctx, func(s state.Snapshot) bool { return s.Spec != nil }); err != nil {
		return nil, nil, err
	}
	r.phase(meter.StageCalibrate, &began)
	now, err := r.runtime.Env.State.Wait(ctx, func(s state.Snapshot) bool { return s.CurrentSet() != nil })
	if err != nil {
		return nil, nil, err
	}
	r.phase(meter.StageSubsample, &began)
	r.result.Seconds[meter.StageSelection] = r.runtime.Env.Meter.Totals().Seconds[meter.StageSelection]
	if err := r.awaitFeatures(ctx, watchTick); err != nil {
		return nil, nil, err
	}
	r.phase(meter.StageFeaturize, &began)
	if err := r.runtime.Env.State.Ask(); err != nil { // the running stages need no models
		return nil, nil, err
	}
	model, err := r.runtime.Trainer().Fit(ctx)
	if err != nil {
		return nil, nil, err
	}
	r.phase(meter.StageTrain, &began)
	return now.CurrentSet().Set, model.Model, nil
}

// awaitFeatures returns when every produced message is featurized; it checks at the given interval.
func (r *run) awaitFeatures(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for r.runtime.Env.Meter.Totals().Featurize.Messages < r.sent.messages {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// phase records the time since began under a name and starts the next phase.
func (r *run) phase(name meter.Stage, began *time.Time) {
	r.result.Seconds[name] = time.Since(*began).Seconds()
	*began = time.Now()
}
