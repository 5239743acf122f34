package stages

import (
	"context"
	"errors"
	"fmt"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// ErrNothingToRollBackTo says that there is no model before the one in use.
var ErrNothingToRollBackTo = errors.New("there is no model to go back to")

// Rollback asks for an earlier model to be put in use again.
type Rollback struct {
	To     string // id; empty = the model that the one in use took the place of
	Pin    wire.Pin
	Reason string
}

// Rollback makes an earlier model current, pinned. A pointer that somebody writes meanwhile gives way to it.
func (m *Models) Rollback(ctx context.Context, ask Rollback) (*wire.Current, error) {
	if err := m.Refresh(ctx); err != nil {
		return nil, err
	}
	if m.current == nil {
		return nil, fmt.Errorf("%w: pipeline %s has none yet", ErrNothingToRollBackTo, m.pipeline)
	}
	entry, err := m.RollbackTarget(ask.To)
	if err != nil {
		return nil, err
	}
	pointer := wire.Current{ID: entry.ID, Sequence: entry.Model.Sequence, Time: m.clock(), Pin: ask.Pin, Replaced: m.current.ID, Reason: ask.Reason}
	return &pointer, m.insist(ctx, &pointer)
}

// RollbackTarget is the model of an id or, without one, the model that the one in use took the place of.
func (m *Models) RollbackTarget(id string) (ModelEntry, error) {
	var err error
	if id == "" {
		if id, err = m.before(); err != nil {
			return ModelEntry{}, err
		}
	}
	entry, err := m.Find(id)
	switch {
	case err != nil:
		return ModelEntry{}, err
	case entry.Model == nil:
		return ModelEntry{}, fmt.Errorf("model %s is not understood by this build", entry.ID)
	}
	return entry, nil
}

// before is the id of the model that the one in use took the place of when it was promoted. Whatever a rollback took the
// place of is not it: rolling back again goes further back.
func (m *Models) before() (string, error) {
	entry, ok := m.CurrentEntry()
	if !ok || entry.Model == nil || entry.Model.Judgement == nil || entry.Model.Judgement.Incumbent == "" {
		return "", fmt.Errorf("%w: model %s is the first one, as far as its record tells; name another with --to", ErrNothingToRollBackTo, m.current.ID)
	}
	return entry.Model.Judgement.Incumbent, nil
}

// Unpin takes the pin off the model in use, which stays; was is the pin that it had.
func (m *Models) Unpin(ctx context.Context, reason string) (pointer *wire.Current, was wire.Pin, err error) {
	if err := m.Refresh(ctx); err != nil {
		return nil, "", err
	}
	if m.current == nil {
		return nil, "", fmt.Errorf("pipeline %s has no model yet", m.pipeline)
	}
	if m.current.Pin == "" {
		return m.current, "", nil
	}
	free := *m.current
	was, free.Pin, free.Reason, free.Time = free.Pin, "", reason, m.clock()
	return &free, was, m.insist(ctx, &free)
}

// insist writes a pointer until it is the last one.
func (m *Models) insist(ctx context.Context, pointer *wire.Current) error {
	for {
		if _, err := m.writePointer(ctx, pointer); err != nil {
			return err
		}
		if err := m.Refresh(ctx); err != nil {
			return err
		}
		if m.current.ID == pointer.ID && m.current.Pin == pointer.Pin {
			return nil
		}
	}
}
