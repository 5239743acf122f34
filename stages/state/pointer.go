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

// ErrNothingToRollBackTo reports that no model precedes the current one.
var ErrNothingToRollBackTo = errors.New("no earlier model to roll back to")

// PublishModel writes the record of a model without making it current. An encoding error is not
// permanent: other rows may give a model that can be encoded.
func (f *Follower) PublishModel(ctx context.Context, model *wire.Model) error {
	value, err := wire.EncodeModel(model)
	if err != nil {
		return err
	}
	_, err = f.write(ctx, TopicModels, "publish model "+model.ID,
		pipeline.Record{Key: wire.SetKey(f.config.Pipeline, model.ID), Value: value, Time: model.TrainedAt})
	return err
}

// PointModel makes a model current that was chosen with the knowledge of known. If a rollback or
// another trainer wrote a pointer since then, the choice did not consider it: PointModel restores
// that pointer, and stays is false.
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
		f.logger.Warn("lost a race for the model pointer; restoring the other one",
			zap.String("model", pointer.ID), zap.String("other", other.ID))
		pointer, known = *other, now
	}
}

// Rollback describes a return to an earlier model.
type Rollback struct {
	To     string // id; empty = the model before the current one
	Pin    wire.Pin
	Reason string
	Time   time.Time
}

// Rollback makes an earlier model current and pins it. It wins over concurrently written pointers.
func (f *Follower) Rollback(ctx context.Context, ask Rollback) (*wire.Current, error) {
	models := f.Snapshot().Models
	entry, err := models.RollbackTarget(ask.To)
	if err != nil {
		return nil, err
	}
	pointer := wire.Current{
		ID:       entry.ID,
		Sequence: entry.Model.Sequence,
		Time:     ask.Time,
		Pin:      ask.Pin,
		Replaced: models.Current.ID,
		Reason:   ask.Reason,
	}
	return &pointer, f.insist(ctx, &pointer)
}

// RollbackTarget returns the model with an id or, without an id, the model before the current one.
func (m Models) RollbackTarget(id string) (ModelEntry, error) {
	if m.Current == nil {
		return ModelEntry{}, fmt.Errorf("%w: pipeline %s has no model yet", ErrNothingToRollBackTo, m.config.Pipeline)
	}
	if id == "" {
		// The incumbent of the current model, not the model that a rollback replaced: a second
		// rollback goes further back.
		current, ok := m.CurrentEntry()
		if !ok || current.Model == nil || current.Model.Judgement == nil || current.Model.Judgement.Incumbent == "" {
			return ModelEntry{}, fmt.Errorf("%w: the record of model %s names no earlier one; name a model with --to",
				ErrNothingToRollBackTo, m.Current.ID)
		}
		id = current.Model.Judgement.Incumbent
	}
	entry, err := m.Find(id)
	if err == nil && entry.Model == nil {
		err = fmt.Errorf("this build cannot decode model %s", entry.ID)
	}
	return entry, err
}

// Unpin removes the pin from the current model and returns it as was. The model stays current.
func (f *Follower) Unpin(
	ctx context.Context,
	reason string,
	at time.Time,
) (pointer *wire.Current, was wire.Pin, err error) {
	current := f.Snapshot().Models.Current
	if current == nil {
		return nil, "", fmt.Errorf("pipeline %s has no model yet", f.config.Pipeline)
	}
	if current.Pin == "" {
		return current, "", nil
	}
	free := *current
	free.Pin = ""
	free.Reason = reason
	free.Time = at
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

// writePointer appends a pointer. It raises the sequence number to the previous pointer's, because
// readers ignore lower ones.
func (f *Follower) writePointer(ctx context.Context, pointer *wire.Current) (offset int64, err error) {
	if now := f.Snapshot().Models.Current; now != nil {
		if wire.CompareSequences(pointer.Sequence, now.Sequence) < 0 {
			pointer.Sequence = now.Sequence
		}
	}
	value, err := wire.EncodeCurrent(pointer)
	if err != nil {
		return 0, pipeline.Permanent(err)
	}
	return f.write(ctx, TopicModels, "make model "+pointer.ID+" current",
		pipeline.Record{Key: wire.CurrentKey(f.config.Pipeline), Value: value, Time: pointer.Time})
}
