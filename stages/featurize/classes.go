package featurize

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// classWatch counts the rows of classes unknown to the current set, over all partitions of the
// process and since the plan of the newest exploration. It requests another exploration when a
// class has enough rows. Featurizers use one key per class, and skip classes that the exploration
// has or declined, so the topic shows existing requests, also after a restart. It is safe for
// concurrent use.
type classWatch struct {
	state  *state.Follower
	meter  *meter.Meter
	logger *zap.Logger
	clock  func() time.Time
	enough int64         // rows of a class for a request; 0 = no requests
	wake   chan struct{} // holds one token when a class may have enough rows

	mu       sync.Mutex
	sequence int64 // of the newest exploration, whose plan began the counting
	classes  encoder.ClassTally
	failed   bool // a request failed since then
}

func newClassWatch(r *Runner) *classWatch {
	return &classWatch{
		state:  r.Env.State,
		meter:  r.Env.Meter,
		logger: r.Env.Logger,
		clock:  r.Env.Clock,
		enough: r.ClassMinRows,
		wake:   make(chan struct{}, 1),
	}
}

// saw counts rows with an acknowledged output.
func (w *classWatch) saw(classes []encoder.ClassRows) {
	if len(classes) == 0 {
		return
	}
	w.meter.AddUnseenClasses(classes)
	if w.enough == 0 {
		return
	}
	sequence := w.state.Snapshot().Sequence()
	w.mu.Lock()
	defer w.mu.Unlock()
	if sequence != w.sequence {
		w.classes.Clear()
		w.sequence, w.failed = sequence, false
	}
	reached := false
	for _, c := range classes {
		w.classes.Add(c.Class, c.Rows)
		reached = reached || w.classes.Rows(c.Class) >= w.enough
	}
	if reached && !w.failed {
		select {
		case w.wake <- struct{}{}:
		default: // already awake
		}
	}
}

// run requests explorations until ctx ends.
func (w *classWatch) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.wake:
		}
		for _, request := range w.wanted() {
			if err := w.send(ctx, request); err != nil {
				return nil // ctx has ended
			}
		}
	}
}

// wanted returns the requests to send.
func (w *classWatch) wanted() (requests []wire.Request) {
	now := w.state.Snapshot()
	if now.Spec == nil { // the planner is about to plan
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed || w.sequence != now.Sequence() {
		return nil
	}
	for _, c := range w.classes.List() {
		id := wire.ClassRequestID(now.Spec.Sequence, c.Class)
		if c.Rows < w.enough || now.Spec.KnowsClass(c.Class) || now.HasRequest(id) {
			continue
		}
		requests = append(requests, wire.Request{
			Action: wire.ActionStart, ID: id, Class: c.Class,
			Reason: fmt.Sprintf("class %q, unknown to the last plan, had %d rows since then", c.Class, c.Rows),
		})
	}
	return requests
}

// send sends a request. Featurizing continues if the topic refuses it; the only error is that of
// ctx.
func (w *classWatch) send(ctx context.Context, request wire.Request) error {
	request.Time = w.clock()
	err := w.state.SendRequest(ctx, request)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		w.logger.Error("exploration request failed; check write access to the explorations topic",
			zap.String("class", request.Class), zap.Error(err))
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failed = true
	default:
		w.logger.Warn("requested an exploration", zap.String("class", request.Class), zap.String("reason", request.Reason))
		w.meter.AskedForClass()
	}
	return nil
}
