package state

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// ErrNothingToRollBackTo says that there is no model before the one in use.
var ErrNothingToRollBackTo = errors.New("there is no model to go back to")

// PublishModel writes the record of a model, without putting it in use. An encoding error is permanent.
func (f *Follower) PublishModel(ctx context.Context, model *wire.Model) error {
	value, err := wire.EncodeModel(model)
	if err != nil {
		return pipeline.Permanent(err)
	}
	_, err = f.write(ctx, TopicModels, "publish model "+model.ID,
		pipeline.Record{Key: wire.SetKey(f.config.Pipeline, model.ID), Value: value, Time: model.TrainedAt})
	return err
}

// PointModel puts a model in use that was chosen by what known says. If another pointer was written since then, by a
// rollback or another trainer, the choice was made without it: PointModel puts that one back, and stays is false.
func (f *Follower) PointModel(ctx context.Context, known Models, pointer wire.Current) (stays bool, err error) {
	for stays = true; ; stays = false {
		offset, err := f.writePointer(ctx, &pointer)
		if err != nil {
			return false, err
		}
		now := f.Snapshot().Models
		other := now.between(known.next, offset, pointer)
		if other == nil {
			return stays, nil
		}
		f.logger.Warn("a pointer to another model was written meanwhile, it is put back",
			zap.String("model", pointer.ID), zap.String("other", other.ID))
		pointer, known = *other, now
	}
}

// RepairModel writes the pointer again after an older one, which compaction would keep.
func (f *Follower) RepairModel(ctx context.Context, known Models) error {
	if !known.Shadowed {
		return nil
	}
	f.logger.Warn("the pointer to the model in use was overwritten by an older one or by something else; writing it again", zap.String("model", known.Current.ID))
	_, err := f.PointModel(ctx, known, *known.Current)
	return err
}

// Rollback asks for an earlier model to be put in use again.
type Rollback struct {
	To     string // id; empty = the model that was in use before the current one
	Pin    wire.Pin
	Reason string
	Time   time.Time
}

// Rollback puts an earlier model in use and pins it. It wins over a pointer written meanwhile.
func (f *Follower) Rollback(ctx context.Context, ask Rollback) (*wire.Current, error) {
	models := f.Snapshot().Models
	entry, err := models.RollbackTarget(ask.To)
	if err != nil {
		return nil, err
	}
	pointer := wire.Current{ID: entry.ID, Sequence: entry.Model.Sequence, Time: ask.Time, Pin: ask.Pin, Replaced: models.Current.ID, Reason: ask.Reason}
	return &pointer, f.insist(ctx, &pointer)
}

// RollbackTarget returns the model with an id or, without one, the model that was in use before the current one.
func (m Models) RollbackTarget(id string) (ModelEntry, error) {
	if m.Current == nil {
		return ModelEntry{}, fmt.Errorf("%w: pipeline %s has no model yet", ErrNothingToRollBackTo, m.config.Pipeline)
	}
	if id == "" {
		// Not the one that a rollback replaced: rolling back again goes further back.
		current, ok := m.CurrentEntry()
		if !ok || current.Model == nil || current.Model.Judgement == nil || current.Model.Judgement.Incumbent == "" {
			return ModelEntry{}, fmt.Errorf("%w: model %s is the first one, as far as its record says; name another with --to", ErrNothingToRollBackTo, m.Current.ID)
		}
		id = current.Model.Judgement.Incumbent
	}
	entry, err := m.Find(id)
	if err == nil && entry.Model == nil {
		err = fmt.Errorf("model %s is not understood by this build", entry.ID)
	}
	return entry, err
}

// Unpin removes the pin from the model in use, which stays. was is the pin that it had.
func (f *Follower) Unpin(ctx context.Context, reason string, at time.Time) (pointer *wire.Current, was wire.Pin, err error) {
	current := f.Snapshot().Models.Current
	if current == nil {
		return nil, "", fmt.Errorf("pipeline %s has no model yet", f.config.Pipeline)
	}
	if current.Pin == "" {
		return current, "", nil
	}
	free := *current
	free.Pin, free.Reason, free.Time = "", reason, at
	return &free, current.Pin, f.insist(ctx, &free)
}

// insist writes a pointer until it is the newest.
func (f *Follower) insist(ctx context.Context, pointer *wire.Current) error {
	for {
		if _, err := f.writePointer(ctx, pointer); err != nil {
			return err
		}
		if now := f.Snapshot().Models.Current; now.ID == pointer.ID && now.Pin == pointer.Pin {
			return nil
		}
	}
}

// writePointer appends a pointer. Its sequence number is not below that of the one before, so that no reader ignores
// it.
func (f *Follower) writePointer(ctx context.Context, pointer *wire.Current) (offset int64, err error) {
	if now := f.Snapshot().Models.Current; now != nil {
		pointer.Sequence = max(pointer.Sequence, now.Sequence)
	}
	value, err := wire.EncodeCurrent(pointer)
	if err != nil {
		return 0, pipeline.Permanent(err)
	}
	return f.write(ctx, TopicModels, "make model "+pointer.ID+" current",
		pipeline.Record{Key: wire.CurrentKey(f.config.Pipeline), Value: value, Time: pointer.Time})
}
