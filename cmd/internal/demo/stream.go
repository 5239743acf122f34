package demo

import (
	"context"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages"
)

// watchTick is how often a demo looks at the counters: the stages have no notion of an end.
const watchTick = 20 * time.Millisecond

// stream runs the stages until every event is featurized and a model is made.
func (r *run) stream(ctx context.Context) (*wire.FeatureSet, *wire.Model, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	running, monitored := make(chan error, 1), make(chan struct{})
	go func() {
		running <- stages.Run(ctx, r.runtime,
			[]string{stages.StageCalibrate, stages.StageSubsample, stages.StageSelect, stages.StageFeaturize}, true)
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
		state, totals := r.runtime.Watch.State(), r.runtime.Counters.Totals()
		switch {
		case state.Spec == nil:
			r.progress("calibrating", 0, 0)
		case state.CurrentSet() == nil:
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

// follow watches the stages from outside, as an operator would, and trains once all is featurized.
func (r *run) follow(ctx context.Context) (*wire.FeatureSet, *wire.Model, error) {
	began := time.Now()
	if _, err := r.runtime.Watch.Wait(ctx, func(s stages.State) bool { return s.Spec != nil }); err != nil {
		return nil, nil, err
	}
	r.phase(stages.StageCalibrate, &began)
	state, err := r.runtime.Watch.Wait(ctx, func(s stages.State) bool { return s.CurrentSet() != nil })
	if err != nil {
		return nil, nil, err
	}
	r.phase(stages.StageSubsample, &began)
	r.result.Seconds[stages.StageSelect] = r.runtime.Counters.Totals().Seconds[stages.StageSelect]
	if err := r.awaitFeatures(ctx); err != nil {
		return nil, nil, err
	}
	r.phase(stages.StageFeaturize, &began)
	model, err := stages.NewTrainRunner(r.runtime).Fit(ctx)
	if err != nil {
		return nil, nil, err
	}
	r.phase(stages.StageTrain, &began)
	return state.CurrentSet().Set, model.Model, nil
}

// awaitFeatures returns when every message produced is featurized.
func (r *run) awaitFeatures(ctx context.Context) error {
	tick := time.NewTicker(watchTick)
	defer tick.Stop()
	for r.runtime.Counters.Totals().Featurize.Messages < r.sent.messages {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// phase books the time since began under a name and starts the next phase.
func (r *run) phase(name string, began *time.Time) {
	r.result.Seconds[name] = time.Since(*began).Seconds()
	*began = time.Now()
}
