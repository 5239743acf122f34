package stages

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// modelInUse is the model that predictions are made with. It is immutable.
type modelInUse struct {
	id      string
	model   *wire.Model // nil = none
	missing string      // why there is none
}

// modelWatch follows the models topic and holds the model in use.
type modelWatch struct {
	models *Models // of the goroutine that follows
	logger *zap.Logger
	state  atomic.Pointer[modelInUse]
	ready  chan struct{} // closed once the topic was read to the end that it had
}

func newModelWatch(r *Runtime) *modelWatch {
	return &modelWatch{models: NewModels(r), logger: r.Logger.With(zap.String("stage", StageFeaturize)), ready: make(chan struct{})}
}

// inUse is the model in use; wait for ready first.
func (w *modelWatch) inUse() *modelInUse { return w.state.Load() }

// run follows the topic until ctx ends.
func (w *modelWatch) run(ctx context.Context) error {
	err := w.models.Refresh(ctx)
	if err == nil {
		err = w.resolve(ctx)
	}
	if err != nil {
		return endOf(ctx, fmt.Errorf("featurize.predictions: %w", err))
	}
	close(w.ready)
	if err := w.follow(ctx); err != nil {
		return endOf(ctx, fmt.Errorf("featurize.predictions: %w", err))
	}
	return nil
}

// follow takes what comes.
func (w *modelWatch) follow(ctx context.Context) error {
	m := w.models
	r := pipeline.NewReader(m.log, w.logger, m.topics.Models, 0, pipeline.ReadOptions{From: m.next, Until: pipeline.Forever})
	for fetched, err := range r.Fetches(ctx) {
		if err != nil {
			return err
		}
		for _, rec := range fetched.Records {
			m.take(rec)
		}
		m.pointers = m.pointers[:0]
		m.next = fetched.NextOffset
		if err := w.resolve(ctx); err != nil {
			return err
		}
	}
	return nil
}

// resolve loads the model that the pointer names, if it is another one than before.
func (w *modelWatch) resolve(ctx context.Context) error {
	current, before := w.models.current, w.state.Load()
	switch {
	case current == nil:
		w.state.Store(&modelInUse{missing: missingModel})
		return nil
	case before != nil && before.id == current.ID && before.model != nil:
		return nil
	}
	next := &modelInUse{id: current.ID, missing: missingUnreadable}
	model, err := w.load(ctx, current.ID)
	switch {
	case err == nil:
		next.model, next.missing = model, ""
	case ctx.Err() != nil || pipeline.IsPermanent(err):
		return err
	case before == nil || before.id != current.ID:
		w.logger.Error("the model in use cannot be read, rows have no predictions", zap.String("model", current.ID), zap.Error(err))
	}
	w.state.Store(next)
	return nil
}

func (w *modelWatch) load(ctx context.Context, id string) (*wire.Model, error) {
	entry, err := w.models.Find(id)
	if err != nil {
		return nil, err
	}
	return w.models.Load(ctx, entry)
}

// chooseModel has the predictions of the next message made with the model in use.
func (p *featurizePartition) chooseModel() {
	if p.models == nil {
		return
	}
	now := p.models.inUse()
	if now == p.model {
		return
	}
	p.model = now
	p.core.UseModel(now.model, now.missing)
	p.logger.Info("model of predictions", zap.String("model", now.id), zap.String("missing", p.core.predictor.columns.Missing),
		zap.Int64("from_offset", p.next))
}
