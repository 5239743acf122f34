package featurize

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/training"
)

// modelInUse is the current model for predictions. It is immutable.
type modelInUse struct {
	id      string
	model   *wire.Model // nil = none
	missing string      // the reason if model is nil
}

// modelLoader holds the current model with its weights. It is safe for concurrent use, and nil
// without predictions.
type modelLoader struct {
	required  bool    // predictions are published; otherwise they only give live errors
	threshold float64 // of published predictions
	follower  *state.Follower
	logger    *zap.Logger
	model     atomic.Pointer[modelInUse]
	ready     chan struct{} // closed once the models topic was read to the end that it had
}

func newModelLoader(follower *state.Follower, logger *zap.Logger, required bool, threshold float64) *modelLoader {
	return &modelLoader{
		required:  required,
		threshold: threshold,
		follower:  follower,
		logger:    logger,
		ready:     make(chan struct{}),
	}
}

// wait waits until the current model is known, or until ctx ends.
func (l *modelLoader) wait(ctx context.Context) {
	if l == nil {
		return
	}
	select {
	case <-l.ready:
	case <-ctx.Done():
	}
}

// inUse returns the current model. Call wait first.
func (l *modelLoader) inUse() *modelInUse { return l.model.Load() }

// run loads models until ctx ends. If only live errors need them, a failure is not an error.
func (l *modelLoader) run(ctx context.Context) error {
	err := l.follow(ctx)
	if err == nil || l.required {
		return err
	}
	l.logger.Warn("models cannot be read; no live errors", zap.Error(err))
	if l.model.Swap(&modelInUse{missing: missingUnreadable}) == nil {
		close(l.ready)
	}
	return nil
}

// follow loads the current model whenever the pointer changes, or an unreadable model may have
// become readable.
func (l *modelLoader) follow(ctx context.Context) error {
	seen := state.Models{}
	for {
		now, err := l.follower.WaitModels(ctx, func(s state.Snapshot) bool {
			return l.model.Load() == nil || s.Models.Current != seen.Current || s.Models.Next() != seen.Next()
		})
		if err == nil {
			seen, err = now.Models, l.resolve(ctx, now.Models)
		}
		if err != nil {
			return pipeline.EndOf(ctx, fmt.Errorf("featurize.predictions: %w", err))
		}
	}
}

// resolve loads the current model unless it is already loaded.
func (l *modelLoader) resolve(ctx context.Context, models state.Models) error {
	before := l.model.Load()
	next := &modelInUse{missing: missingModel}
	if models.Current != nil {
		next.id, next.missing = models.Current.ID, missingUnreadable
	}
	if before != nil && before.id == next.id && (before.model != nil || before.missing == missingModel) {
		return nil
	}
	if next.id != "" {
		model, err := l.load(ctx, models)
		switch {
		case err == nil:
			next.model, next.missing = model, ""
		case ctx.Err() != nil || errors.Is(err, pipeline.ErrDenied):
			return err
		case before == nil || before.id != next.id:
			l.logger.Error("current model cannot be used; rows have no predictions",
				zap.String("model", next.id), zap.Error(err))
		}
	}
	l.model.Store(next)
	if before == nil {
		close(l.ready)
	}
	return nil
}

func (l *modelLoader) load(ctx context.Context, models state.Models) (*wire.Model, error) {
	entry, err := models.Find(models.Current.ID)
	if err != nil {
		return nil, err
	}
	model, err := l.follower.LoadModel(ctx, entry)
	if err == nil {
		err = l.check(model)
	}
	return model, err
}

// check returns an error if the threshold of published predictions cannot decide between the
// classes of a model.
func (l *modelLoader) check(model *wire.Model) error {
	if !l.required {
		return nil
	}
	classes := 2 // those of a model without its label are its set's, which are checked on their own
	if model.Label != nil {
		classes = len(model.Label.Classes)
	}
	if err := training.CheckThreshold(l.threshold, classes, model.Model.Loss); err != nil {
		return fmt.Errorf("predict.%w", err)
	}
	return nil
}
